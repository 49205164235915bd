/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the stage of calls (calls.h), and its events: calls with their values and stacks,
 * and the number of calls that were left out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "bpf/record.h"
#include "capture/stages/named-stacks.h"

struct pipeline;
struct call_targets;

struct calls {
	const struct pipeline *pipe;
	const struct call_targets *targets; /* borrowed; NULL = no calls are recorded */
	struct named_stacks *stacks;        /* borrowed */
	/*
	 * Walks at the entry of a function use frame pointers. The function has not set its own
	 * frame pointer yet, so its caller is missing in the stack.
	 */
	bool no_callers;
	struct table threads; /* tid + 1 -> struct call_thread, owned */
	struct table places;  /* the places of open functions (open-calls.h) */
	struct table unknown; /* numbers + 1 of unknown system calls that have names */
	size_t open_bytes;    /* number of bytes of all open calls */
	/* Number of left-out calls that the archive already has, by target; owned. */
	uint64_t *left_out;
	/* Number of left-out system calls of 32-bit programs that the archive already has. */
	uint64_t left_out_foreign;
	uint64_t left_out_at_ns; /* the last time when they were written */
	uint64_t n_events;
	/* Number of ends of calls whose beginning was lost, or before the recording. */
	uint64_t n_unpaired;
	/* Number of calls for which there was no room, or of an unknown function. */
	uint64_t n_dropped;
};

/*
 * Writes CALL, which has ended with the record END. If AT_NS is not 0, the call ends at AT_NS at
 * the latest. If END is NULL, the call was left at AT_NS, and LEFT_BY is the way in which it was
 * left. Skips calls outside of the recording. Returns 0 or a negative errno.
 */
int calls_write(struct calls *c, const struct rec_call *call, const struct rec_call_end *end,
		const char *left_by, uint64_t at_ns);

/*
 * Makes sure that the archive has the stack of REC. *RET_ID is its id there; 0 = no stack. Returns
 * 0 or a negative errno.
 */
int calls_name_stack(struct calls *c, const struct rec_call *rec, uint64_t *ret_id);

/* Returns true if FUNCTION stands for all system calls with unknown numbers. */
bool calls_is_unknown(const struct calls *c, uint32_t function);

/*
 * Writes how many more calls were left out because of the limit of target FUNCTION. By AT_NS, TOTAL
 * calls were left out; the archive already has some of them. Returns 0 or a negative errno.
 */
int calls_leave_out(struct calls *c, uint32_t function, uint64_t total, uint64_t at_ns);

/* Like calls_leave_out(), for system calls of 32-bit programs. */
int calls_leave_out_foreign(struct calls *c, uint64_t total, uint64_t at_ns);
