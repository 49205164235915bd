/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts the records of one source by time, within a window of bounded memory.
 *
 * Archives can contain records in any order. kymo's own are out of order by some milliseconds, and
 * in a damaged archive, records can be anywhere. A record is kept as a self-contained copy
 * (edit-kept.h), and leaves when the window is full of later records. At equal times, the order of
 * the source is kept. A record that is late by more than the window leaves at once; the consumer
 * sees that its time is before the previous one. Records without a time (objects, blobs) keep their
 * order, and leave as late as possible before the records that follow them in the source, since
 * these can refer to them. Exceptions are provider events, which stay after their preceding record.
 */
#pragma once

#include "edit/edit-copy.h"
#include "edit/edit-kept.h"

struct edit_sort;

/*
 * Creates a sorter. WINDOW is the maximum number of bytes of records; the used memory is up to
 * twice as much. Returns 0 or -ENOMEM.
 */
int edit_sort_new(struct edit_sort **ret, size_t window);
struct edit_sort *edit_sort_free(struct edit_sort *s);
DEFINE_CLEANUP(struct edit_sort *, edit_sort_free)

/*
 * Keeps a copy of RECORD, of provider FROM. The references of RECORD are resolved now. Returns 0,
 * -ENOMEM or -EMSGSIZE.
 */
int edit_sort_put(struct edit_sort *s, const struct fxt_provider *from,
		  const struct fxt_record *record);

/*
 * Keeps a copy of RECORD like edit_sort_put(). RECORD is sorted as if its time were TS_NS, but the
 * copy has the time of RECORD.
 */
int edit_sort_put_at(struct edit_sort *s, const struct fxt_provider *from,
		     const struct fxt_record *record, uint64_t ts_ns);

/* Sets the tag of the records that are put in from now on. Initially, it is 0. */
void edit_sort_tag(struct edit_sort *s, uint8_t tag);

/* The record that is taken out. Borrowed until the next call. */
struct edit_sorted {
	/* The record, as made by edit_viewer_parse(), with times in ns. */
	const struct fxt_record *record;
	const struct fxt_provider
		*from;          /* its provider at that time; lives as long as the sorter */
	struct edit_kept *kept; /* the copy of which RECORD is a view */
	bool timed;
	uint8_t tag;
};

/*
 * Takes the next record out if the window is full or, with ALL, if any record is left. Returns 1; 0
 * if no record leaves; or -EBADMSG (edit_viewer_parse()).
 */
int edit_sort_pop(struct edit_sort *s, bool all, struct edit_sorted *ret);

/*
 * Returns true if edit_sort_pop() would return a record. *RET_NS is its time. For a record without
 * a time, it is the earliest time of the records after it or, if none follows, the latest time so
 * far.
 */
bool edit_sort_peek(const struct edit_sort *s, bool all, uint64_t *ret_ns);

/* Returns the tag of the record that edit_sort_peek() found. */
uint8_t edit_sort_peek_tag(const struct edit_sort *s);

/* Returns the number of bytes of the kept records. */
size_t edit_sort_bytes(const struct edit_sort *s);

/* Returns true if the window is full of records. */
bool edit_sort_is_full(const struct edit_sort *s);

/* Returns the counts of the copies (edit_copy_counts()). */
const struct edit_counts *edit_sort_counts(const struct edit_sort *s);
