/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the eBPF programs of a session cost: sums of what they count of themselves (bpf/cost.bpf.h).
 *
 * They time few of their runs. Between two looks the others are taken to be like those that were
 * timed meanwhile; if none was, like all that were so far. So sums only grow, and what was cheap
 * before does not hide what is dear now.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"

/* How a class of programs is called on the bus and in reports. */
extern const char *const cost_names[COST_CLASSES];

struct cost_sum {
	uint64_t runs, ns;
};

struct costs {
	struct program_cost *last; /* per CPU and class, at the last look. Owned */
	unsigned n_cpus;
	struct cost_sum sums[COST_CLASSES];
};

/* Returns 0 or -ENOMEM. */
int costs_init(struct costs *c, unsigned n_cpus);
void costs_deinit(struct costs *c);

/* Adds what has come since the last look to the sums. CPUS has n_cpus elements. */
void costs_look(struct costs *c, const struct cpu_costs *cpus);

/* Of all classes. */
struct cost_sum costs_total(const struct costs *c);
