/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of functions, from their entries and exits: a stage of the pipeline.
 *
 * The open calls of a thread form a stack, in the order of their stack pointers. A `ret` ends the
 * call of its function with the same stack pointer at the entry. Calls that are deeper than that,
 * or deeper than a newly entered function, were left without a `ret`: by longjmp(), an exception,
 * or a tail call to code without probes. Or they are on another stack, of a coroutine that
 * continues later. So they are in doubt, until they return or another call has their place on the
 * stack. There is no limit to nesting, and none to the number of stacks.
 */
#pragma once

#include <stdint.h>

#include "base/table.h"
#include "capture/stages/named-stacks.h"
#include "capture/stages/stage.h"

struct call_targets;

struct calls {
	const struct pipeline *pipe;
	const struct call_targets *targets; /* borrowed; NULL = no calls are recorded */
	struct named_stacks *stacks;        /* borrowed */
	bool no_callers;           /* walks use frame pointers, and miss the caller at an entry */
	struct table threads;      /* tid + 1 -> struct call_thread, owned */
	struct table places;       /* of open functions (open-calls.h) */
	struct table unknown;      /* numbers + 1 of unknown system calls that have names */
	size_t open_bytes;         /* size of all open calls */
	uint64_t *left_out;        /* by target: left-out calls that are in the archive. Owned */
	uint64_t left_out_foreign; /* likewise, for system calls of 32-bit programs */
	uint64_t left_out_at_ns;   /* the last time when they were written */
	uint64_t n_events;
	uint64_t n_unpaired; /* ends without a begin, which was lost or before the recording */
	uint64_t n_dropped;  /* calls without room, or of an unknown function */
};

extern const struct stage calls_stage;

void calls_init(struct calls *c, const struct pipeline *pipe);
void calls_deinit(void *calls);

/* Accepts REC_CALL, REC_CALL_END, REC_EXIT and REC_EXEC. Returns 0 or a negative errno. */
int calls_record(void *calls, const struct rec_head *rec);

/*
 * By AT_NS, the limit of target FUNCTION has left out TOTAL calls in all. Writes those that are not
 * in the archive yet. Returns 0 or a negative errno.
 */
int calls_leave_out(struct calls *c, uint32_t function, uint64_t total, uint64_t at_ns);

/* The same, for system calls of 32-bit programs. */
int calls_leave_out_foreign(struct calls *c, uint64_t total, uint64_t at_ns);

/* Recording ends at AT_NS: writes open calls. Returns 0 or a negative errno. */
int calls_close(struct calls *c, uint64_t at_ns);
