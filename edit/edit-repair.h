/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a whole archive of what a reader could save from a damaged one.
 *
 * Records are put in the order of their times; what came twice is left out. Where records are
 * missing, an event `damage` (docs/FXT-MAPPING.md) says so, and switches close what no longer runs,
 * and threads whose names were lost with them are called "?". At the end, everything that is open
 * is closed, and a recording that was cut off gets its session_stop. What is left out is counted.
 */
#pragma once

#include "edit/edit-copy.h"

struct edit_repair;

struct edit_repair_counts {
	struct edit_counts copied;
	uint64_t damages; /* places where the reader skipped something */
	uint64_t damaged_bytes;
	uint64_t switches_added;
	uint64_t ends_added;         /* of durations that were open at the end */
	uint64_t scheduling_dropped; /* contradicts the records before it */
	uint64_t doubled;            /* was there already */
	uint64_t ends_dropped;       /* of durations that did not begin */
	uint64_t misplaced;          /* its time cannot be right */
	uint64_t names_lost;         /* of threads that are called "?" now */
	bool stop_added;             /* the recording was cut off */
};

/* Returns 0 or -ENOMEM. OUT is borrowed. */
int edit_repair_new(struct edit_repair **ret, struct edit_output *out);
struct edit_repair *edit_repair_free(struct edit_repair *r);
DEFINE_CLEANUP(struct edit_repair *, edit_repair_free)

/* What the reader says, in its order. Return 0 or a negative errno, as edit_copy_record(). */
int edit_repair_record(struct edit_repair *r, const struct fxt_record *record);
int edit_repair_damage(struct edit_repair *r, const struct fxt_damage *damage);

/* After the last record. */
int edit_repair_finish(struct edit_repair *r);

void edit_repair_get_counts(const struct edit_repair *r, struct edit_repair_counts *ret);
