/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copied stacks of allocations, whose walk an eBPF program could not finish because an unwind table
 * was still being made, or the mappings were being changed (REC_HEAP_PIECE). The tables of the eBPF
 * programs have only the innermost frames of such a stack, with a separate id.
 *
 * A stack is needed only when the worker reports it from the tables, up to a usage interval later.
 * So if the table is still missing when the copy arrives, the copy is kept until that report.
 *
 * The worker can also report the stack before the copy arrives: while it reads the tables, or if
 * the copy is behind another record in its ring that is still being written. Then the report waits
 * for the copy, but only for a second, since a copy can be lost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "bpf/record.h"

struct collector;

/*
 * The maximum size of all kept copies. When this size is reached, further copies are walked as soon
 * as they arrive, as far as possible.
 */
enum { HEAP_COPIES_BYTES_MAX = 8 << 20 };

struct heap_copies {
	struct table kept; /* id of the stack -> struct rec_piece, owned */
	size_t bytes;      /* size of all kept copies */
	/*
	 * A bit for each instance that has ended. Data of such an instance can still arrive, and is
	 * dropped. The bits of a million programs take 128 KiB.
	 */
	uint8_t *ended;       /* owned */
	size_t n_ended_bytes; /* size of `ended` */
	struct table
		/* Id of a stack that was reported before its copy -> struct awaited, owned. */
		awaited;
	bool any_arrived; /* copies have arrived, so the reports of their stacks can be written */
};

void heap_copies_deinit(struct heap_copies *h);

/*
 * Continues the walk of PIECE, which was checked. Returns 1 with the stack in *RET, or -ENOMEM. If
 * a table is missing and the caller CAN_WAIT, PIECE is kept and the result is 0.
 */
int heap_copies_take(struct heap_copies *h, struct collector *c, const struct rec_piece *piece,
		     bool can_wait, struct rec_named *ret);

/*
 * To be called before NAMED is written. If a copy of this stack is kept, walks the copy as far as
 * possible, adds the frames to NAMED, and releases the copy.
 */
void heap_copies_complete(struct heap_copies *h, struct collector *c, struct rec_named *named);

/*
 * Returns 1 if NAMED, a copied stack that is not written yet, must wait for its copy, otherwise 0,
 * or -ENOMEM. With 1, the copy is awaited from now on.
 */
int heap_copies_await(struct heap_copies *h, const struct rec_named *named);

/*
 * Returns true if the stack is awaited. After its copy has arrived, the stack is still awaited
 * until heap_copies_take_arrived(): the waiting reports must be written in order.
 */
bool heap_copies_awaits(const struct heap_copies *h, uint64_t id);

/* Called when the copy of the stack has arrived. Does nothing if the stack is not awaited. */
void heap_copies_arrived(struct heap_copies *h, uint64_t id);

/* From now on, stacks whose copies have arrived are no longer awaited. */
void heap_copies_take_arrived(struct heap_copies *h);

/* Returns true if any stack of INSTANCE is awaited. */
bool heap_copies_awaits_any(const struct heap_copies *h, uint32_t instance);

/*
 * The first function gives up the stacks of INSTANCE (0 = all). The second one gives up stacks that
 * have been awaited for a second at HORIZON_NS. For each of these stacks, heap_copies_await()
 * returns 0 once. Both functions return true if they have given up any stack.
 */
bool heap_copies_give_up(struct heap_copies *h, uint32_t instance);
bool heap_copies_give_up_old(struct heap_copies *h, uint64_t horizon_ns);

/* Forgets the stacks that were given up and whose reports did not wait (they were dropped). */
void heap_copies_forget_given_up(struct heap_copies *h);

/* Returns true if INSTANCE has ended. */
bool heap_copies_has_ended(const struct heap_copies *h, uint32_t instance);

/* Releases the copies of INSTANCE, which has ended. Returns 0 or -ENOMEM. */
int heap_copies_forget(struct heap_copies *h, uint32_t instance);
