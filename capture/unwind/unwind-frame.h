/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frame of a function at one instruction, as far as the instructions before it show.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/unwind/unwind-code-x86.h"

/* Distances below the CFA, in words; 0 = unknown. */
struct unwind_frame {
	uint32_t sp;    /* of SP */
	uint32_t bp;    /* of BP; UNWIND_FRAME_CALLER = BP has the value of the caller */
	uint32_t saved; /* of the word with the caller's BP */
	bool is_entry;  /* a thread begins here */
};

enum {
	UNWIND_FRAME_BITS = 20,
	UNWIND_FRAME_CALLER = (1 << UNWIND_FRAME_BITS) - 1,
};

/* The frame at the first instruction of a function. */
extern const struct unwind_frame unwind_frame_of_function;

/* A frame in one word, with flags. */
#define UNWIND_STATE_REACHED (UINT64_C(1) << 63)
#define UNWIND_STATE_BEGIN   (UINT64_C(1) << 62) /* a function begins here, also if not reached */
#define UNWIND_STATE_ENTRY   (UINT64_C(1) << 61) /* `is_entry` */
#define UNWIND_STATE_FRESH   (UINT64_C(1) << 60) /* reached by the current run */
#define UNWIND_STATE_FRAME   (UNWIND_STATE_FRESH - 1)

/* Returns the state of S, with UNWIND_STATE_REACHED. */
uint64_t unwind_frame_pack(const struct unwind_frame *s);
struct unwind_frame unwind_frame_unpack(uint64_t state);

/* Changes S as an instruction with EFFECT does. N is `n` of struct code_instruction. */
void unwind_frame_apply(struct unwind_frame *s, enum code_effect effect, int32_t n);

/* Returns the equal parts of the states A and B, with the flags of A. */
uint64_t unwind_frame_meet(uint64_t a, uint64_t b);

/* Returns true if a function with S can return, or jump to another one. */
bool unwind_frame_is_function(const struct unwind_frame *s);
bool unwind_frame_is_same(uint64_t state, const struct unwind_frame *s);

/* Returns the rule (UNWIND_RULE()) at an instruction with STATE. */
uint32_t unwind_frame_rule(uint64_t state);
