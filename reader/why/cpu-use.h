/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The use of CPUs while a thread is ready to run: the threads that had its CPU, and the time in
 * which another CPU was idle. Computed from the slices of a history.
 *
 * The computation takes time proportional to the number of slices in the intervals. A budget of
 * slices limits this time. When the budget is used up, further intervals are added without details.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "reader/why/history.h"
#include "reader/why/idle-time.h"

enum { CPU_USE_SLICES_MAX = 1 << 28 /* the usual budget */ };

/* The number of slices, or of segments, that all computations of a view may visit. */
struct cpu_budget {
	uint64_t n, max;
	bool is_used_up; /* details of an interval are missing */
};

/* True if B is used up (NULL = no limit). Notes this in B, since the caller then leaves out
 * details. */
bool cpu_budget_is_used_up(struct cpu_budget *b);

/* N slices were visited. */
static inline void cpu_budget_spend(struct cpu_budget *b, uint64_t n)
{
	if (b)
		b->n += n;
}

/* A thread that had the CPU. */
struct cpu_share {
	uint32_t tid; /* koid; 0 = idle; "other" */
	uint64_t ns;
};

struct cpu_use {
	struct table shares; /* tid + 1 -> struct cpu_share, owned */
	uint64_t unknown_ns; /* the thread on the CPU is unknown */
	uint64_t idle_ns;    /* time with an idle CPU besides the thread's; 0 without `idle` */

	const struct idle_time *idle; /* borrowed; can be NULL */
	struct cpu_budget *budget;    /* likewise */
};

/* A struct cpu_use with only zeroes and the borrowed pointers is empty. */
void cpu_use_deinit(struct cpu_use *u);

/* Makes U empty. */
void cpu_use_clear(struct cpu_use *u);

/* Adds the use of CPU in [FROM_NS, TO_NS) to U. Returns 0 or -ENOMEM. */
int cpu_use_add(struct cpu_use *u, const struct history *h, uint32_t cpu, uint64_t from_ns,
		uint64_t to_ns);

/* Returns the largest share; if several are equal, that of the lowest tid. NULL = no shares. */
const struct cpu_share *cpu_use_largest(const struct cpu_use *u);
