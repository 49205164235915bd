/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The use of CPUs while a thread waits for one: the threads that had its CPU, and the time in which
 * another CPU was idle. Computed from the slices of a history.
 *
 * The time that this takes is proportional to the number of slices in the intervals. A budget of
 * slices limits it. When it is used up, further intervals are added without details.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "reader/why/history.h"
#include "reader/why/idle-time.h"

enum { CPU_USE_SLICES_MAX = 1 << 28 /* the usual budget */ };

/* Slices, or segments, that may be visited, for all questions of a view. */
struct cpu_budget {
	uint64_t n, max;
	bool is_used_up; /* details of an interval are missing */
};

/* Whether B (NULL = no limit) is used up. Notes it, since the caller then leaves out details. */
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
	uint64_t idle_ns;    /* at least one other CPU was idle; 0 without `idle` */

	const struct idle_time *idle; /* borrowed; can be NULL */
	struct cpu_budget *budget;    /* likewise */
};

/* All zeroes, except for the borrowed pointers, is an empty one. */
void cpu_use_deinit(struct cpu_use *u);

/* Makes U empty. */
void cpu_use_clear(struct cpu_use *u);

/* Adds [FROM_NS, TO_NS) of CPU. Returns 0 or -ENOMEM. */
int cpu_use_add(struct cpu_use *u, const struct history *h, uint32_t cpu, uint64_t from_ns,
		uint64_t to_ns);

/* Returns the largest share, NULL without shares; of equal ones, the share of the lowest tid. */
const struct cpu_share *cpu_use_largest(const struct cpu_use *u);
