/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/why/cpu-use.h"

#include <errno.h>
#include <stdlib.h>

bool cpu_budget_is_used_up(struct cpu_budget *b)
{
	if (!b || b->n < b->max)
		return false;
	b->is_used_up = true;
	return true;
}

void cpu_use_deinit(struct cpu_use *u)
{
	table_deinit_free(&u->shares);
}

void cpu_use_clear(struct cpu_use *u)
{
	table_deinit_free(&u->shares);
	u->unknown_ns = u->idle_ns = 0;
}

/* Limits SLICE to its part in [FROM_NS, TO_NS). Returns false if no part of SLICE is in there. */
static bool cpu_use_clip(struct history_slice *slice, uint64_t from_ns, uint64_t to_ns)
{
	if (slice->from_ns < from_ns)
		slice->from_ns = from_ns;
	if (slice->to_ns > to_ns)
		slice->to_ns = to_ns;
	return slice->from_ns < slice->to_ns;
}

static int cpu_use_add_holders(struct cpu_use *u, const struct history *h, uint32_t cpu,
			       uint64_t from_ns, uint64_t to_ns)
{
	uint64_t known_ns = 0;
	struct history_slice slice;

	for (size_t pos = 0; history_next_slice(h, cpu, from_ns, &pos, &slice);) {
		struct cpu_share *share;

		if (slice.from_ns >= to_ns)
			break;
		cpu_budget_spend(u->budget, 1);
		if (!cpu_use_clip(&slice, from_ns, to_ns) || !slice.known)
			continue;
		share = table_make(&u->shares, (uint64_t)slice.tid + 1, sizeof(*share));
		if (!share)
			return -ENOMEM;
		share->tid = slice.tid;
		share->ns += slice.to_ns - slice.from_ns;
		known_ns += slice.to_ns - slice.from_ns;
	}
	u->unknown_ns += to_ns - from_ns - known_ns;
	return 0;
}

int cpu_use_add(struct cpu_use *u, const struct history *h, uint32_t cpu, uint64_t from_ns,
		uint64_t to_ns)
{
	if (to_ns <= from_ns)
		return 0;
	if (cpu_budget_is_used_up(u->budget)) {
		u->unknown_ns += to_ns - from_ns;
		return 0;
	}
	if (u->idle)
		u->idle_ns += idle_time_beside(u->idle, h, cpu, from_ns, to_ns);
	return cpu_use_add_holders(u, h, cpu, from_ns, to_ns);
}

const struct cpu_share *cpu_use_largest(const struct cpu_use *u)
{
	const struct cpu_share *share, *largest = NULL;

	for (size_t pos = 0; (share = table_next(&u->shares, &pos));)
		if (!largest || share->ns > largest->ns ||
		    (share->ns == largest->ns && share->tid < largest->tid))
			largest = share;
	return largest;
}
