/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Continues walks that a program could not finish because a table was still being made, or the
 * mappings were being changed. Uses the same tables, and the program's copy of the stack (struct
 * rec_piece).
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
	int end;           /* UNWIND_END_*; UNWIND_END_TABLE also if a table does not exist yet */
	/* The next frame is after the end of the copy, which had the maximum size */
	bool ran_out;
};

/*
 * Continues the walk of PIECE, which was checked, into FRAMES, innermost first, with the frames of
 * PIECE. STACK has its n_bytes bytes of stack. PROCESSES_FD (-1: none) is the map of the current
 * mappings of processes. Mappings that neither PIECE nor this map has are searched in SEEN (NULL:
 * none).
 */
struct unwind_resumed unwind_resume(struct unwind_kept *tables, int processes_fd,
				    struct unwind_seen *seen, const struct rec_piece *piece,
				    const void *stack, uint64_t frames[static STACK_FRAMES_MAX]);

/*
 * Whether a walk that has ended as END (UNWIND_END_*) may find more frames later: a table is
 * missing, or the mappings are unknown or were being changed.
 */
bool unwind_resume_can_improve(int end);

/*
 * Like unwind_resume(), by frame pointers alone, as stack_walk_frames() in bpf/stack.bpf.c. Returns
 * the number of frames.
 */
unsigned unwind_resume_frames(const struct rec_piece *piece, const void *stack,
			      uint64_t frames[static STACK_FRAMES_MAX]);
