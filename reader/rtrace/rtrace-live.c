/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A live resource is one slot of a table. Its value is not a pointer, but the call's number and the
 * number of references, so that millions of resources take no memory besides their slots.
 */
#include "reader/rtrace/rtrace-live.h"

#include <assert.h>

static_assert(sizeof(void *) == 8, "a slot holds a call and a count");
static_assert(RTRACE_LIVE_CALL_BITS + RTRACE_LIVE_COUNT_BITS == 64, "as many as there are");

#define CALL_MASK ((UINT64_C(1) << RTRACE_LIVE_CALL_BITS) - 1)
#define COUNT_MAX ((UINT64_C(1) << RTRACE_LIVE_COUNT_BITS) - 1)

static uint64_t rtrace_live_held(uint64_t call, uint64_t count)
{
	return count << RTRACE_LIVE_CALL_BITS | call;
}

static uint64_t rtrace_live_call_of(uint64_t value)
{
	return value & CALL_MASK;
}

static uint64_t rtrace_live_count_of(uint64_t value)
{
	return value >> RTRACE_LIVE_CALL_BITS;
}

void rtrace_live_deinit(struct rtrace_live *l)
{
	for (size_t i = 0; i <= RTRACE_RESOURCE_MAX; i++)
		table_deinit(&l->tables[i]);
}

/*
 * Returns the entry of ID. A table has no key 0, so keys are ids plus 1. The highest id is stored
 * separately.
 */
static uint64_t rtrace_live_get(const struct rtrace_live *l, int type, uint64_t id)
{
	if (id == UINT64_MAX)
		return l->topmost[type + 1];
	return (uint64_t)(uintptr_t)table_get(&l->tables[type + 1], id + 1);
}

/* Sets the entry of ID to VALUE; 0 removes the entry. */
static int rtrace_live_set(struct rtrace_live *l, int type, uint64_t id, uint64_t value)
{
	if (id == UINT64_MAX) {
		l->topmost[type + 1] = value;
		return 0;
	}
	if (value != 0)
		return table_set(&l->tables[type + 1], id + 1, (void *)(uintptr_t)value);
	table_remove(&l->tables[type + 1], id + 1);
	return 0;
}

int rtrace_live_allocate(struct rtrace_live *l, int type, uint64_t id, uint64_t call, bool counted,
			 uint64_t *ret)
{
	uint64_t old = rtrace_live_get(l, type, id), count = rtrace_live_count_of(old);
	int r;

	assert(call <= CALL_MASK);
	if (old != 0)
		*ret = rtrace_live_call_of(old);
	if (old != 0 && counted) {
		return rtrace_live_set(l, type, id,
				       rtrace_live_held(rtrace_live_call_of(old),
							count < COUNT_MAX ? count + 1 : count))
			       ?: RTRACE_LIVE_SHARED;
	}
	r = rtrace_live_set(l, type, id, rtrace_live_held(call, 1));
	if (r < 0)
		return r;
	return old != 0 ? RTRACE_LIVE_REPLACED : RTRACE_LIVE_NEW;
}

int rtrace_live_free(struct rtrace_live *l, int type, uint64_t id, uint64_t *ret)
{
	uint64_t old = rtrace_live_get(l, type, id), count = rtrace_live_count_of(old);

	if (old == 0)
		return RTRACE_LIVE_UNKNOWN;
	*ret = rtrace_live_call_of(old);
	if (count == 1) {
		rtrace_live_set(l, type, id, 0);
		return RTRACE_LIVE_FREED;
	}
	/* The entry exists, so setting it needs no memory. */
	rtrace_live_set(l, type, id,
			rtrace_live_held(rtrace_live_call_of(old),
					 count < COUNT_MAX ? count - 1 : count));
	return RTRACE_LIVE_UNSHARED;
}
