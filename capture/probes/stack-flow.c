/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/stack-flow.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

enum {
	PASSES_MAX = 32,
	CALLEE_MAX = 1 << 16,  /* maximum number of bytes of one called function */
	CALLEES_DEEP = 4,      /* maximum number of functions that call each other */
	CALLEES_MAX = 1 << 21, /* maximum number of bytes of all called functions */
	REGISTER_BP = 5,
	/* Registers that calls leave unchanged: rbx, rbp and r12 to r15 */
	CALL_SAVED = 0xf028,
	/* Registers that have the result of a call: rax and rdx */
	CALL_RESULTS = 1 << 0 | 1 << 2,
};

size_t stack_flow_count_before(const struct stack_flow *f, uint64_t vaddr)
{
	size_t low = 0, high = f->n_starts;

	while (low < high) {
		size_t at = low + (high - low) / 2;

		if (f->starts[at] <= vaddr)
			low = at + 1;
		else
			high = at;
	}
	return low;
}

/* ---- called functions ---- */

/*
 * Returns the bytes from CALLEE to the next known function. NULL = no bytes, or too many were read.
 */
static const uint8_t *stack_flow_code(const struct stack_flow *f, uint64_t callee, size_t *ret_n)
{
	size_t after = stack_flow_count_before(f, callee);
	uint64_t offset;
	const uint8_t *p = elf_image_code(f->image, callee, ret_n, &offset);

	if (!p || f->n_read >= CALLEES_MAX)
		return NULL;
	if (after < f->n_starts && f->starts[after] - callee < *ret_n)
		*ret_n = f->starts[after] - callee;
	if (*ret_n > CALLEE_MAX)
		*ret_n = CALLEE_MAX;
	return p;
}

/* Returns true if nothing follows the instruction. */
static bool stack_flow_ends(uint8_t kind)
{
	return kind == INSTRUCTION_JUMP || kind == INSTRUCTION_RETURN || kind == INSTRUCTION_END;
}

/*
 * Returns which registers the function at CALLEE does not write. Compilers know which registers a
 * function of the same file writes, and keep values in other registers while they call it. The
 * function is read up to the last instruction that one of its jumps can reach. The functions that
 * it calls are read, too, to a depth of DEEP. If a part of the function is not known, the function
 * counts as writing all registers that calls may change.
 */
static uint16_t stack_flow_kept_by(struct stack_flow *f, uint64_t callee, int deep)
{
	uint16_t kept = (uint16_t)~CALL_RESULTS;
	size_t n, reached = 0;
	const uint8_t *p = deep > 0 ? stack_flow_code(f, callee, &n) : NULL;
	struct instruction i;

	for (size_t at = 0; p && at < n && kept & ~CALL_SAVED; at += i.length) {
		if (!disassembler_read(f->disassembler, p + at, n - at, callee + at, &i))
			return CALL_SAVED;
		f->n_read += i.length;
		kept &= (uint16_t)~i.written;
		if (i.kind == INSTRUCTION_CALL) {
			kept &= i.target ? stack_flow_kept_by(f, i.target, deep - 1) : CALL_SAVED;
		} else if (i.kind == INSTRUCTION_BRANCH || i.kind == INSTRUCTION_JUMP) {
			if (i.target < callee || i.target - callee >= n)
				return CALL_SAVED;
			if (i.target - callee > reached)
				reached = i.target - callee;
		}
		if (stack_flow_ends((uint8_t)i.kind) && at + i.length > reached)
			return kept | CALL_SAVED;
	}
	return CALL_SAVED;
}

/* ---- one instruction ---- */

/* Returns true if the N bytes at P are a nop, of any length. */
static bool stack_flow_is_padding(const uint8_t *p, size_t n)
{
	size_t at = 0;

	while (at < n && (p[at] == 0x66 || p[at] == 0x2e))
		at++;
	return (at + 1 == n && p[at] == 0x90) || (at + 2 < n && p[at] == 0x0f && p[at + 1] == 0x1f);
}

/* Appends the instruction, which is at P, AT bytes after the beginning of the code. */
static int stack_flow_add(struct stack_flow *f, const struct instruction *i, size_t at,
			  const uint8_t *p)
{
	bool jumps = i->kind == INSTRUCTION_JUMP || i->kind == INSTRUCTION_BRANCH;

	if (GROW(f->steps, f->room, f->n + 1) < 0)
		return -ENOMEM;
	f->steps[f->n++] = (struct stack_flow_step){
		.at = (uint32_t)at,
		.target = STACK_FLOW_NONE,
		.written = i->written,
		.kept = CALL_SAVED,
		.kind = (uint8_t)i->kind,
		.is_computed = jumps && !i->target,
		.is_padding = stack_flow_is_padding(p, i->length),
		.stack = i->stack,
		.callee = jumps || i->kind == INSTRUCTION_CALL ? i->target : 0,
	};
	return 0;
}

static struct stack_flow_step *stack_flow_find(struct stack_flow *f, uint64_t at)
{
	size_t low = 0, high = f->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->steps[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < f->n && f->steps[low].at == at ? &f->steps[low] : NULL;
}

/* Replaces the addresses of jumps by steps. */
static void stack_flow_link(struct stack_flow *f, uint64_t vaddr)
{
	for (size_t k = 0; k < f->n; k++) {
		struct stack_flow_step *step = &f->steps[k], *target;

		if (step->kind == INSTRUCTION_CALL || !step->callee || step->callee < vaddr)
			continue;
		target = stack_flow_find(f, step->callee - vaddr);
		if (!target)
			continue;
		step->target = (uint32_t)(target - f->steps);
		target->is_target = true;
	}
}

/* Returns the registers that can have an address of the own stack after STEP. */
static uint16_t stack_flow_after(struct stack_flow *f, struct stack_flow_step *step)
{
	const struct instruction_stack *stack = &step->stack;
	uint16_t own = step->own;
	bool is_own = stack->restores >= 0 && (stack->copy_of < 0 || own & 1U << stack->copy_of);

	if (f->reads_callees && step->callee && own & ~CALL_SAVED && !step->is_read &&
	    step->kind == INSTRUCTION_CALL) {
		step->kept = stack_flow_kept_by(f, step->callee, CALLEES_DEEP);
		step->is_read = true;
	}
	own &= (uint16_t)~step->written;
	if (step->kind == INSTRUCTION_CALL)
		own &= step->kept;
	if (is_own)
		own |= (uint16_t)(1U << stack->restores);
	if (stack->saved_to >= 0)
		own |= (uint16_t)(1U << stack->saved_to);
	return own;
}

/* ---- all instructions ---- */

/*
 * Returns true if the code continues another function: it uses memory below the frame pointer, but
 * has not set the frame pointer. Compilers move unlikely parts of functions away.
 */
static bool stack_flow_is_part(const struct stack_flow *f)
{
	for (size_t k = 0; k < f->n; k++) {
		if (f->steps[k].stack.uses_frame)
			return true;
		if (f->steps[k].written & 1U << REGISTER_BP)
			return false;
	}
	return false;
}

/*
 * Follows the code once. Returns whether a value has changed on which an earlier step depends.
 *
 * If code follows a jump or a return, and no known jump leads to it, that code is reached by
 * computed jumps, or by exceptions that calls throw. `loose` has the registers at all such places.
 * (Code to which a known jump leads can begin after padding.)
 */
static bool stack_flow_pass(struct stack_flow *f)
{
	uint16_t now = f->begin, loose = f->loose;
	bool again = false, ended = false;

	for (size_t k = 0; k < f->n; k++) {
		struct stack_flow_step *step = &f->steps[k];
		uint16_t after;

		if (ended) {
			now = step->is_target || step->is_padding ? 0 : f->loose;
			ended = step->is_padding && !step->is_target;
		}
		step->own |= now;
		after = stack_flow_after(f, step);
		if (step->target != STACK_FLOW_NONE) {
			struct stack_flow_step *target = &f->steps[step->target];

			again |= step->target <= k && after & ~target->own;
			target->own |= after;
		}
		if (step->kind == INSTRUCTION_CALL)
			f->loose |= after & CALL_SAVED;
		if (step->is_computed)
			f->loose |= after;
		ended |= stack_flow_ends(step->kind);
		now = after;
	}
	return again || f->loose != loose;
}

static void stack_flow_follow(struct stack_flow *f)
{
	for (int k = 0; k < PASSES_MAX && stack_flow_pass(f); k++)
		;
}

int stack_flow_read(struct stack_flow *f, const uint8_t *p, size_t n, uint64_t vaddr, bool is_begin)
{
	struct instruction i;
	int r = 0;

	f->n = 0;
	f->reads_callees = false;
	for (size_t at = 0; r == 0 && at < n; at += i.length) {
		if (!disassembler_read(f->disassembler, p + at, n - at, vaddr + at, &i))
			i = (struct instruction){
				.length = 1,
				.stack = { .saved_to = -1, .restores = -1, .copy_of = -1 }
			};
		r = stack_flow_add(f, &i, at, p + at);
	}
	if (r < 0)
		return r;
	stack_flow_link(f, vaddr);
	f->begin = is_begin && stack_flow_is_part(f) ? CALL_SAVED : 0;
	f->loose = f->begin;
	stack_flow_follow(f);
	return 0;
}

void stack_flow_read_callees(struct stack_flow *f)
{
	f->reads_callees = true;
	stack_flow_follow(f);
}

void stack_flow_deinit(struct stack_flow *f)
{
	free(f->steps);
	*f = (struct stack_flow){ 0 };
}
