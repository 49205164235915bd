/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records that arrive in order wait in a queue. Records that are earlier than the last one in the
 * queue wait in a binary heap, smallest (time, number) first.
 */
#include "edit/edit-sort.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"

struct item {
	uint64_t ts_ns; /* 0 = the record has no time and goes first */
	uint64_t number;
	bool timed;
	struct edit_kept *kept; /* owned */
};

struct edit_sort {
	struct edit_output scratch;
	struct edit_copy *copy; /* writes to `scratch` */
	struct edit_viewer *viewer;
	/* owned, with its elements; a sorted ring, its size is a power of two */
	struct item *queue;
	size_t first, n_queue, queue_room;
	struct item *heap; /* owned, with its elements */
	size_t n_heap, heap_room;
	size_t bytes, window;
	uint64_t next_number;
	uint64_t put_ns;           /* time of the last record with a time that was put in */
	struct edit_kept *current; /* the last record taken out; owned */
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
	r = edit_output_init(&s->scratch) ?: edit_copy_new(&s->copy, &s->scratch, &apart)
		    ?: edit_viewer_new(&s->viewer);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

struct edit_sort *edit_sort_free(struct edit_sort *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < s->n_queue; i++)
		edit_kept_unref(s->queue[(s->first + i) & (s->queue_room - 1)].kept);
	free(s->queue);
	for (size_t i = 0; i < s->n_heap; i++)
		edit_kept_unref(s->heap[i].kept);
	free(s->heap);
	edit_kept_unref(s->current);
	edit_viewer_free(s->viewer);
	edit_copy_free(s->copy);
	edit_output_deinit(&s->scratch);
	return free_ptr(s);
}

const struct edit_counts *edit_sort_counts(const struct edit_sort *s)
{
	return edit_copy_counts(s->copy);
}

/* ---- queue and heap ---- */

static bool edit_sort_is_before(const struct item *a, const struct item *b)
{
	return a->ts_ns != b->ts_ns ? a->ts_ns < b->ts_ns : a->number < b->number;
}

static int edit_sort_push_queue(struct edit_sort *s, const struct item *item)
{
	size_t room = s->queue_room ? 2 * s->queue_room : 1024;
	struct item *queue;

	if (s->n_queue == s->queue_room) {
		queue = malloc(room * sizeof(*queue));
		if (!queue)
			return -ENOMEM;
		for (size_t i = 0; i < s->n_queue; i++)
			queue[i] = s->queue[(s->first + i) & (s->queue_room - 1)];
		free(s->queue);
		s->queue = queue;
		s->queue_room = room;
		s->first = 0;
	}
	s->queue[(s->first + s->n_queue++) & (s->queue_room - 1)] = *item;
	return 0;
}

static int edit_sort_push_heap(struct edit_sort *s, const struct item *item)
{
	size_t i;

	if (GROW(s->heap, s->heap_room, s->n_heap + 1) < 0)
		return -ENOMEM;
	i = s->n_heap++;
	for (; i > 0 && edit_sort_is_before(item, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		s->heap[i] = s->heap[(i - 1) / 2];
	s->heap[i] = *item;
	return 0;
}

static int edit_sort_push(struct edit_sort *s, const struct item *item)
{
	const struct item *last = NULL;

	if (s->n_queue > 0)
		last = &s->queue[(s->first + s->n_queue - 1) & (s->queue_room - 1)];
	return last && edit_sort_is_before(item, last) ? edit_sort_push_heap(s, item)
						       : edit_sort_push_queue(s, item);
}

static struct item edit_sort_pop_queue(struct edit_sort *s)
{
	struct item first = s->queue[s->first];

	s->first = (s->first + 1) & (s->queue_room - 1);
	s->n_queue--;
	return first;
}

static struct item edit_sort_pop_heap(struct edit_sort *s)
{
	struct item first = s->heap[0], last = s->heap[--s->n_heap];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= s->n_heap)
			break;
		if (child + 1 < s->n_heap &&
		    edit_sort_is_before(&s->heap[child + 1], &s->heap[child]))
			child++;
		if (!edit_sort_is_before(&s->heap[child], &last))
			break;
		s->heap[i] = s->heap[child];
		i = child;
	}
	s->heap[i] = last;
	return first;
}

/* The next record to take out; NULL if there is none. */
static const struct item *edit_sort_next(const struct edit_sort *s)
{
	const struct item *queued = s->n_queue > 0 ? &s->queue[s->first] : NULL;

	if (s->n_heap > 0 && (!queued || edit_sort_is_before(&s->heap[0], queued)))
		return &s->heap[0];
	return queued;
}

static size_t edit_sort_size_of(const struct edit_kept *kept)
{
	return sizeof(struct item) + edit_kept_bytes(kept);
}

/* ---- input and output ---- */

int edit_sort_put(struct edit_sort *s, const struct fxt_provider *from,
		  const struct fxt_record *record)
{
	return edit_sort_put_at(s, from, record, record->ts_ns);
}

int edit_sort_put_at(struct edit_sort *s, const struct fxt_provider *from,
		     const struct fxt_record *record, uint64_t ts_ns)
{
	struct item item = { .number = s->next_number++, .timed = fxt_record_has_time(record) };
	uint64_t n_before = edit_copy_counts(s->copy)->records;
	size_t begin;
	int r;

	outbuf_reset(&s->scratch.bytes);
	r = edit_copy_record(s->copy, from, record);
	begin = edit_copy_last(s->copy);
	if (r < 0 || edit_copy_counts(s->copy)->records == n_before)
		return r;
	item.kept = edit_kept_new(edit_copy_from(s->copy),
				  (const uint64_t *)(s->scratch.bytes.data + begin),
				  (s->scratch.bytes.size - begin) / FXT_WORD_BYTES);
	if (!item.kept)
		return -ENOMEM;
	/* Metadata stays after its preceding record. Other records without a time go first. */
	if (item.timed)
		s->put_ns = ts_ns;
	if (item.timed || record->type == FXT_RECORD_METADATA)
		item.ts_ns = s->put_ns;
	r = edit_sort_push(s, &item);
	if (r < 0) {
		edit_kept_unref(item.kept);
		return r;
	}
	s->bytes += edit_sort_size_of(item.kept);
	return 0;
}

bool edit_sort_is_full(const struct edit_sort *s)
{
	return s->bytes > s->window;
}

bool edit_sort_peek(const struct edit_sort *s, bool all, uint64_t *ret_ns)
{
	const struct item *item = edit_sort_next(s);

	if (!item || !(all || s->bytes > s->window || !item->timed))
		return false;
	*ret_ns = item->ts_ns;
	return true;
}

int edit_sort_pop(struct edit_sort *s, bool all, struct edit_sorted *ret)
{
	struct item item;
	uint64_t ts_ns;
	int r;

	if (!edit_sort_peek(s, all, &ts_ns))
		return 0;
	item = s->n_heap > 0 && edit_sort_next(s) == s->heap ? edit_sort_pop_heap(s)
							     : edit_sort_pop_queue(s);
	edit_kept_unref(s->current);
	s->current = item.kept;
	s->bytes -= edit_sort_size_of(item.kept);
	r = edit_viewer_parse(s->viewer, item.kept, &s->record);
	if (r < 0)
		return r;
	*ret = (struct edit_sorted){ &s->record, item.kept->from, item.kept, item.timed };
	return 1;
}
