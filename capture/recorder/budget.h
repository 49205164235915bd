/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides whether a recording exceeds its overhead limit, which part is then stopped, and when it
 * is resumed. There is a check each second.
 *
 * After two consecutive checks over the limit, the next part is stopped: first call stacks, then
 * wakeups, then everything. Parts are resumed in reverse order, one at a time, after a calm period
 * in which each check was low, including the estimated cost of the part. The estimate is the cost
 * of the part when it was stopped, multiplied by the ratio of the machine's thread switches now and
 * then. The estimate is halved after each four calm periods. If a part must soon be stopped again,
 * its next calm period is twice as long, up to a limit. When a part has been stopped for as long as
 * this limit, it is resumed whatever the estimate is.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BUDGET_CHECK_NS UINT64_C(1000000000)

/*
 * The initial and the maximum calm period. A part that is stopped again within BUDGET_SOON_NS was
 * resumed too early.
 */
#define BUDGET_CALM_NS     UINT64_C(5000000000)
#define BUDGET_CALM_NS_MAX UINT64_C(640000000000)
#define BUDGET_SOON_NS     UINT64_C(60000000000)

enum budget_shed {
	SHED_STACKS,  /* stacks: samples and times off CPU */
	SHED_WAKEUPS, /* wakeups: thread, waker and time */
	SHED_SESSION, /* the whole recording */
	SHED_MAX,
};

/* The names of parts in the archive and on the bus. */
extern const char *const budget_shed_names[SHED_MAX];

enum budget_act {
	BUDGET_STAY,
	BUDGET_SHED,
	BUDGET_RETURN,
};

/* A part that can be stopped. */
struct budget_stage {
	uint64_t saved_ppm; /* the cost that stopping this part has saved, as far as known */
	/* Work of the machine per second when the part was stopped; 0 = unknown. */
	uint64_t work;
	uint64_t calm_ns; /* the calm period before the part is resumed; 0 = the minimum */
	uint64_t gone_ns, back_ns;
};

struct budget {
	uint64_t limit_ppm;    /* in ppm of one CPU; 0 = no limit. Can change between two checks */
	uint32_t running_bits; /* parts that run and can be stopped: bits 1 << SHED_* */
	uint32_t shed_bits;    /* parts that are stopped: bits 1 << SHED_* */
	uint64_t ppm;          /* the cost between the last two checks, in ppm of one CPU */
	uint64_t rate;         /* work of the machine per second in that time; 0 = unknown */
	uint64_t check_ns, cost_ns, work;
	unsigned n_over;  /* consecutive checks over the limit */
	uint64_t calm_ns; /* length of the calm period so far */
	bool begun;
	bool measures; /* the next check measures how much the last stop has saved */
	struct budget_stage stages[SHED_MAX];
};

/*
 * Starts counting: at NOW_NS, COST_NS had been spent and the machine had done WORK (a growing
 * count; 0 = unknown). To be called again whenever a part has been stopped or resumed.
 */
void budget_begin(struct budget *b, uint64_t now_ns, uint64_t cost_ns, uint64_t work);

/*
 * Checks the budget. COST_NS and WORK are the growing counts at NOW_NS. Unless the result is
 * BUDGET_STAY, *RET is the part that must be stopped or resumed.
 */
enum budget_act budget_check(struct budget *b, uint64_t now_ns, uint64_t cost_ns, uint64_t work,
			     enum budget_shed *ret);

/* To be called if WHAT could not be resumed. WHAT then counts as stopped again. */
void budget_failed(struct budget *b, enum budget_shed what, uint64_t now_ns);
