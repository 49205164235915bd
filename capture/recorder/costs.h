/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of a session's eBPF programs: sums of their own counts (bpf/cost.bpf.h).
 *
 * The eBPF programs time only few of their runs. All other runs between two readings are assumed to
 * take as long as the timed runs of that period. If that period has no timed runs, all timed runs
 * so far are used. So sums only grow, and a low cost earlier does not hide a high cost now.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"

/* The names of the classes of eBPF programs, on the bus and in reports. */
extern const char *const cost_names[COST_CLASSES];

struct cost_sum {
	uint64_t runs, ns;
};

struct costs {
	struct program_cost *last; /* costs of each CPU and class at the last reading. Owned */
	unsigned n_cpus;
	struct cost_sum sums[COST_CLASSES];
};

/* Returns 0 or -ENOMEM. */
int costs_init(struct costs *c, unsigned n_cpus);
void costs_deinit(struct costs *c);

/* Adds the counts since the last reading to the sums. CPUS has n_cpus elements. */
void costs_update(struct costs *c, const struct cpu_costs *cpus);

/* Returns the sum of all classes. */
struct cost_sum costs_total(const struct costs *c);
