/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run follows the code from one address, with an assumption about its frame, and stores the
 * state of each instruction that it reaches. The assumption is proven if a return, or code whose
 * state is known, agrees: a return finds its address on top of the stack, and the frame pointer of
 * the caller. If anything contradicts, the run is discarded.
 *
 * A function that is called, or that other files see, is known to begin with a return address on
 * top of the stack. Other code gets two assumptions: that it is a function, or that the last jump
 * to an address in a register leads there (the cases of a switch).
 */
#include "capture/unwind/unwind-flow.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "capture/unwind/unwind-frame.h"

enum { STEPS_PER_BYTE = 16, PASSES_MAX = 32 };

/* Marks of instructions, in addition to UNWIND_CODE_*. */
enum {
	/* A path from a known state leads here without a call that may never return. */
	UNWIND_FLOW_SURE = UNWIND_CODE_FREE,
	UNWIND_FLOW_PROVEN = UNWIND_CODE_FREE << 1, /* a path from here confirms the state */
};

static void unwind_flow_push(struct unwind_flow *f, size_t **list, size_t *n, size_t *room,
			     size_t index)
{
	if (f->error || GROW(*list, *room, *n + 1) < 0) {
		f->error = -ENOMEM;
		return;
	}
	(*list)[(*n)++] = index;
}

/* ---- a run ---- */

/*
 * Forgets the states from INDEX on: this code can be entered in different states, so none is
 * certain.
 */
static void unwind_flow_taint(struct unwind_flow *f, size_t index)
{
	f->n_work = 0;
	unwind_flow_push(f, &f->work, &f->n_work, &f->room_work, index);
	while (f->n_work > 0 && !f->error) {
		size_t at = f->work[--f->n_work], next[2] = { SIZE_MAX, SIZE_MAX };
		const struct code_step *i;

		if (!(f->states[at] & UNWIND_STATE_REACHED) ||
		    !(f->states[at] & (UNWIND_STATE_FRAME | UNWIND_STATE_ENTRY)))
			continue;
		f->states[at] &= ~(UNWIND_STATE_FRAME | UNWIND_STATE_ENTRY);
		i = unwind_code_read(&f->code, at);
		if (!i)
			continue;
		if ((i->kind == CODE_BRANCH || i->kind == CODE_JUMP) &&
		    i->target != UNWIND_CODE_NO_TARGET)
			next[0] = i->target;
		if (i->kind <= CODE_CALL_BY && i->kind != CODE_JUMP && i->kind != CODE_GO &&
		    !(i->flags & CODE_STEP_LAST))
			next[1] = at + i->length;
		for (int k = 0; k < 2; k++)
			if (next[k] != SIZE_MAX && !(f->states[next[k]] & UNWIND_STATE_BEGIN))
				unwind_flow_push(f, &f->work, &f->n_work, &f->room_work, next[k]);
	}
	f->n_work = 0;
}

/* Checks state S at the end of a function: at a return, or at a jump to another function. */
static void unwind_flow_end(struct unwind_flow *f, const struct unwind_frame *s)
{
	if (!s->is_entry && !unwind_frame_is_function(s) &&
	    (s->sp > 1 || (s->bp != 0 && s->bp != UNWIND_FRAME_CALLER)))
		f->is_wrong = true;
}

enum unwind_flow_way { UNWIND_FLOW_BY_JUMP, UNWIND_FLOW_BY_NEXT, UNWIND_FLOW_AFTER_CALL };

/* Notes that a path reaches INDEX in state S. SURE is UNWIND_FLOW_SURE or 0. */
static void unwind_flow_reach(struct unwind_flow *f, size_t index, const struct unwind_frame *s,
			      enum unwind_flow_way way, unsigned sure)
{
	uint64_t state, old;

	if (index == SIZE_MAX)
		return;
	/* Another function begins after the call, so the called function does not return. */
	if (way == UNWIND_FLOW_AFTER_CALL &&
	    (f->code.marks[index] & UNWIND_CODE_BOUND || f->states[index] & UNWIND_STATE_BEGIN))
		return;
	f->has_unsure |= sure == 0;
	state = unwind_frame_pack(s);
	old = f->states[index];
	if (old & UNWIND_STATE_BEGIN && !(old & UNWIND_STATE_FRESH)) {
		/*
		 * (a function with known bounds may put arguments on the stack before it jumps
		 * there)
		 */
		if (!f->is_bounded)
			unwind_flow_end(f, s);
		return;
	}
	if (!(old & UNWIND_STATE_REACHED)) {
		f->states[index] = state | UNWIND_STATE_FRESH | (old & UNWIND_STATE_BEGIN);
		f->code.marks[index] |= sure;
		unwind_flow_push(f, &f->fresh, &f->n_fresh, &f->room_fresh, index);
		unwind_flow_push(f, &f->work, &f->n_work, &f->room_work, index);
	} else if (old & UNWIND_STATE_FRESH) {
		state = unwind_frame_meet(old, state);
		if (state == old && (f->code.marks[index] & sure) == sure)
			return;
		f->states[index] = state;
		f->code.marks[index] |= sure;
		unwind_flow_push(f, &f->work, &f->n_work, &f->room_work, index);
	} else if (((old ^ state) & (UNWIND_STATE_FRAME | UNWIND_STATE_ENTRY)) != 0) {
		f->is_wrong = true;
	}
}

/*
 * Whether system call NUMBER is rt_sigreturn, which returns from a signal handler, or clone, fork,
 * vfork or clone3, after which the stack can be another one.
 */
static bool unwind_flow_is_special_call(int32_t number)
{
	return number == 15 || (number >= 56 && number <= 58) || number == 435;
}

/* Whether INDEX is in padding up to an aligned address. */
static bool unwind_flow_is_at_padding(struct unwind_flow *f, size_t index)
{
	const struct code_range *range = unwind_code_range_at(&f->code, index);
	const struct code_step *i;
	size_t at = index;

	while (at < unwind_code_end(range) && (i = unwind_code_read(&f->code, at)) &&
	       i->flags & CODE_STEP_PADDING)
		at += i->length;
	return at > index && (range->begin + (at - range->first)) % 16 == 0;
}

/* Whether the path ends at the call I, after which the state would be S. */
static bool unwind_flow_ends_at_call(struct unwind_flow *f, const struct code_step *i,
				     const struct unwind_frame *s)
{
	bool has_frame = s->bp != 0 && s->bp != UNWIND_FRAME_CALLER && s->saved != 0;

	if (f->stops_at_padding && !(i->flags & CODE_STEP_LAST) &&
	    unwind_flow_is_at_padding(f, i->index + i->length))
		return true;
	if (!unwind_code_can_return(&f->code, i))
		return true;
	/*
	 * At a call, the stack is aligned, except perhaps if the called function is in this code.
	 */
	if (s->sp % 2 == 0 || has_frame || (f->is_sure && i->target != UNWIND_CODE_NO_TARGET))
		return false;
	f->is_wrong |= !f->is_sure;
	return true;
}

/* Follows one instruction at INDEX. Returns the index of the next one, or SIZE_MAX. */
static size_t unwind_flow_step(struct unwind_flow *f, size_t index, int32_t *number)
{
	struct unwind_frame s = unwind_frame_unpack(f->states[index]);
	const struct code_step *read = unwind_code_read(&f->code, index);
	uint32_t before = s.sp;
	size_t next, target;
	unsigned sure = f->code.marks[index] & UNWIND_FLOW_SURE;
	struct code_step i;
	bool is_call;

	if (!read) {
		f->is_wrong = true;
		return SIZE_MAX;
	}
	i = *read;
	next = i.flags & CODE_STEP_LAST ? SIZE_MAX : index + i.length;
	target = i.target != UNWIND_CODE_NO_TARGET ? i.target : SIZE_MAX;
	is_call = i.kind == CODE_CALL || i.kind == CODE_CALL_BY;
	unwind_frame_apply(&s, i.effect, i.n);
	/*
	 * A function does not take its own return address off the stack, so the assumption is
	 * wrong.
	 */
	if (before != 0 && s.sp == 0 && (i.effect == CODE_MOVE_SP || i.effect == CODE_POP_BP) &&
	    !f->is_sure)
		f->is_wrong = true;
	if (is_call)
		*number = -1;
	else if (i.flags & CODE_STEP_NUMBER)
		*number = i.n;
	if (i.flags & CODE_STEP_SYSCALL && unwind_flow_is_special_call(*number)) {
		f->states[index] &= ~UNWIND_STATE_FRAME;
		return SIZE_MAX;
	}
	switch (i.kind) {
	case CODE_CALL:
		if (target != SIZE_MAX)
			unwind_flow_push(f, &f->begins, &f->n_begins, &f->room_begins, target);
		break;
	case CODE_BRANCH:
	case CODE_JUMP:
		unwind_flow_reach(f, target, &s, UNWIND_FLOW_BY_JUMP, sure);
		break;
	case CODE_RETURN:
		unwind_flow_end(f, &s);
		break;
	}
	if (i.kind == CODE_JUMP || i.kind == CODE_GO || i.kind == CODE_RETURN || i.kind == CODE_END)
		return SIZE_MAX;
	if (is_call && unwind_flow_ends_at_call(f, &i, &s))
		return SIZE_MAX;
	if (is_call && f->loses_sp)
		s.sp = 0;
	if (is_call && !f->is_bounded &&
	    (target == SIZE_MAX || !(f->code.marks[target] & UNWIND_CODE_CERTAIN)))
		sure = 0;
	unwind_flow_reach(f, next, &s, is_call ? UNWIND_FLOW_AFTER_CALL : UNWIND_FLOW_BY_NEXT,
			  sure);
	return next;
}

static void unwind_flow_forget(struct unwind_flow *f, size_t index)
{
	f->states[index] &= UNWIND_STATE_BEGIN;
	f->code.marks[index] &= (uint8_t) ~(UNWIND_FLOW_SURE | UNWIND_FLOW_PROVEN);
}

static void unwind_flow_forget_fresh(struct unwind_flow *f)
{
	for (size_t k = 0; k < f->n_fresh; k++)
		unwind_flow_forget(f, f->fresh[k]);
	f->n_fresh = 0;
}

/*
 * Whether AFTER, the state after an instruction of the run, agrees with the proven state of INDEX,
 * where the code continues. By a jump (JUMPS), a function can also end at the beginning of another
 * function.
 */
static bool unwind_flow_agrees(const struct unwind_flow *f, size_t index,
			       const struct unwind_frame *after, bool jumps)
{
	uint64_t state = index != SIZE_MAX ? f->states[index] : 0;

	if (state & UNWIND_STATE_FRESH)
		return f->code.marks[index] & UNWIND_FLOW_PROVEN &&
		       unwind_frame_is_same(state, after);
	if (state & UNWIND_STATE_BEGIN)
		return jumps && unwind_frame_is_function(after);
	return state & UNWIND_STATE_REACHED && unwind_frame_is_same(state, after);
}

/* Whether a path from INDEX, which the run has reached, confirms the state of INDEX. */
static bool unwind_flow_is_proven(const struct unwind_flow *f, size_t index)
{
	const struct code_step *i = unwind_code_step_at(&f->code, index);
	struct unwind_frame s = unwind_frame_unpack(f->states[index]);
	size_t next, target;

	if (!i)
		return false;
	unwind_frame_apply(&s, i->effect, i->n);
	if (i->kind == CODE_RETURN || (i->kind == CODE_GO && i->flags & CODE_STEP_SLOT))
		return unwind_frame_is_function(&s);
	if (i->kind == CODE_END || i->kind == CODE_GO)
		return false;
	target = i->target != UNWIND_CODE_NO_TARGET ? i->target : SIZE_MAX;
	/*
	 * A branch for values that the compiler knows to be impossible can lead to any function. So
	 * a branch to another function does not prove that the stack is empty.
	 */
	if (i->kind == CODE_JUMP ||
	    (i->kind == CODE_BRANCH && target != SIZE_MAX &&
	     (f->states[target] & UNWIND_STATE_FRESH || !unwind_frame_is_function(&s))))
		if (unwind_flow_agrees(f, target, &s, true))
			return true;
	if (i->kind == CODE_JUMP || i->flags & CODE_STEP_LAST)
		return false;
	next = index + i->length;
	if (i->kind == CODE_CALL || i->kind == CODE_CALL_BY)
		return unwind_code_can_return(&f->code, i) &&
		       f->states[next] & UNWIND_STATE_FRESH &&
		       unwind_flow_agrees(f, next, &s, false);
	return unwind_flow_agrees(f, next, &s, false);
}

/* Marks the states of the run that are proven. */
static void unwind_flow_prove(struct unwind_flow *f)
{
	bool is_new = true;

	for (int k = 0; k < PASSES_MAX && is_new; k++) {
		is_new = false;
		for (size_t i = f->n_fresh; i-- > 0;) {
			size_t index = f->fresh[i];

			if (!(f->code.marks[index] & UNWIND_FLOW_PROVEN) &&
			    unwind_flow_is_proven(f, index)) {
				f->code.marks[index] |= UNWIND_FLOW_PROVEN;
				is_new = true;
			}
		}
	}
}

/* Keeps the states of the run that are sure or proven, and forgets the others. */
static void unwind_flow_keep_fresh(struct unwind_flow *f)
{
	for (size_t k = 0; k < f->n_fresh; k++) {
		size_t index = f->fresh[k];

		if (f->code.marks[index] & (UNWIND_FLOW_SURE | UNWIND_FLOW_PROVEN))
			f->states[index] &= ~UNWIND_STATE_FRESH;
		else
			unwind_flow_forget(f, index);
	}
	f->n_fresh = 0;
}

static void unwind_flow_follow(struct unwind_flow *f, size_t index, const struct unwind_frame *s)
{
	size_t next = SIZE_MAX;
	int32_t number = -1;

	f->n_work = 0;
	f->is_wrong = false;
	f->has_unsure = !f->is_sure;
	f->states[index] |= unwind_frame_pack(s) | UNWIND_STATE_FRESH;
	if (f->is_sure)
		f->code.marks[index] |= UNWIND_FLOW_SURE;
	unwind_flow_push(f, &f->fresh, &f->n_fresh, &f->room_fresh, index);
	unwind_flow_push(f, &f->work, &f->n_work, &f->room_work, index);
	while (f->n_work > 0 && !f->error && !f->is_wrong) {
		if (f->steps == 0) {
			f->is_wrong = true;
			return;
		}
		f->steps--;
		index = f->work[--f->n_work];
		if (index != next)
			number = -1;
		next = unwind_flow_step(f, index, &number);
	}
}

static bool unwind_flow_begins_framed(const struct unwind_flow *f, size_t index)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t starts[][4] = { { 0x55, 0x48, 0x89, 0xe5 },
					     { 0x55, 0x48, 0x8b, 0xec } };
	const struct code_range *range = unwind_code_range_at(&f->code, index);
	size_t at = index - range->first, n = range->end - range->begin - at;
	const uint8_t *p = range->code + at;

	if (n >= sizeof(endbr64) && memcmp(p, endbr64, sizeof(endbr64)) == 0) {
		p += sizeof(endbr64);
		n -= sizeof(endbr64);
	}
	return n >= 4 && (memcmp(p, starts[0], 4) == 0 || memcmp(p, starts[1], 4) == 0);
}

/*
 * Runs from INDEX in state S. IS_SURE says that the state is known; otherwise it must be proven.
 * Returns true if the states are kept.
 */
static bool unwind_flow_run(struct unwind_flow *f, size_t index, const struct unwind_frame *s,
			    bool is_sure)
{
	size_t n_begins = f->n_begins;
	bool is_kept = false;

	f->is_bounded = is_sure && f->code.marks[index] & UNWIND_CODE_BOUNDED;
	f->is_framed = f->is_bounded && unwind_flow_begins_framed(f, index);
	for (int k = 0; k < (f->is_framed ? 3 : 2) && !is_kept && !f->error; k++) {
		f->n_begins = n_begins;
		f->n_fresh = 0;
		f->stops_at_padding = k == 1;
		f->loses_sp = k == 2;
		f->is_sure = is_sure;
		unwind_flow_follow(f, index, s);
		if (!f->is_wrong && f->has_unsure)
			unwind_flow_prove(f);
		is_kept = !f->is_wrong && (is_sure || f->code.marks[index] & UNWIND_FLOW_PROVEN);
		if (!is_kept)
			unwind_flow_forget_fresh(f);
		if (!f->is_wrong)
			break;
	}
	unwind_flow_keep_fresh(f);
	if (!is_kept)
		f->n_begins = n_begins;
	return is_kept;
}

/* ---- all code ---- */

/* Runs from all functions that are known. */
static void unwind_flow_run_begins(struct unwind_flow *f)
{
	while (f->n_begins > 0 && !f->error) {
		size_t index = f->begins[--f->n_begins];
		uint64_t state = f->states[index];

		if (state & UNWIND_STATE_REACHED) {
			if (!(state & UNWIND_STATE_BEGIN) &&
			    (state & UNWIND_STATE_FRAME) !=
				    (unwind_frame_pack(&unwind_frame_of_function) &
				     UNWIND_STATE_FRAME))
				unwind_flow_taint(f, index);
			f->states[index] |= UNWIND_STATE_BEGIN;
			continue;
		}
		f->states[index] |= UNWIND_STATE_BEGIN;
		if (!unwind_flow_run(f, index, &unwind_frame_of_function, true))
			f->states[index] |= UNWIND_STATE_REACHED;
	}
}

/* Runs from INDEX, which can be a function or another place. */
static bool unwind_flow_try(struct unwind_flow *f, size_t index, const struct unwind_frame *other)
{
	bool is_kept;

	if (f->states[index] & UNWIND_STATE_REACHED)
		return true;
	is_kept = unwind_flow_run(f, index, &unwind_frame_of_function,
				  unwind_flow_begins_framed(f, index));
	if (is_kept)
		f->states[index] |= UNWIND_STATE_BEGIN;
	else if (other->sp != 0 && !unwind_frame_is_function(other))
		is_kept = unwind_flow_run(f, index, other, false);
	unwind_flow_run_begins(f);
	return is_kept;
}

/*
 * Tries the code that no run has reached, at each place to which the instruction before it does not
 * continue.
 */
static void unwind_flow_sweep(struct unwind_flow *f, const struct code_range *range)
{
	size_t at = range->first, end = unwind_code_end(range);
	struct unwind_frame other = { 0 };
	bool is_boundary = true;

	while (at < end && !f->error && f->steps > 0) {
		const struct code_step *read;
		struct code_step i;

		if (is_boundary && range->code[at - range->first] == 0) {
			at++; /* (zeros are padding) */
			continue;
		}
		read = unwind_code_read(&f->code, at);
		if (!read) {
			at++;
			is_boundary = false;
			continue;
		}
		i = *read;
		if (is_boundary && !(i.flags & CODE_STEP_PADDING) &&
		    !(f->states[at] & UNWIND_STATE_REACHED))
			unwind_flow_try(f, at, &other);
		if (f->states[at] & UNWIND_STATE_BEGIN)
			other.sp = 0;
		if (i.kind == CODE_GO && f->states[at] & UNWIND_STATE_REACHED)
			other = unwind_frame_unpack(f->states[at]);
		at += i.length;
		is_boundary = i.kind == CODE_JUMP || i.kind == CODE_GO || i.kind == CODE_RETURN ||
			      i.kind == CODE_END || (is_boundary && i.flags & CODE_STEP_PADDING);
	}
}

/* Puts the functions of the symbols into the list of known functions. */
static void unwind_flow_add_symbols(struct unwind_flow *f, const struct unwind_elf *elf)
{
	uint64_t size;

	for (size_t i = 0; i < elf->n_symbols; i++) {
		size_t index = unwind_code_function(&f->code, i, &size);

		if (index == SIZE_MAX)
			continue;
		/* (so no run takes this place for a part of another function) */
		f->states[index] |= UNWIND_STATE_BEGIN;
		unwind_flow_push(f, &f->begins, &f->n_begins, &f->room_begins, index);
	}
}

static void unwind_flow_run_entry(struct unwind_flow *f, const struct unwind_elf *elf)
{
	static const struct unwind_frame entry = { .is_entry = true };
	Elf64_Ehdr header;
	size_t index;

	memcpy(&header, elf->data, sizeof(header));
	index = unwind_code_index(&f->code, header.e_entry);
	if (index == SIZE_MAX)
		return;
	f->states[index] |= UNWIND_STATE_BEGIN;
	if (!unwind_flow_run(f, index, &entry, true))
		f->states[index] |= UNWIND_STATE_REACHED;
}

int unwind_flow_init(struct unwind_flow *f, const struct unwind_elf *elf, struct code_range *ranges,
		     size_t n)
{
	int r;

	*f = (struct unwind_flow){ 0 };
	r = unwind_code_init(&f->code, elf, ranges, n);
	if (r < 0 || !f->code.marks)
		return r;
	f->steps = STEPS_PER_BYTE * (uint64_t)f->code.n_bytes;
	f->states = calloc(f->code.n_bytes, sizeof(f->states[0]));
	if (!f->states)
		return -ENOMEM;
	unwind_flow_run_entry(f, elf);
	unwind_flow_add_symbols(f, elf);
	unwind_flow_run_begins(f);
	for (size_t i = 0; i < n; i++)
		unwind_flow_sweep(f, &ranges[i]);
	return f->error ?: f->code.error;
}

void unwind_flow_deinit(struct unwind_flow *f)
{
	unwind_code_deinit(&f->code);
	free(f->states);
	free(f->work);
	free(f->fresh);
	free(f->begins);
	*f = (struct unwind_flow){ 0 };
}

/* ---- rules ---- */

int unwind_flow_list(const struct unwind_flow *f, uint64_t begin, uint64_t end,
		     int (*on_rule)(uint64_t address, uint32_t rule, void *userdata),
		     void *userdata)
{
	const uint32_t unproven = UNWIND_RULE(UNWIND_UNPROVEN, 0, 0);
	const struct code_range *range = unwind_code_range_after(&f->code, begin);
	const struct code_range *last_range = f->code.ranges + f->code.n_ranges;
	uint32_t last = unproven;
	int r = on_rule(begin, last, userdata);

	for (uint64_t at = begin, next; r == 0 && at < end && range; at = next) {
		uint32_t rule = unproven;

		if (at < range->begin) {
			next = range->begin;
		} else {
			size_t index = range->first + (size_t)(at - range->begin);
			const struct code_step *i = unwind_code_step_at(&f->code, index);
			uint64_t state = f->states[index];

			rule = unwind_frame_rule(state);
			next = at + (state & UNWIND_STATE_REACHED && i ? i->length : 1);
		}
		if (rule != last)
			r = on_rule(at, rule, userdata);
		last = rule;
		while (range && next >= range->end)
			range = range + 1 < last_range ? range + 1 : NULL;
	}
	return r;
}
