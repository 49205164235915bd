/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-frame.h"

#include "bpf/record-unwind.h"

const struct unwind_frame unwind_frame_of_function = { .sp = 1, .bp = UNWIND_FRAME_CALLER };

uint64_t unwind_frame_pack(const struct unwind_frame *s)
{
	return (uint64_t)s->sp | (uint64_t)s->bp << UNWIND_FRAME_BITS |
	       (uint64_t)s->saved << 2 * UNWIND_FRAME_BITS |
	       (s->is_entry ? UNWIND_STATE_ENTRY : 0) | UNWIND_STATE_REACHED;
}

struct unwind_frame unwind_frame_unpack(uint64_t state)
{
	return (struct unwind_frame){
		.sp = state & UNWIND_FRAME_CALLER,
		.bp = state >> UNWIND_FRAME_BITS & UNWIND_FRAME_CALLER,
		.saved = state >> 2 * UNWIND_FRAME_BITS & UNWIND_FRAME_CALLER,
		.is_entry = state & UNWIND_STATE_ENTRY,
	};
}

/* Returns the distance FROM after a move up the stack by N bytes; 0 = unknown. */
static uint32_t unwind_frame_move(uint32_t from, int64_t n)
{
	int64_t words = (int64_t)from - n / 8;

	return from == 0 || n % 8 != 0 || words <= 0 || words >= UNWIND_FRAME_CALLER
		       ? 0
		       : (uint32_t)words;
}

/* Loads BP from the word that is WORDS below the CFA. */
static void unwind_frame_load_bp(struct unwind_frame *s, uint32_t words)
{
	bool is_saved = words != 0 && words == s->saved;

	s->bp = is_saved ? UNWIND_FRAME_CALLER : 0;
}

static void unwind_frame_store_bp(struct unwind_frame *s, uint32_t words)
{
	if (s->bp == UNWIND_FRAME_CALLER && words != 0)
		s->saved = words;
	else if (words == s->saved || words == 0)
		s->saved = 0;
}

static void unwind_frame_leave(struct unwind_frame *s)
{
	uint32_t words = s->bp == UNWIND_FRAME_CALLER ? 0 : s->bp;

	unwind_frame_load_bp(s, words);
	s->sp = unwind_frame_move(words, 8);
}

void unwind_frame_apply(struct unwind_frame *s, enum code_effect effect, int32_t n)
{
	uint32_t frame = s->bp == UNWIND_FRAME_CALLER ? 0 : s->bp;

	switch (effect) {
	case CODE_NONE:
		break;
	case CODE_MOVE_SP:
		s->sp = unwind_frame_move(s->sp, n);
		break;
	case CODE_PUSH_BP:
		s->sp = unwind_frame_move(s->sp, -8);
		unwind_frame_store_bp(s, s->sp);
		break;
	case CODE_POP_BP:
		unwind_frame_load_bp(s, s->sp);
		s->sp = unwind_frame_move(s->sp, 8);
		break;
	case CODE_STORE_BP:
		unwind_frame_store_bp(s, unwind_frame_move(s->sp, n));
		break;
	case CODE_LOAD_BP:
		unwind_frame_load_bp(s, unwind_frame_move(s->sp, n));
		break;
	case CODE_LOAD_BP_AT_BP:
		unwind_frame_load_bp(s, unwind_frame_move(frame, n));
		break;
	case CODE_BP_FROM_SP:
		s->bp = unwind_frame_move(s->sp, n);
		break;
	case CODE_SP_FROM_BP:
		s->sp = unwind_frame_move(frame, n);
		break;
	case CODE_LEAVE:
		unwind_frame_leave(s);
		break;
	case CODE_LOSE_BOTH:
		s->sp = s->bp = 0;
		break;
	case CODE_LOSE_SP:
		s->sp = 0;
		break;
	case CODE_LOSE_BP:
		s->bp = 0;
		break;
	}
	/* Words below the stack pointer can be overwritten, so BP is no longer saved there. */
	if (s->sp != 0 && s->saved > s->sp)
		s->saved = 0;
}

uint64_t unwind_frame_meet(uint64_t a, uint64_t b)
{
	struct unwind_frame x = unwind_frame_unpack(a), y = unwind_frame_unpack(b);

	if (x.sp != y.sp)
		x.sp = 0;
	if (x.bp != y.bp)
		x.bp = 0;
	if (x.saved != y.saved)
		x.saved = 0;
	x.is_entry &= y.is_entry;
	return unwind_frame_pack(&x) | (a & (UNWIND_STATE_BEGIN | UNWIND_STATE_FRESH));
}

bool unwind_frame_is_function(const struct unwind_frame *s)
{
	return s->sp == 1 && s->bp == UNWIND_FRAME_CALLER;
}

bool unwind_frame_is_same(uint64_t state, const struct unwind_frame *s)
{
	return ((state ^ unwind_frame_pack(s)) & (UNWIND_STATE_FRAME | UNWIND_STATE_ENTRY)) == 0;
}

uint32_t unwind_frame_rule(uint64_t state)
{
	const uint32_t unproven = UNWIND_RULE(UNWIND_UNPROVEN, 0, 0);
	struct unwind_frame s = unwind_frame_unpack(state);
	uint32_t saved = s.saved != 0 ? s.saved : UNWIND_BP_SAME;

	if (!(state & UNWIND_STATE_REACHED))
		return unproven;
	if (s.is_entry)
		return UNWIND_RULE(UNWIND_END, 0, 0);
	if (saved >= UNWIND_BP_AT_BP || (s.bp != UNWIND_FRAME_CALLER && saved == 0))
		return unproven;
	if (s.bp != 0 && s.bp != UNWIND_FRAME_CALLER && s.bp <= INT16_MAX)
		return UNWIND_RULE(UNWIND_CODE_BP, saved, s.bp);
	if (s.sp != 0 && s.sp <= INT16_MAX)
		return UNWIND_RULE(UNWIND_CODE_SP, saved, s.sp);
	return unproven;
}
