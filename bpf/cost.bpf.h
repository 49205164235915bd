/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Costs of the eBPF programs. These programs count their runs, and time some of the runs. So costs
 * are known without the kernel's statistics (kernel.bpf_stats_enabled), which read the clock twice
 * in each run.
 *
 * The distance between two timed runs is random: with a fixed distance, always the same part of a
 * regular pattern of switches could be timed. Programs that run rarely and long are timed in each
 * run. If a program interrupts another program of its class, one of the two runs may not be
 * counted, which is harmless.
 */
#pragma once

#include "bpf/context.bpf.h"
#include "bpf/record.h"

#include <bpf/bpf_tracing.h>

struct costs {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by user space to the number of possible CPUs */
	__type(key, __u32);
	__type(value, struct cpu_costs);
};

extern struct costs costs SEC(".maps");

/*
 * Returns this CPU's costs of CLASS, a COST_*. The result is never NULL, since the map has an entry
 * for each possible CPU.
 */
static __always_inline struct program_cost *cost_of(__u32 class)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_costs *all = bpf_map_lookup_elem(&costs, &cpu);

	return all ? &all->classes[class] : NULL;
}

/* Begins a timed run. Returns its begin. */
static __always_inline __u64 cost_read(struct program_cost *cost)
{
	__u64 begin_ns = bpf_ktime_get_ns(), clock_ns;

	/*
	 * The measured time includes one read of the clock. The first runs measure how long that
	 * takes.
	 */
	if (__builtin_expect(cost->n_timed < COST_CLOCKS, 0)) {
		clock_ns = bpf_ktime_get_ns() - begin_ns;
		if (cost->clock_ns == 0 || clock_ns < cost->clock_ns)
			cost->clock_ns = clock_ns;
		begin_ns += clock_ns;
	}
	return begin_ns;
}

/* Ends the timed run that began at BEGIN_NS. */
static __always_inline void cost_add(struct program_cost *cost, __u64 begin_ns)
{
	__u64 ns = bpf_ktime_get_ns() - begin_ns;

	ns = ns > cost->clock_ns ? ns - cost->clock_ns : 0;
	/*
	 * A run that takes longer than COST_NS_MAX was interrupted, perhaps by a hypervisor that
	 * ran another guest.
	 */
	cost->ns += ns < COST_NS_MAX ? ns : COST_NS_MAX;
	cost->n_timed++;
}

/* Returns the distance from this run to the next timed one, in runs. */
static __always_inline __u32 cost_gap(__u32 class, __u64 begin_ns)
{
	return COST_IS_RARE(class) ? 1 : COST_GAP_MIN + begin_ns % COST_GAP_SPREAD;
}

/*
 * Begins a run of a program of CLASS. Returns the time of the begin if the run is timed, otherwise
 * 0.
 */
static __always_inline __u64 cost_begin(__u32 class)
{
	struct program_cost *cost = cost_of(class);

	if (!cost || __builtin_expect(++cost->runs < cost->next, 1))
		return 0;
	return cost_read(cost);
}

static __always_inline void cost_end(__u32 class, __u64 begin_ns)
{
	struct program_cost *cost;

	if (__builtin_expect(begin_ns == 0, 1))
		return;
	cost = cost_of(class);
	if (!cost)
		return;
	cost_add(cost, begin_ns);
	cost->next = cost->runs + cost_gap(class, begin_ns);
}

/*
 * Like cost_begin(), for programs in which every nanosecond counts. *LEFT is the number of runs
 * before the next timed run. *LEFT is in a cache line that the program writes anyway. A timed run
 * counts all runs up to the next timed run in advance, so the other runs count nothing.
 */
static __always_inline __u64 cost_begin_near(__u32 class, __u32 *left)
{
	struct program_cost *cost;

	if (__builtin_expect(*left != 0, 1)) {
		*left -= 1;
		return 0;
	}
	cost = cost_of(class);
	return cost ? cost_read(cost) : 0;
}

static __always_inline void cost_end_near(__u32 class, __u32 *left, __u64 begin_ns)
{
	struct program_cost *cost;
	__u32 gap;

	if (__builtin_expect(begin_ns == 0, 1))
		return;
	cost = cost_of(class);
	if (!cost)
		return;
	cost_add(cost, begin_ns);
	gap = cost_gap(class, begin_ns);
	*left = gap - 1;
	cost->runs += gap;
}

/* Like BPF_PROG(), and adds the cost of each run to CLASS. */
#define TIMED_PROG(class, name, args...)                                                           \
	name(unsigned long long *ctx);                                                             \
	static __always_inline int untimed_##name(unsigned long long *ctx);                        \
	int name(unsigned long long *ctx)                                                          \
	{                                                                                          \
		__u64 begin_ns = cost_begin(class);                                                \
		int r = untimed_##name(ctx);                                                       \
                                                                                                   \
		cost_end(class, begin_ns);                                                         \
		return r;                                                                          \
	}                                                                                          \
	static __always_inline int BPF_PROG(untimed_##name, ##args)

/* Like TIMED_PROG(), for a program that gets the pointer CTX as its only argument. */
#define TIMED_WITH(class, name, type, ctx)                                                         \
	name(type ctx);                                                                            \
	static __always_inline int untimed_##name(type ctx);                                       \
	int name(type ctx)                                                                         \
	{                                                                                          \
		__u64 begin_ns = cost_begin(class);                                                \
		int r = untimed_##name(ctx);                                                       \
                                                                                                   \
		cost_end(class, begin_ns);                                                         \
		return r;                                                                          \
	}                                                                                          \
	static __always_inline int untimed_##name(type ctx)
