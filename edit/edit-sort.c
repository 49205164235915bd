/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A binary heap, smallest (time, number) first.
 */
#include "edit/edit-sort.h"

#include <errno.h>
#include <string.h>

struct item {
	uint64_t ts_ns; /* 0 = goes first */
	uint64_t number;
	bool timed;
	struct edit_kept *kept; /* owned */
};

struct edit_sort {
	struct edit_output scratch;
	struct edit_copy *copy; /* to scratch */
	struct edit_viewer *viewer;
	struct item *heap; /* owned, and what is kept */
	size_t n, room;
	size_t bytes, window;
	uint64_t next_number;
	uint64_t put_ns;         /* time of the last one with a time that was put in */
	struct edit_kept *taken; /* the last one; owned */
	struct fxt_record record;
};

int edit_sort_new(struct edit_sort **ret, size_t window)
{
	static const struct edit_rules apart = { .apart = true };
	_cleanup_(edit_sort_freep) struct edit_sort *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->window = window;
	r = edit_output_init(&s->scratch);
	if (r == 0)
		r = edit_copy_new(&s->copy, &s->scratch, &apart);
	if (r == 0)
		r = edit_viewer_new(&s->viewer);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

struct edit_sort *edit_sort_free(struct edit_sort *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < s->n; i++)
		edit_kept_unref(s->heap[i].kept);
	free(s->heap);
	edit_kept_unref(s->taken);
	edit_viewer_free(s->viewer);
	edit_copy_free(s->copy);
	edit_output_deinit(&s->scratch);
	free(s);
	return NULL;
}

const struct edit_counts *edit_sort_counts(const struct edit_sort *s)
{
	return edit_copy_counts(s->copy);
}

bool edit_has_time(const struct fxt_record *record)
{
	switch (record->type) {
	case FXT_RECORD_EVENT:
	case FXT_RECORD_SCHEDULING:
	case FXT_RECORD_LOG:
	case FXT_RECORD_PROFILER:
		return true;
	case FXT_RECORD_LARGE:
		return record->subtype == FXT_LARGE_BLOB_METADATA;
	default:
		return false;
	}
}

/* ---- the heap ---- */

static bool is_before(const struct item *a, const struct item *b)
{
	return a->ts_ns != b->ts_ns ? a->ts_ns < b->ts_ns : a->number < b->number;
}

static int make_room(struct edit_sort *s)
{
	size_t room = s->room ? 2 * s->room : 1024;
	struct item *heap;

	if (s->n < s->room)
		return 0;
	heap = realloc(s->heap, room * sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	s->heap = heap;
	s->room = room;
	return 0;
}

static void push(struct edit_sort *s, const struct item *item)
{
	size_t i = s->n++;

	for (; i > 0 && is_before(item, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		s->heap[i] = s->heap[(i - 1) / 2];
	s->heap[i] = *item;
}

static struct item pop(struct edit_sort *s)
{
	struct item first = s->heap[0], last = s->heap[--s->n];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= s->n)
			break;
		if (child + 1 < s->n && is_before(&s->heap[child + 1], &s->heap[child]))
			child++;
		if (!is_before(&s->heap[child], &last))
			break;
		s->heap[i] = s->heap[child];
		i = child;
	}
	s->heap[i] = last;
	return first;
}

static size_t size_of(const struct edit_kept *kept)
{
	return sizeof(struct item) + edit_kept_bytes(kept);
}

/* ---- in and out ---- */

int edit_sort_put(struct edit_sort *s, const struct fxt_provider *from,
		  const struct fxt_record *record)
{
	struct item item = { .number = s->next_number++, .timed = edit_has_time(record) };
	uint64_t n_before = edit_copy_counts(s->copy)->records;
	size_t begin;
	int r;

	outbuf_reset(&s->scratch.bytes);
	r = edit_copy_record(s->copy, from, record);
	begin = edit_copy_last(s->copy);
	if (r < 0 || edit_copy_counts(s->copy)->records == n_before)
		return r;
	r = make_room(s);
	if (r < 0)
		return r;
	item.kept = edit_kept_new(edit_copy_from(s->copy),
				  (const uint64_t *)(s->scratch.bytes.data + begin),
				  (s->scratch.bytes.size - begin) / FXT_WORD_BYTES);
	if (!item.kept)
		return -ENOMEM;
	/* Metadata belongs to what stands around it; other records without a time go first. */
	if (item.timed)
		s->put_ns = record->ts_ns;
	if (item.timed || record->type == FXT_RECORD_METADATA)
		item.ts_ns = s->put_ns;
	s->bytes += size_of(item.kept);
	push(s, &item);
	return 0;
}

bool edit_sort_is_full(const struct edit_sort *s)
{
	return s->bytes > s->window;
}

bool edit_sort_peek(const struct edit_sort *s, bool all, uint64_t *ret_ns)
{
	if (s->n == 0 || !(all || s->bytes > s->window || !s->heap[0].timed))
		return false;
	*ret_ns = s->heap[0].ts_ns;
	return true;
}

int edit_sort_take(struct edit_sort *s, bool all, struct edit_sorted *ret)
{
	struct item item;
	uint64_t ts_ns;
	int r;

	if (!edit_sort_peek(s, all, &ts_ns))
		return 0;
	item = pop(s);
	edit_kept_unref(s->taken);
	s->taken = item.kept;
	s->bytes -= size_of(item.kept);
	r = edit_viewer_look(s->viewer, item.kept, &s->record);
	if (r < 0)
		return r;
	*ret = (struct edit_sorted){ &s->record, item.kept->from, item.kept, item.timed };
	return 1;
}
