/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a recording costs more than it may, and what is to go then. A look each second; over the limit in two
 * looks in a row, the next thing goes: first what takes call stacks, then what sees wakeups, at last the recording
 * ends. Nothing comes back: a recording that changes to and fro cannot be read.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BUDGET_LOOK_NS UINT64_C(1000000000)

enum budget_shed {
	SHED_STACKS,  /* samples and times off CPU */
	SHED_WAKEUPS, /* who woke whom, and when */
	SHED_SESSION, /* everything */
	SHED_MAX,
};

/* How it is called in the archive and on the bus. */
extern const char *const budget_shed_names[SHED_MAX];

struct budget {
	uint64_t limit_ppm; /* of one CPU; 0 = none */
	uint32_t there;     /* bits 1 << SHED_*: what can go and has not */
	uint64_t ppm;       /* of the time before the last look */
	uint64_t look_ns, cost_ns;
	unsigned n_over; /* looks in a row */
	bool begun;
};

/* It counts from now on: at NOW_NS COST_NS had been spent so far. To be called again when what was shed has gone. */
void budget_begin(struct budget *b, uint64_t now_ns, uint64_t cost_ns);

/* COST_NS, which only grows, has been spent by NOW_NS. Returns what is to go, or SHED_MAX. */
enum budget_shed budget_look(struct budget *b, uint64_t now_ns, uint64_t cost_ns);
