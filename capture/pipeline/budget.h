/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a recording costs more than it may, what is to go then, and when it comes back. A look
 * each second.
 *
 * Over the limit in two looks in a row, the next thing goes: first what takes call stacks, then
 * what sees wakeups, at last everything. What went last comes back first, one thing at a time,
 * after a calm time in which the cost, with what its return is estimated to cost, was low in each
 * look. That estimate is what it cost when it went, times how much more or less the machine
 * switches threads now, and half of that after each four calm times. What has to go again soon
 * waits twice as long the next time, up to a limit; and however wrong an estimate may be, after
 * that limit it is tried.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BUDGET_LOOK_NS UINT64_C(1000000000)

/*
 * How long it must be calm at first, and at most; what went again so soon after its return has come
 * back too early.
 */
#define BUDGET_CALM_NS     UINT64_C(5000000000)
#define BUDGET_CALM_NS_MAX UINT64_C(640000000000)
#define BUDGET_SOON_NS     UINT64_C(60000000000)

enum budget_shed {
	SHED_STACKS,  /* samples and times off CPU */
	SHED_WAKEUPS, /* wakeups: of which thread, by which, and when */
	SHED_SESSION, /* everything */
	SHED_MAX,
};

/* How it is called in the archive and on the bus. */
extern const char *const budget_shed_names[SHED_MAX];

enum budget_act {
	BUDGET_STAY,
	BUDGET_SHED,
	BUDGET_RETURN,
};

/* What can go. */
struct budget_stage {
	uint64_t saved_ppm; /* what it cost, as far as that is known */
	uint64_t work;      /* of the machine, in a second at that time; 0 = not known */
	uint64_t calm_ns;   /* that its return waits for; 0 = the least */
	uint64_t gone_ns, back_ns;
};

struct budget {
	uint64_t limit_ppm; /* of one CPU; 0 = none. May change between two looks */
	uint32_t there;     /* bits 1 << SHED_*: what can go and has not */
	uint32_t away;      /* likewise: what has gone */
	uint64_t ppm;       /* of one CPU, in the time before the last look */
	uint64_t rate;      /* work of the machine in a second, likewise; 0 = not known */
	uint64_t look_ns, cost_ns, work;
	unsigned n_over;  /* looks in a row */
	uint64_t calm_ns; /* so long it has been calm */
	bool begun;
	bool measures; /* the next look says what the last one to go has saved */
	struct budget_stage stages[SHED_MAX];
};

/*
 * It counts from now on: at NOW_NS COST_NS had been spent so far, and the machine had done WORK (a
 * count that only grows; 0 = not known). To be called again when what was shed has gone, or is
 * there again.
 */
void budget_begin(struct budget *b, uint64_t now_ns, uint64_t cost_ns, uint64_t work);

/*
 * COST_NS and WORK, which only grow, are those of NOW_NS. With another answer than BUDGET_STAY,
 * *RET is what goes or comes back.
 */
enum budget_act budget_look(struct budget *b, uint64_t now_ns, uint64_t cost_ns, uint64_t work,
			    enum budget_shed *ret);

/* WHAT was to come back, and could not: it has gone again. */
void budget_failed(struct budget *b, enum budget_shed what, uint64_t now_ns);
