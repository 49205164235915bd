/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Continues walks in user space that a program could not finish because a table was still being
 * made, or the mappings were being changed: by the same tables, through the copy of the stack that
 * the program made (struct rec_piece).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record.h"
#include "capture/unwind/unwind-kept.h"
#include "capture/unwind/unwind-seen.h"

/* The result of a continued walk. */
struct unwind_resumed {
	unsigned n_frames; /* the total, including the earlier ones */
	int end;           /* UNWIND_END_*; also UNWIND_END_TABLE, if there is no table yet */
	/* The next frame is after the end of the copy, which had the maximum size */
	bool ran_out;
};

/*
 * Continues the walk of PIECE, checked, into FRAMES, innermost first, including those of the piece.
 * STACK are its n_bytes bytes of stack. PROCESSES_FD (-1: none) is the map of the current mappings
 * of processes. Mappings that are in neither are looked for in SEEN (NULL: none).
 */
struct unwind_resumed unwind_resume(struct unwind_kept *tables, int processes_fd,
				    struct unwind_seen *seen, const struct rec_piece *piece,
				    const void *stack, uint64_t frames[static STACK_FRAMES_MAX]);

/*
 * Whether a walk that has ended as END (UNWIND_END_*) can lead farther at a later time: a table is
 * missing, or the mappings are unknown or were being changed.
 */
bool unwind_resume_can_improve(int end);

/*
 * Like unwind_resume(), by frame pointers alone, as stack_walk_frames() in bpf/stack.bpf.c. Returns
 * the number of frames.
 */
unsigned unwind_resume_frames(const struct rec_piece *piece, const void *stack,
			      uint64_t frames[static STACK_FRAMES_MAX]);
