/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/why/cpu-use.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* An interval in which a CPU was idle. */
struct cpu_gap {
	uint64_t from_ns, to_ns;
};

void cpu_use_deinit(struct cpu_use *u)
{
	table_deinit_free(&u->shares);
	u->gaps = free_ptr(u->gaps);
	u->room_gaps = 0;
}

void cpu_use_clear(struct cpu_use *u)
{
	table_deinit_free(&u->shares);
	u->unknown_ns = u->idle_ns = u->longest_ns = 0;
	u->idle_cpu = 0;
}

/* The part of SLICE in [FROM_NS, TO_NS). Returns false if there is none. */
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
		u->n_slices++;
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

/* Appends the intervals in which CPU was idle to the N gaps. */
static int cpu_use_find_gaps(struct cpu_use *u, const struct history *h, uint32_t cpu,
			     const struct cpu_gap *in, size_t *n)
{
	uint64_t ns = 0;
	struct history_slice slice;

	for (size_t pos = 0; history_next_slice(h, cpu, in->from_ns, &pos, &slice);) {
		if (slice.from_ns >= in->to_ns)
			break;
		u->n_slices++;
		if (!cpu_use_clip(&slice, in->from_ns, in->to_ns) || !slice.known || slice.tid != 0)
			continue;
		if (GROW(u->gaps, u->room_gaps, *n + 1) < 0)
			return -ENOMEM;
		u->gaps[(*n)++] = (struct cpu_gap){ slice.from_ns, slice.to_ns };
		ns += slice.to_ns - slice.from_ns;
	}
	if (ns > u->longest_ns) {
		u->longest_ns = ns;
		u->idle_cpu = cpu;
	}
	return 0;
}

DEFINE_ORDER(cpu_use_gap_order, struct cpu_gap, COMPARE(x->from_ns, y->from_ns))

/* (those of one CPU are in order) */
static void cpu_use_sort_gaps(struct cpu_use *u, size_t n)
{
	size_t i = 1;

	while (i < n && u->gaps[i - 1].from_ns <= u->gaps[i].from_ns)
		i++;
	if (i < n)
		SORT(u->gaps, n, cpu_use_gap_order);
}

static int cpu_use_add_idle(struct cpu_use *u, const struct history *h, uint32_t cpu,
			    uint64_t from_ns, uint64_t to_ns)
{
	const struct cpu_gap in = { from_ns, to_ns };
	uint64_t done_ns = from_ns;
	size_t n = 0;
	int r = 0;

	for (uint32_t i = 0; i < history_n_cpus(h) && r == 0; i++)
		if (i != cpu)
			r = cpu_use_find_gaps(u, h, i, &in, &n);
	cpu_use_sort_gaps(u, n);
	for (size_t i = 0; i < n; i++) {
		uint64_t begin = u->gaps[i].from_ns > done_ns ? u->gaps[i].from_ns : done_ns;

		if (u->gaps[i].to_ns <= begin)
			continue;
		u->idle_ns += u->gaps[i].to_ns - begin;
		done_ns = u->gaps[i].to_ns;
	}
	return r;
}

int cpu_use_add(struct cpu_use *u, const struct history *h, uint32_t cpu, uint64_t from_ns,
		uint64_t to_ns)
{
	if (to_ns <= from_ns)
		return 0;
	if (u->n_slices >= CPU_USE_SLICES_MAX) {
		u->unknown_ns += to_ns - from_ns;
		return 0;
	}
	return cpu_use_add_holders(u, h, cpu, from_ns, to_ns)
		       ?: cpu_use_add_idle(u, h, cpu, from_ns, to_ns);
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
