/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-listed.h"

#define NS_PER_S UINT64_C(1000000000)

void unwind_listed_deinit(struct unwind_listed *l)
{
	table_deinit(&l->processes);
}

bool unwind_listed_begin(struct unwind_listed *l, uint32_t pid, uint64_t ts_ns)
{
	uint64_t key = (uint64_t)pid + 1, second = ts_ns / NS_PER_S;

	if (second > l->second) {
		l->second = second;
		table_clear(&l->processes);
	}
	if (table_get(&l->processes, key))
		return false;
	/* (without memory, it is listed again) */
	(void)!table_set(&l->processes, key, l);
	return true;
}
