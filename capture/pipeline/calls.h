/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of functions, from where they are entered and where they are left: a stage of the pipeline.
 *
 * The open calls of a thread are a stack, in the order of their stack pointers. A `ret` leaves the
 * call of its function that was entered with its stack pointer. What is deeper then, or when
 * another function is entered, was left without a `ret`: by longjmp(), an exception, or a tail call
 * to code that is not looked at. So nothing that the kernel or a program nests is a limit here.
 */
#pragma once

#include <stdint.h>

#include "base/table.h"
#include "capture/pipeline/pipeline.h"
#include "capture/pipeline/named-stacks.h"

struct call_targets;

struct calls {
	const struct pipeline *pipe;
	const struct call_targets *targets; /* borrowed; NULL = none are recorded */
	struct named_stacks *stacks;        /* borrowed */
	bool no_callers;      /* walks are by frame pointers: at an entry they miss the caller */
	struct table threads; /* tid + 1 -> struct call_thread, owned */
	size_t open_bytes;    /* of what is open */
	uint64_t n_events;
	uint64_t n_unpaired; /* ends without a begin: it was before the recording, or was lost */
	uint64_t n_dropped;  /* calls that there was no room for, or whose function is unknown */
};

void calls_init(struct calls *c, const struct pipeline *pipe);
void calls_deinit(struct calls *c);

/* Takes REC_CALL, REC_CALL_END, and REC_EXIT and REC_EXEC. Returns 0 or a negative errno. */
int calls_record(struct calls *c, const struct rec_head *rec);

/* Nothing is seen from AT_NS on: writes what is open. Likewise. */
int calls_close(struct calls *c, uint64_t at_ns);
