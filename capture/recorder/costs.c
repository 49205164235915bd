/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/recorder/costs.h"

#include <errno.h>
#include <stdlib.h>

const char *const cost_names[COST_CLASSES] = {
	[COST_SCHED] = "sched",
	[COST_WAKEUPS] = "wakeups",
	[COST_OFFCPU] = "offcpu",
	[COST_SAMPLES] = "samples",
	[COST_LIFECYCLE] = "lifecycle",
	[COST_IRQ] = "irq",
	[COST_SOFTIRQ] = "softirq",
	[COST_WORKQUEUE] = "workqueue",
	[COST_POWER] = "power",
	[COST_MEMORY] = "memory",
	[COST_CALLS] = "calls",
	[COST_FUNCTIONS] = "functions",
	[COST_TRACEPOINTS] = "tracepoints",
	[COST_BLOCK] = "block",
};

int costs_init(struct costs *c, unsigned n_cpus)
{
	*c = (struct costs){ .n_cpus = n_cpus };
	c->last = calloc((size_t)n_cpus * COST_CLASSES, sizeof(*c->last));
	return c->last ? 0 : -ENOMEM;
}

void costs_deinit(struct costs *c)
{
	free(c->last);
	*c = (struct costs){ 0 };
}

/*
 * Reads counts while the eBPF programs change them. Each member is read atomically, but the members
 * can be from different moments.
 */
static struct program_cost costs_program_costs_read_cost(const struct program_cost *cost)
{
	return (struct program_cost){
		.runs = __atomic_load_n(&cost->runs, __ATOMIC_RELAXED),
		.n_timed = __atomic_load_n(&cost->n_timed, __ATOMIC_RELAXED),
		.ns = __atomic_load_n(&cost->ns, __ATOMIC_RELAXED),
	};
}

static void costs_program_costs_add(struct cost_sum *sum, struct program_cost *last,
				    const struct program_cost *now)
{
	uint64_t runs = now->runs - last->runs, n = now->n_timed - last->n_timed,
		 ns = now->ns - last->ns;

	if (n == 0) {
		n = now->n_timed;
		ns = now->ns;
	}
	sum->runs += runs;
	if (n > 0)
		sum->ns += (uint64_t)((double)ns / (double)n * (double)runs);
	*last = *now;
}

void costs_update(struct costs *c, const struct cpu_costs *cpus)
{
	for (unsigned cpu = 0; cpu < c->n_cpus; cpu++) {
		for (unsigned i = 0; i < COST_CLASSES; i++) {
			struct program_cost now =
				costs_program_costs_read_cost(&cpus[cpu].classes[i]);

			costs_program_costs_add(&c->sums[i], &c->last[cpu * COST_CLASSES + i],
						&now);
		}
	}
}

struct cost_sum costs_total(const struct costs *c)
{
	struct cost_sum total = { 0 };

	for (unsigned i = 0; i < COST_CLASSES; i++) {
		total.runs += c->sums[i].runs;
		total.ns += c->sums[i].ns;
	}
	return total;
}
