/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call stacks that the eBPF programs have sent. Later records refer to these stacks by id.
 *
 * Memory is bounded by generations. When the kept stacks take too much memory, stacks_turn()
 * returns true. The eBPF programs must then increment their generation (bpf/stack.bpf.h), and send
 * each stack again with a new id. The old generation stays for records that are still in the rings,
 * and is freed when the next generation begins.
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
	/* The time when the eBPF programs were last ordered to send stacks again. */
	uint64_t turned_ns;
};

struct stack {
	unsigned n_frames;
	uint64_t frames[];
};

void stacks_deinit(struct stacks *s);

/* Keeps the frames of REC, which was checked. Returns 0 or -ENOMEM. */
int stacks_add(struct stacks *s, const struct rec_stack *rec);

/*
 * Returns the stack that was sent as ID, or NULL. Borrowed until stacks_turn() next returns true.
 */
const struct stack *stacks_get(const struct stacks *s, uint64_t id);

/*
 * Called when all records up to HORIZON_NS have been processed; the current time is NOW_NS. Returns
 * true if too many stacks are kept. The caller must then make the eBPF programs send all stacks
 * again, and the oldest generation is freed. A generation is never freed before all references to
 * it have been processed.
 */
bool stacks_turn(struct stacks *s, uint64_t horizon_ns, uint64_t now_ns);
