/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks on in user space where a program could not, since the table of a file was still being made:
 * by the same tables, through the copy of the stack that the program has taken (struct rec_piece).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record.h"
#include "capture/unwind/unwind-kept.h"

/* How a walk has gone on. */
struct unwind_resumed {
	unsigned n_frames; /* of all: at least those that were there */
	int end;           /* UNWIND_END_*; UNWIND_END_TABLE, too, where there is no table yet */
	/* The copy was all that there was room for, and the next frame lies behind it */
	bool ran_out;
};

/*
 * Walks on from where PIECE, checked, stands, into FRAMES, innermost first, which gets those of the
 * piece, too. STACK are its n_bytes bytes of stack. PROCESSES_FD (-1: none) is the map of what
 * processes have mapped now.
 */
struct unwind_resumed unwind_resume(struct unwind_kept *tables, int processes_fd,
				    const struct rec_piece *piece, const void *stack,
				    uint64_t frames[static STACK_FRAMES_MAX]);
