/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The use of CPUs while a thread waits for one: the threads that had its CPU, and the time in which
 * another CPU was idle. Computed from the slices of a history.
 *
 * The time that this takes is proportional to the number of slices in the intervals. After
 * CPU_USE_SLICES_MAX slices, further intervals are added without details.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "reader/why/history.h"
#include "reader/why/idle-time.h"

enum { CPU_USE_SLICES_MAX = 1 << 28 };

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
	uint64_t n_slices;            /* visited ones */
};

/* All zeroes, except `idle`, is an empty one. */
void cpu_use_deinit(struct cpu_use *u);

/* Makes U empty. The number of visited slices stays. */
void cpu_use_clear(struct cpu_use *u);

/* Adds [FROM_NS, TO_NS) of CPU. Returns 0 or -ENOMEM. */
int cpu_use_add(struct cpu_use *u, const struct history *h, uint32_t cpu, uint64_t from_ns,
		uint64_t to_ns);

/* The largest share; NULL if there is none. Of equal ones, that of the lowest tid. */
const struct cpu_share *cpu_use_largest(const struct cpu_use *u);
