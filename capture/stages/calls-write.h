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
	bool no_callers;           /* walks at an entry use frame pointers, and miss the caller */
	struct table threads;      /* tid + 1 -> struct call_thread, owned */
	struct table places;       /* the places of open functions (open-calls.h) */
	struct table unknown;      /* numbers + 1 of unknown system calls that have names */
	size_t open_bytes;         /* size of all open calls */
	uint64_t *left_out;        /* left-out calls that are in the archive, by target; owned */
	uint64_t left_out_foreign; /* likewise, for system calls of 32-bit programs */
	uint64_t left_out_at_ns;   /* the last time when they were written */
	uint64_t n_events;
	uint64_t n_unpaired; /* ends of calls whose begin was lost, or before the recording */
	uint64_t n_dropped;  /* calls without room, or of an unknown function */
};

/*
 * Writes CALL, which has ended with the record END. If AT_NS is not 0, the call ends at AT_NS at
 * the latest. If END is NULL, the call was left at AT_NS, in the way LEFT_BY. Skips calls outside
 * of the recording. Returns 0 or a negative errno.
 */
int calls_write(struct calls *c, const struct rec_call *call, const struct rec_call_end *end,
		const char *left_by, uint64_t at_ns);

/*
 * Makes sure that the archive has the stack of REC. *RET_ID is its name there; 0 = none. Returns 0
 * or a negative errno.
 */
int calls_name_stack(struct calls *c, const struct rec_call *rec, uint64_t *ret_id);

/* Whether FUNCTION stands for all system calls with unknown numbers. */
bool calls_is_unknown(const struct calls *c, uint32_t function);

/*
 * By AT_NS, the limit of target FUNCTION has left out TOTAL calls. Writes the number of those that
 * the archive does not have yet. Returns 0 or a negative errno.
 */
int calls_leave_out(struct calls *c, uint32_t function, uint64_t total, uint64_t at_ns);

/* The same, for system calls of 32-bit programs. */
int calls_leave_out_foreign(struct calls *c, uint64_t total, uint64_t at_ns);
