/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/budget.h"

/* One look may have met what is over at once: the begin of a load, or a command line to be read. */
enum { OVER_MAX = 2 };

const char *const budget_shed_names[SHED_MAX] = {
	[SHED_STACKS] = "stacks",
	[SHED_WAKEUPS] = "wakeups",
	[SHED_SESSION] = "session",
};

void budget_begin(struct budget *b, uint64_t now_ns, uint64_t cost_ns)
{
	b->look_ns = now_ns;
	b->cost_ns = cost_ns;
	b->n_over = 0;
	b->begun = true;
}

/* The cheapest to miss of what is there. */
static enum budget_shed next_shed(struct budget *b)
{
	for (enum budget_shed i = 0; i < SHED_MAX; i++) {
		if (b->there >> i & 1) {
			b->there &= ~(UINT32_C(1) << i);
			return i;
		}
	}
	return SHED_MAX;
}

enum budget_shed budget_look(struct budget *b, uint64_t now_ns, uint64_t cost_ns)
{
	uint64_t gone_ns = now_ns - b->look_ns;

	/* One that comes soon after another, which was late, says little. */
	if (!b->begun || now_ns < b->look_ns || gone_ns < BUDGET_LOOK_NS / 2)
		return SHED_MAX;
	b->ppm = cost_ns > b->cost_ns
			 ? (uint64_t)((double)(cost_ns - b->cost_ns) * 1e6 / (double)gone_ns)
			 : 0;
	b->look_ns = now_ns;
	b->cost_ns = cost_ns;
	if (b->limit_ppm == 0 || b->ppm <= b->limit_ppm) {
		b->n_over = 0;
		return SHED_MAX;
	}
	if (++b->n_over < OVER_MAX)
		return SHED_MAX;
	b->n_over = 0;
	return next_shed(b);
}
