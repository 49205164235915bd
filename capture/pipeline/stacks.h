/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call stacks that the programs have sent, by the ids under which later records name them.
 *
 * Memory is bounded by generations. When those kept take too much, stacks_turn() says so: then the
 * programs are ordered to count their generation up (bpf/stack.bpf.h), and from there on each stack
 * comes again under a new id. What was kept until then stays for those records that were on their
 * way, and goes at the next turn.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "bpf/record.h"

struct stacks {
	struct table now, before; /* id -> struct stack, owned */
	size_t bytes;             /* of now */
	uint64_t turned_ns;       /* when the programs were ordered to do so last */
};

struct stack {
	unsigned n_frames;
	uint64_t frames[];
};

void stacks_deinit(struct stacks *s);

/* Keeps the frames of REC, checked. Returns 0 or -ENOMEM. */
int stacks_add(struct stacks *s, const struct rec_stack *rec);

/* The stack that was sent as ID, or NULL. Borrowed until the next turn. */
const struct stack *stacks_get(const struct stacks *s, uint64_t id);

/*
 * All that the programs wrote up to HORIZON_NS has been taken in; it is NOW_NS. True if too much is
 * kept: then the programs are to be ordered to, and the oldest have gone. Never before all that
 * names those has been taken in.
 */
bool stacks_turn(struct stacks *s, uint64_t horizon_ns, uint64_t now_ns);
