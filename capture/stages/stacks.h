/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call stacks that the programs have sent, by the ids in later records.
 *
 * Memory is bounded by generations. When the kept stacks take too much, stacks_turn() returns true.
 * The programs must then increment their generation (bpf/stack.bpf.h), and send each stack again
 * with a new id. The old generation stays for records that are still in the rings, and is freed at
 * the next turn.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "bpf/record.h"

struct stacks {
	struct table now, before; /* id -> struct stack, owned */
	size_t bytes;             /* size of the stacks in `now` */
	uint64_t turned_ns;       /* the time of the last order to the programs */
};

struct stack {
	unsigned n_frames;
	uint64_t frames[];
};

void stacks_deinit(struct stacks *s);

/* Keeps the frames of REC, which was checked. Returns 0 or -ENOMEM. */
int stacks_add(struct stacks *s, const struct rec_stack *rec);

/* The stack that was sent as ID, or NULL. Borrowed until the next turn. */
const struct stack *stacks_get(const struct stacks *s, uint64_t id);

/*
 * All records up to HORIZON_NS have been processed; the current time is NOW_NS. Returns true if too
 * many stacks are kept. The programs must then be ordered to send all stacks again, and the oldest
 * generation is freed. This never happens before all references to it have been processed.
 */
bool stacks_turn(struct stacks *s, uint64_t horizon_ns, uint64_t now_ns);
