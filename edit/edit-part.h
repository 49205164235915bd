/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of archives (docs/FXT-MAPPING.md, "Parts"): the events by which a cut divides itself, and
 * their meaning where parts are merged.
 */
#pragma once

#include "edit/edit-copy.h"

/* The records of a part, by their places in the file. */
enum edit_part_class {
	EDIT_PART_STATE, /* at the begin; or before the first event `part` */
	EDIT_PART_RECORDS,
	EDIT_PART_END,
	/* The archive was edited: it is no part, and its own parts fit only one another. */
	EDIT_PART_EDITED,
};

struct edit_part {
	uint64_t id;        /* equal for parts of one archive; 0 = it is no part */
	uint64_t first_ns;  /* 0 = it fits no part before */
	uint64_t behind_ns; /* 0 = the end of the archive, or it fits no part after it */
};

/* The event `part` of PART, for edit_copy_event(). */
struct event edit_part_event(const struct edit_part *part, enum edit_part_class what,
			     uint64_t ts_ns);

/* Writes the event `part` of class EDIT_PART_EDITED. Returns as edit_copy_record(). */
int edit_part_write_edited(struct edit_copy *copy, uint64_t id, uint64_t ts_ns);

/* Whether RECORD, of provider FROM, is an event `part`; then its content. */
bool edit_part_read(const struct fxt_provider *from, const struct fxt_record *record,
		    struct edit_part *ret, enum edit_part_class *ret_what);

/* Whether B continues A. */
bool edit_part_fits(const struct edit_part *a, const struct edit_part *b);
