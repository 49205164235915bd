/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a session costs, by the second, and what goes when that is too much (docs/ARCHITECTURE.md, "Budgets").
 */
#include "capture/session-parts.h"

uint64_t session_cpu_ns(const struct session *s)
{
	return s->loop_cpu_ns + s->worker_cpu_ns + s->status.cpu_ns;
}

uint64_t session_look_at_costs(struct session *s)
{
	if (s->recorder.collector && s->costs.last)
		costs_look(&s->costs, collector_costs(s->recorder.collector));
	s->worker_cpu_ns = worker_cpu_ns(s->worker);
	return costs_total(&s->costs).ns + session_cpu_ns(s);
}

int session_write_sheds(struct session *s)
{
	int r = 0;

	while (r == 0 && s->n_sheds_written < s->n_sheds) {
		const struct session_shed *shed = &s->sheds[s->n_sheds_written++];

		r = recorder_shed(&s->recorder, shed->ts_ns, budget_shed_names[shed->what],
				  shed->cost_ppm, shed->limit_ppm);
	}
	return r;
}

static void shed(struct session *s, enum budget_shed what, uint64_t now_ns)
{
	s->sheds[s->n_sheds++] = (struct session_shed){
		.what = what,
		.ts_ns = now_ns,
		.cost_ppm = s->budget.ppm,
		.limit_ppm = s->budget.limit_ppm,
	};
	if (what == SHED_SESSION) {
		session_end(s, "overhead");
		return;
	}
	s->budget.begun = false; /* until it has gone */
	worker_order_shed(s->worker, what);
}

void session_look(struct session *s)
{
	uint64_t now_ns = clock_boot_ns(), cost_ns = session_look_at_costs(s);
	enum budget_shed what;

	if (*s->reason || !s->complete)
		return;
	what = budget_look(&s->budget, now_ns, cost_ns);
	if (what < SHED_MAX)
		shed(s, what, now_ns);
}

void session_begin_looks(struct session *s)
{
	uint32_t categories = s->options.categories;

	s->budget.limit_ppm = s->options.max_overhead_ppm;
	s->budget.there = UINT32_C(1) << SHED_SESSION;
	if (categories & CATEGORIES_STACKS)
		s->budget.there |= UINT32_C(1) << SHED_STACKS;
	if (categories & CATEGORY_SCHED)
		s->budget.there |= UINT32_C(1) << SHED_WAKEUPS;
	budget_begin(&s->budget, clock_boot_ns(), session_look_at_costs(s));
	session_arm(s->look_fd, BUDGET_LOOK_NS, BUDGET_LOOK_NS);
}

const struct session_shed *session_sheds(const struct session *s, size_t *ret_n)
{
	*ret_n = s->n_sheds;
	return s->sheds;
}
