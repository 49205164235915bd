/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Continues walks that an eBPF program could not finish because a table was still being made, or
 * the mappings were being changed. Uses the same tables, and the eBPF program's copy of the stack
 * (struct rec_piece).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record.h"
#include "capture/unwind/unwind-kept.h"
#include "capture/unwind/unwind-seen.h"

/* The result of a walk that was continued. */
struct unwind_resumed {
	unsigned n_frames; /* number of all frames, including the frames of the piece */
	int end;           /* UNWIND_END_*; UNWIND_END_TABLE also if a table does not exist yet */
	/* The next frame is beyond the end of the copy, which had the maximum size */
	bool ran_out;
};

/*
 * Continues the walk of PIECE, which was checked, and writes all frames to FRAMES, innermost first,
 * including the frames of PIECE. STACK is its copied stack, of n_bytes bytes. PROCESSES_FD (-1 = no
 * map) is the map of the current mappings of processes. If neither PIECE nor this map has the
 * mapping of an address, the mapping is searched in SEEN (can be NULL).
 */
struct unwind_resumed unwind_resume(struct unwind_kept *tables, int processes_fd,
				    struct unwind_seen *seen, const struct rec_piece *piece,
				    const void *stack, uint64_t frames[static STACK_FRAMES_MAX]);

/*
 * Returns true if a walk that has ended with END (UNWIND_END_*) may find more frames later: a table
 * is missing, or the mappings are unknown or were being changed.
 */
bool unwind_resume_can_improve(int end);

/*
 * Like unwind_resume(), but only by frame pointers, as stack_walk_frames() in bpf/stack.bpf.c does
 * it. Returns the number of frames.
 */
unsigned unwind_resume_frames(const struct rec_piece *piece, const void *stack,
			      uint64_t frames[static STACK_FRAMES_MAX]);
