/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts the records of one source in the order of their times, as far as a window of bounded memory
 * reaches.
 *
 * Archives may hold records in any order, and kymo's own are some milliseconds out of order here
 * and there; in a damaged one, records can be anywhere. A record is kept as a copy that stands for
 * itself (edit-kept.h), and leaves when the window is full of later ones. At equal times
 * the order of the source is kept. One that comes later than the window reaches leaves at once;
 * the consumer sees that its time is before the one before it. Records without a time (objects,
 * blobs) do not wait, but for provider events, which stay behind the record that they came after.
 */
#pragma once

#include "edit/edit-copy.h"
#include "edit/edit-kept.h"

struct edit_sort;

/*
 * WINDOW: bytes that are kept, at most; memory for them is up to twice as much. Returns 0 or
 * -ENOMEM.
 */
int edit_sort_new(struct edit_sort **ret, size_t window);
struct edit_sort *edit_sort_free(struct edit_sort *s);
DEFINE_CLEANUP(struct edit_sort *, edit_sort_free)

/* Keeps a copy of RECORD, one of provider FROM. What it refers to is resolved now. Returns 0,
 * -ENOMEM or -EMSGSIZE. */
int edit_sort_put(struct edit_sort *s, const struct fxt_provider *from,
		  const struct fxt_record *record);

/* The same for a record that is to be taken out as one of TS_NS; its time stays what it is. */
int edit_sort_put_at(struct edit_sort *s, const struct fxt_provider *from,
		     const struct fxt_record *record, uint64_t ts_ns);

/* A record that is taken out. Borrowed until the next call. */
struct edit_sorted {
	const struct fxt_record *record; /* its times in ns; as edit_viewer_look() makes it */
	const struct fxt_provider
		*from;          /* as the one that it was put in with was called then; lives
					  * as long as the sorter */
	struct edit_kept *kept; /* what RECORD is a view of */
	bool timed;
};

/*
 * Takes the next record out: as long as the window is full, or with ALL as long as there is one.
 * Returns 1, 0 if there is none, or -EBADMSG (edit_viewer_look()).
 */
int edit_sort_take(struct edit_sort *s, bool all, struct edit_sorted *ret);

/* Whether edit_sort_take() would give one; *RET_NS is its time, 0 if it has none. */
bool edit_sort_peek(const struct edit_sort *s, bool all, uint64_t *ret_ns);

/* Whether the window is full of records. */
bool edit_sort_is_full(const struct edit_sort *s);

/* What edit_copy_counts() says of the copies. */
const struct edit_counts *edit_sort_counts(const struct edit_sort *s);
