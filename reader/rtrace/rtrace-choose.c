/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/rtrace/rtrace-choose.h"

#include <errno.h>

#include "base/array.h"
#include "reader/rtrace/rtrace-parse.h"

/* The data of a call that pairing needs. */
struct rtrace_choose_call {
	uint64_t id, index, number;
	int8_t type;
	bool is_free, counted;
};

void rtrace_choose_init(struct rtrace_choose *c, const struct rtrace_select *select, bool leaks,
			bool sorts)
{
	*c = (struct rtrace_choose){ .leaks = leaks, .sorts = sorts };
	rtrace_select_init(&c->select, select);
}

void rtrace_choose_deinit(struct rtrace_choose *c)
{
	rtrace_live_deinit(&c->live);
	free(c->bits);
	free(c->frees);
	free(c->calls);
	c->bits = c->frees = NULL;
	c->calls = NULL;
	c->n_words = c->n_room = 0;
}

/* ---- bits ---- */

static bool rtrace_choose_has_bit(const uint64_t *bits, uint64_t number)
{
	return bits[number / 64] >> (number % 64) & 1;
}

static void rtrace_choose_set_bit(uint64_t *bits, uint64_t number)
{
	bits[number / 64] |= UINT64_C(1) << (number % 64);
}

bool rtrace_choose_keeps(const struct rtrace_choose *c, uint64_t number)
{
	return number < c->counts.calls && rtrace_choose_has_bit(c->bits, number);
}

static void rtrace_choose_keep(struct rtrace_choose *c, uint64_t number)
{
	rtrace_choose_set_bit(c->bits, number);
}

static void rtrace_choose_drop(struct rtrace_choose *c, uint64_t number)
{
	c->bits[number / 64] &= ~(UINT64_C(1) << (number % 64));
}

/* Makes room for the bits of one more call. Returns 0, -ENOMEM, or -EOVERFLOW if there are too many
 * calls. */
static int rtrace_choose_grow_bits(struct rtrace_choose *c)
{
	size_t n = c->n_words, n_frees = c->n_words;
	int r;

	if (c->counts.calls < 64 * (uint64_t)c->n_words)
		return 0;
	if (c->counts.calls >> RTRACE_LIVE_CALL_BITS)
		return -EOVERFLOW;
	r = GROW_ZERO(c->bits, n, n + 1);
	if (r == 0 && c->select.select->range)
		r = GROW_ZERO(c->frees, n_frees, n_frees + 1);
	if (r == 0)
		c->n_words = n;
	return r;
}

/* ---- pairing ---- */

/* Returns true if deallocations must be paired with their allocations. */
static bool rtrace_choose_pairs(const struct rtrace_choose *c)
{
	return c->leaks || c->select.select->has_size || c->select.select->range;
}

static int rtrace_choose_pair_allocation(struct rtrace_choose *c,
					 const struct rtrace_choose_call *call)
{
	uint64_t old;
	int r = rtrace_live_allocate(&c->live, call->type, call->id, call->number, call->counted,
				     &old);

	if (r < 0)
		return r;
	if (r == RTRACE_LIVE_REPLACED)
		c->counts.replaced++;
	/* A shared resource is shown once, by its first call, as long as it has any reference. */
	if (c->leaks && r == RTRACE_LIVE_REPLACED)
		rtrace_choose_drop(c, old);
	if (c->leaks && r == RTRACE_LIVE_SHARED) {
		rtrace_choose_drop(c, call->number);
		c->clamped = false;
	}
	return 0;
}

static void rtrace_choose_pair_deallocation(struct rtrace_choose *c,
					    const struct rtrace_choose_call *call)
{
	uint64_t old;
	int r = rtrace_live_free(&c->live, call->type, call->id, &old);

	if (r == RTRACE_LIVE_UNKNOWN)
		c->counts.unknown++;
	if (c->leaks || r == RTRACE_LIVE_UNKNOWN || !rtrace_choose_keeps(c, old))
		rtrace_choose_drop(c, call->number);
	if (c->leaks && r == RTRACE_LIVE_FREED)
		rtrace_choose_drop(c, old);
}

static int rtrace_choose_pair(struct rtrace_choose *c, const struct rtrace_choose_call *call)
{
	if (!call->is_free)
		return rtrace_choose_pair_allocation(c, call);
	rtrace_choose_pair_deallocation(c, call);
	return 0;
}

static int rtrace_choose_keep_for_later(struct rtrace_choose *c,
					const struct rtrace_choose_call *call)
{
	if (GROW(c->calls, c->n_room, call->number + 1) < 0)
		return -ENOMEM;
	c->calls[call->number] = *call;
	return 0;
}

DEFINE_ORDER(compare_calls, struct rtrace_choose_call,
	     COMPARE(x->index, y->index) ?: COMPARE(x->number, y->number))

/* ---- records ---- */

/* Called at the end of a backtrace. If no frame of it is in the selected range, drops its
 * allocations. */
static void rtrace_choose_close_group(struct rtrace_choose *c)
{
	if (c->select.select->range && !c->in_range)
		for (uint64_t i = c->group; i < c->counts.calls; i++)
			if (!rtrace_choose_has_bit(c->frees, i))
				rtrace_choose_drop(c, i);
	c->group = c->counts.calls;
	c->in_range = false;
}

static int rtrace_choose_on_call(struct rtrace_choose *c, const struct rtrace_record *record,
				 const struct rtrace_reader *reader)
{
	size_t n_types;
	const struct rtrace_type *types = rtrace_reader_types(reader, &n_types);
	const struct rtrace_choose_call call = {
		.id = record->call.id,
		.index = record->call.index,
		.number = c->counts.calls,
		.type = (int8_t)record->resource_number,
		.is_free = record->call.is_free,
		.counted = record->resource_number >= 0 && types[record->resource_number].refcount,
	};
	bool wanted;
	int r;

	if (record->opens)
		rtrace_choose_close_group(c);
	r = rtrace_choose_grow_bits(c);
	if (r < 0)
		return r;
	c->counts.calls++;
	wanted = rtrace_select_call(&c->select, record, types);
	c->clamped = wanted && !call.is_free && record->call.size == RTRACE_INT_MAX;
	if (wanted && (call.is_free || rtrace_select_size(&c->select, record->call.size)))
		rtrace_choose_keep(c, call.number);
	if (call.is_free && c->frees)
		rtrace_choose_set_bit(c->frees, call.number);
	if (!rtrace_choose_pairs(c))
		return RTRACE_CHOOSE_DONE;
	if (c->sorts)
		return rtrace_choose_keep_for_later(c, &call);
	if (call.index < c->last_index)
		return RTRACE_CHOOSE_UNSORTED;
	c->last_index = call.index;
	return rtrace_choose_pair(c, &call);
}

/* Chooses or drops the last call by its real size, which is an argument since it did not fit into
 * the call's field. */
static void rtrace_choose_on_size(struct rtrace_choose *c, const struct rtrace_arg *arg)
{
	uint64_t size;

	if (!c->clamped || !rtrace_text_is(arg->name, RTRACE_ARG_SIZE) ||
	    !rtrace_parse_decimal(arg->value, &size) || size < RTRACE_INT_MAX)
		return;
	if (rtrace_select_size(&c->select, size))
		rtrace_choose_keep(c, c->counts.calls - 1);
	else
		rtrace_choose_drop(c, c->counts.calls - 1);
}

int rtrace_choose_record(struct rtrace_choose *c, const struct rtrace_record *record,
			 const struct rtrace_reader *reader)
{
	switch (record->kind) {
	case RTRACE_CALL:
		return rtrace_choose_on_call(c, record, reader);
	case RTRACE_ARG:
		if (c->select.select->has_size)
			rtrace_choose_on_size(c, &record->arg);
		return 0;
	case RTRACE_FRAME:
		if (c->select.select->range && !c->in_range)
			c->in_range = rtrace_select_address(&c->select, record->frame.address);
		return 0;
	default:
		rtrace_select_learn(&c->select, record);
		return 0;
	}
}

int rtrace_choose_finish(struct rtrace_choose *c)
{
	int r = 0;

	rtrace_choose_close_group(c);
	if (!c->sorts || !c->calls)
		return 0;
	SORT(c->calls, c->counts.calls, compare_calls);
	for (uint64_t i = 0; r == 0 && i < c->counts.calls; i++)
		r = rtrace_choose_pair(c, &c->calls[i]);
	return r;
}
