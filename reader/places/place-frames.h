/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bounds of functions without symbols, from the unwind information of a file. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct places;

/*
 * Finds the bounds of the function at VADDR, with the padding behind it. If the file has no sorted
 * table of unwind information (.eh_frame_hdr), the bounds are those of the instructions around
 * VADDR with the same frame. Both bounds are the begin of an instruction. Returns false if the file
 * has no unwind information for VADDR.
 */
bool place_frames_bounds(struct places *p, uint64_t vaddr, uint64_t *ret_start, uint64_t *ret_end);
