/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-listed.h"

#define NS_PER_S UINT64_C(1000000000)

static uint64_t unwind_listed_key(uint32_t pid)
{
	return (uint64_t)pid + 1;
}

static void *unwind_listed_value(uint64_t number)
{
	return (void *)(uintptr_t)number;
}

/* Begins the second of TS_NS, unless it has begun. */
static void unwind_listed_turn(struct unwind_listed *l, uint64_t ts_ns)
{
	uint64_t second = ts_ns / NS_PER_S;

	if (second <= l->second)
		return;
	l->second = second;
	table_clear(&l->processes);
}

void unwind_listed_deinit(struct unwind_listed *l)
{
	table_deinit(&l->processes);
	table_deinit(&l->due);
}

bool unwind_listed_begin(struct unwind_listed *l, uint32_t pid, uint64_t ts_ns)
{
	unwind_listed_turn(l, ts_ns);
	if (table_get(&l->processes, unwind_listed_key(pid)))
		return false;
	/* If there is no memory, the process is listed again at its next record. */
	(void)!table_set(&l->processes, unwind_listed_key(pid), unwind_listed_value(1));
	return true;
}

void unwind_listed_add(struct unwind_listed *l, uint32_t pid)
{
	uint64_t key = unwind_listed_key(pid);

	/* If there is no memory, the next mapping of the process adds the process. */
	(void)!table_set(&l->due, key, unwind_listed_value(key));
}

uint32_t unwind_listed_next(struct unwind_listed *l, uint64_t now_ns)
{
	const void *value;

	unwind_listed_turn(l, now_ns);
	for (size_t pos = 0; (value = table_next(&l->due, &pos));) {
		uint64_t key = (uintptr_t)value;

		if ((uintptr_t)table_get(&l->processes, key) < UNWIND_LISTS_MAX)
			return (uint32_t)(key - 1);
	}
	return 0;
}

void unwind_listed_done(struct unwind_listed *l, uint32_t pid)
{
	uint64_t key = unwind_listed_key(pid);
	uint64_t n_lists = (uintptr_t)table_get(&l->processes, key);

	table_remove(&l->due, key);
	(void)!table_set(&l->processes, key, unwind_listed_value(n_lists + 1));
}

void unwind_listed_forget(struct unwind_listed *l, uint32_t pid)
{
	table_remove(&l->processes, unwind_listed_key(pid));
}
