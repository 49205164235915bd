/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a whole archive from the readable part of a damaged one.
 *
 * Records are sorted by time, and duplicates are left out. Where records are missing, an event
 * `damage` (docs/FXT-MAPPING.md) is written, switches end the slices of threads that no longer run,
 * and threads and files of mappings whose names were lost are called "?". At the end, open items
 * are closed, and each session without a session_stop gets one. Omitted records are counted.
 */
#pragma once

#include "edit/edit-copy.h"

struct edit_repair;

struct edit_repair_counts {
	struct edit_counts copied;
	uint64_t damages; /* places where the reader skipped bytes */
	uint64_t damaged_bytes;
	uint64_t switches_added;
	uint64_t ends_added; /* added ends of durations that were open at the end */
	/* Scheduling records that contradict the records before them. */
	uint64_t scheduling_dropped;
	uint64_t doubled;      /* records that are duplicates */
	uint64_t ends_dropped; /* dropped ends of durations without a begin */
	uint64_t misplaced;    /* records whose time cannot be correct */
	uint64_t names_lost;   /* threads and processes that are now called "?" */
	uint64_t modules_lost; /* files of mappings that are now called "?" */
	uint64_t incomplete;   /* snapshots without all blocks, stacks without frames */
	uint64_t odd_ticks;   /* ticks per second that no clock has, and that were used; 0 = none */
	uint64_t stops_added; /* added stops of recordings that were truncated */
};

/* Creates a repair. OUT is borrowed. Returns 0 or -ENOMEM. */
int edit_repair_new(struct edit_repair **ret, struct edit_output *out);
struct edit_repair *edit_repair_free(struct edit_repair *r);
DEFINE_CLEANUP(struct edit_repair *, edit_repair_free)

/*
 * Process the records and the damage, in the order in which the reader found them. Return 0 or a
 * negative errno, like edit_copy_record().
 */
int edit_repair_record(struct edit_repair *r, const struct fxt_record *record);
int edit_repair_damage(struct edit_repair *r, const struct fxt_damage *damage);

/* Must be called after the last record. Returns like edit_repair_record(). */
int edit_repair_finish(struct edit_repair *r);

void edit_repair_get_counts(const struct edit_repair *r, struct edit_repair_counts *ret);
