/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records that arrive in order wait in a queue. Records that are earlier than the last one in the
 * queue wait in a binary heap, smallest (time, number) first.
 *
 * Records without a time wait in a queue of their own, in groups. A group leaves before the
 * earliest of the records that were put in after it.
 */
#include "edit/edit-sort.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"

struct item {
	uint64_t ts_ns; /* undefined for a record without a time */
	uint64_t number;
	bool timed;
	uint8_t tag;
	struct edit_kept *kept; /* owned */
};

/* A queue. Its size is a power of two. */
struct ring {
	struct item *items; /* owned */
	size_t first, n, room;
};

/* The time of a group of records after which no record with a time was put in yet. */
#define NOT_YET UINT64_MAX

struct edit_sort {
	struct edit_output scratch;
	struct edit_copy *copy; /* writes to `scratch` */
	struct edit_viewer *viewer;
	struct ring queue;   /* sorted; owns its records */
	struct ring untimed; /* records without a time; owns them */
	/*
	 * Groups of the records in `untimed`: the time at which a group leaves, and the count of
	 * its records in `number`; sorted by time.
	 */
	struct ring groups;
	struct item *heap; /* array and elements are owned */
	size_t n_heap, heap_room;
	size_t bytes, window;
	uint64_t next_number;
	uint64_t put_ns;           /* time of the last record with a time that was put in */
	uint64_t last_ns;          /* latest time of records that were put in */
	uint8_t tag;               /* tag for records that are put in */
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

/* Item number I of R, counted from its first item. */
static struct item *edit_sort_at(const struct ring *r, size_t i)
{
	return &r->items[(r->first + i) & (r->room - 1)];
}

static void edit_sort_deinit_ring(struct ring *r)
{
	for (size_t i = 0; i < r->n; i++)
		edit_kept_unref(edit_sort_at(r, i)->kept);
	free(r->items);
}

struct edit_sort *edit_sort_free(struct edit_sort *s)
{
	if (!s)
		return NULL;
	edit_sort_deinit_ring(&s->queue);
	edit_sort_deinit_ring(&s->untimed);
	edit_sort_deinit_ring(&s->groups);
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

static int edit_sort_push_ring(struct ring *r, const struct item *item)
{
	size_t room = r->room ? 2 * r->room : 1024;
	struct item *items;

	if (r->n == r->room) {
		items = malloc(room * sizeof(*items));
		if (!items)
			return -ENOMEM;
		for (size_t i = 0; i < r->n; i++)
			items[i] = *edit_sort_at(r, i);
		free(r->items);
		*r = (struct ring){ items, 0, r->n, room };
	}
	r->n++;
	*edit_sort_at(r, r->n - 1) = *item;
	return 0;
}

static struct item edit_sort_pop_ring(struct ring *r)
{
	struct item first = *edit_sort_at(r, 0);

	r->first = (r->first + 1) & (r->room - 1);
	r->n--;
	return first;
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

	if (s->queue.n > 0)
		last = edit_sort_at(&s->queue, s->queue.n - 1);
	return last && edit_sort_is_before(item, last) ? edit_sort_push_heap(s, item)
						       : edit_sort_push_ring(&s->queue, item);
}

/* ---- records without a time ---- */

static struct item *edit_sort_last_group(struct edit_sort *s)
{
	return s->groups.n > 0 ? edit_sort_at(&s->groups, s->groups.n - 1) : NULL;
}

static int edit_sort_push_untimed(struct edit_sort *s, const struct item *item)
{
	struct item *group = edit_sort_last_group(s);
	int r = edit_sort_push_ring(&s->untimed, item);

	if (r < 0)
		return r;
	if (group && group->ts_ns == NOT_YET) {
		group->number++;
		return 0;
	}
	r = edit_sort_push_ring(&s->groups, &(struct item){ .ts_ns = NOT_YET, .number = 1 });
	s->untimed.n -= r < 0;
	return r;
}

/*
 * Called when a record with the time TS_NS was put in. Earlier records without a time must not
 * leave later than this record, so the times of their groups are lowered to TS_NS.
 */
static void edit_sort_lower(struct edit_sort *s, uint64_t ts_ns)
{
	uint64_t n = 0;
	struct item *group;

	while ((group = edit_sort_last_group(s)) && group->ts_ns > ts_ns) {
		n += group->number;
		s->groups.n--;
	}
	/* This cannot fail, since N is the number of a group whose place is free now. */
	if (n > 0)
		edit_sort_push_ring(&s->groups, &(struct item){ .ts_ns = ts_ns, .number = n });
}

static struct item edit_sort_pop_untimed(struct edit_sort *s)
{
	struct item *group = edit_sort_at(&s->groups, 0);

	if (--group->number == 0)
		edit_sort_pop_ring(&s->groups);
	return edit_sort_pop_ring(&s->untimed);
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

/* The next record with a time to be taken out; NULL = no such record. */
static const struct item *edit_sort_next(const struct edit_sort *s)
{
	const struct item *queued = s->queue.n > 0 ? edit_sort_at(&s->queue, 0) : NULL;

	if (s->n_heap > 0 && (!queued || edit_sort_is_before(&s->heap[0], queued)))
		return &s->heap[0];
	return queued;
}

/* Returns true if a record without a time is the next one to take out. */
static bool edit_sort_next_is_untimed(const struct edit_sort *s)
{
	const struct item *timed = edit_sort_next(s);

	return s->untimed.n > 0 && (!timed || edit_sort_at(&s->groups, 0)->ts_ns <= timed->ts_ns);
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
	struct item item = { .number = s->next_number++,
			     .timed = fxt_record_has_time(record),
			     .tag = s->tag };
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
	if (item.timed) {
		s->put_ns = ts_ns;
		if (ts_ns > s->last_ns)
			s->last_ns = ts_ns;
		edit_sort_lower(s, ts_ns);
	}
	/* (metadata stays after its preceding record) */
	item.ts_ns = s->put_ns;
	if (item.timed || record->type == FXT_RECORD_METADATA)
		r = edit_sort_push(s, &item);
	else
		r = edit_sort_push_untimed(s, &item);
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

size_t edit_sort_bytes(const struct edit_sort *s)
{
	return s->bytes;
}

void edit_sort_tag(struct edit_sort *s, uint8_t tag)
{
	s->tag = tag;
}

bool edit_sort_peek(const struct edit_sort *s, bool all, uint64_t *ret_ns)
{
	if (!(all || s->bytes > s->window) || s->queue.n + s->n_heap + s->untimed.n == 0)
		return false;
	if (!edit_sort_next_is_untimed(s))
		*ret_ns = edit_sort_next(s)->ts_ns;
	else if (edit_sort_at(&s->groups, 0)->ts_ns == NOT_YET)
		*ret_ns = s->last_ns;
	else
		*ret_ns = edit_sort_at(&s->groups, 0)->ts_ns;
	return true;
}

uint8_t edit_sort_peek_tag(const struct edit_sort *s)
{
	return edit_sort_next_is_untimed(s) ? edit_sort_at(&s->untimed, 0)->tag
					    : edit_sort_next(s)->tag;
}

int edit_sort_pop(struct edit_sort *s, bool all, struct edit_sorted *ret)
{
	struct item item;
	uint64_t ts_ns;
	int r;

	if (!edit_sort_peek(s, all, &ts_ns))
		return 0;
	if (edit_sort_next_is_untimed(s))
		item = edit_sort_pop_untimed(s);
	else
		item = s->n_heap > 0 && edit_sort_next(s) == s->heap
			       ? edit_sort_pop_heap(s)
			       : edit_sort_pop_ring(&s->queue);
	edit_kept_unref(s->current);
	s->current = item.kept;
	s->bytes -= edit_sort_size_of(item.kept);
	r = edit_viewer_parse(s->viewer, item.kept, &s->record);
	if (r < 0)
		return r;
	*ret = (struct edit_sorted){ &s->record, item.kept->from, item.kept, item.timed, item.tag };
	return 1;
}
