/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-code.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const struct code_range *unwind_code_range_with(const struct unwind_code *c,
						       uint64_t address)
{
	size_t i = ARRAY_FIRST(k, 0, c->n_ranges, c->ranges[k].begin > address);

	return i > 0 && address < c->ranges[i - 1].end ? &c->ranges[i - 1] : NULL;
}

size_t unwind_code_index(const struct unwind_code *c, uint64_t address)
{
	const struct code_range *range = unwind_code_range_with(c, address);

	return range ? range->first + (size_t)(address - range->begin) : SIZE_MAX;
}

const struct code_range *unwind_code_range_at(const struct unwind_code *c, size_t index)
{
	size_t i = ARRAY_FIRST(k, 0, c->n_ranges, c->ranges[k].first > index);

	return &c->ranges[i - 1];
}

const struct code_range *unwind_code_range_after(const struct unwind_code *c, uint64_t address)
{
	size_t i = ARRAY_FIRST(k, 0, c->n_ranges, c->ranges[k].end > address);

	return c->marks && i < c->n_ranges ? &c->ranges[i] : NULL;
}

/* ---- instructions ---- */

static uint8_t unwind_code_flags(const struct code_instruction *i)
{
	return (i->is_padding ? CODE_STEP_PADDING : 0) | (i->is_syscall ? CODE_STEP_SYSCALL : 0) |
	       (i->has_slot ? CODE_STEP_SLOT : 0);
}

/* Returns true if I leads to code that is not in the ranges and never returns. */
static bool unwind_code_is_endless(const struct unwind_code *c, const struct code_instruction *i)
{
	if (i->kind == CODE_CALL || i->kind == CODE_JUMP)
		return unwind_endless_is_plt(&c->endless, c->elf, i->target);
	return (i->kind == CODE_GO || i->kind == CODE_CALL_BY) && i->has_slot &&
	       unwind_endless_has_slot(&c->endless, i->slot);
}

static struct code_step unwind_code_step(const struct unwind_code *c,
					 const struct code_range *range, size_t index,
					 const struct code_instruction *i)
{
	size_t next = index + i->length, target = SIZE_MAX;
	struct code_step s = {
		.index = (uint32_t)index,
		.target = UNWIND_CODE_NO_TARGET,
		.n = i->n,
		.length = i->length,
		.kind = i->kind,
		.effect = i->effect,
		.flags = unwind_code_flags(i),
	};

	if (next >= unwind_code_end(range))
		s.flags |= CODE_STEP_LAST;
	if (i->number >= 0 && i->effect == CODE_NONE) {
		s.flags |= CODE_STEP_NUMBER;
		s.n = i->number;
	}
	if (i->kind == CODE_CALL || i->kind == CODE_BRANCH || i->kind == CODE_JUMP)
		target = i->target >= range->begin && i->target < range->end
				 ? range->first + (size_t)(i->target - range->begin)
				 : unwind_code_index(c, i->target);
	if (target == SIZE_MAX) {
		s.flags |= unwind_code_is_endless(c, i) ? CODE_STEP_ENDLESS : 0;
	} else if (i->kind == CODE_CALL && target == next && !(s.flags & CODE_STEP_LAST)) {
		s.kind = CODE_PLAIN;
		s.effect = CODE_MOVE_SP;
		s.n = -8;
	} else {
		s.target = (uint32_t)target;
	}
	return s;
}

static const struct code_step *unwind_code_read_in(struct unwind_code *c,
						   const struct code_range *range, size_t index)
{
	size_t at = index - range->first;
	struct code_instruction i;

	if (!code_x86_read(range->code + at, range->end - range->begin - at, range->begin + at, &i))
		return NULL;
	if (GROW(c->steps, c->room_steps, c->n_steps + 1) < 0) {
		c->error = -ENOMEM;
		return NULL;
	}
	c->steps[c->n_steps] = unwind_code_step(c, range, index, &i);
	c->numbers[index] = (uint32_t)++c->n_steps;
	return &c->steps[c->n_steps - 1];
}

const struct code_step *unwind_code_read(struct unwind_code *c, size_t index)
{
	const struct code_step *s = unwind_code_step_at(c, index);

	return s ? s : unwind_code_read_in(c, unwind_code_range_at(c, index), index);
}

/* Decodes all instructions in RANGE. */
static void unwind_code_read_range(struct unwind_code *c, const struct code_range *range)
{
	size_t at = range->first, end = unwind_code_end(range);

	while (at < end && c->error == 0) {
		const struct code_step *s = unwind_code_read_in(c, range, at);

		if (s) {
			at += s->length;
			continue;
		}
		do
			at++;
		while (at < end && range->code[at - range->first] == 0);
	}
}

/* ---- returns ---- */

bool unwind_code_can_return(const struct unwind_code *c, const struct code_step *s)
{
	return s->target != UNWIND_CODE_NO_TARGET ? c->marks[s->target] & UNWIND_CODE_RETURNS
						  : !(s->flags & CODE_STEP_ENDLESS);
}

/*
 * Returns the marks of the target of S. A target that is not in the ranges counts as code that can
 * return, unless it is known never to return.
 */
static unsigned unwind_code_marks_after(const struct unwind_code *c, const struct code_step *s)
{
	if (s->target != UNWIND_CODE_NO_TARGET)
		return c->marks[s->target];
	return s->flags & CODE_STEP_ENDLESS ? 0 : UNWIND_CODE_RETURNS;
}

/* Returns the marks that S has by its successors, as far as is known. Only CODE_MARKS matter. */
static unsigned unwind_code_marks_of(const struct unwind_code *c, const struct code_step *s)
{
	unsigned marks = s->flags & CODE_STEP_LAST ? 0 : c->marks[s->index + s->length];

	switch (s->kind) {
	case CODE_RETURN:
		return UNWIND_CODE_RETURNS | UNWIND_CODE_CERTAIN;
	case CODE_END:
		return 0;
	case CODE_GO:
	case CODE_JUMP:
		return unwind_code_marks_after(c, s);
	case CODE_BRANCH:
		return marks | unwind_code_marks_after(c, s);
	case CODE_CALL:
	case CODE_CALL_BY:
		return marks & unwind_code_marks_after(c, s);
	}
	return marks;
}

enum { CODE_MARKS = UNWIND_CODE_RETURNS | UNWIND_CODE_CERTAIN };

/* The instructions whose marks must be updated, and for each instruction, the jumps to it. */
struct code_returns {
	uint32_t *work;         /* numbers of instructions */
	uint32_t *first, *more; /* the jumps to an instruction, as a list of numbers, plus 1 */
	size_t n_work, room_work;
};

/*
 * Updates the marks of the instruction with NUMBER. If they change, the instructions that lead to
 * it must be updated, too, and are added to the work.
 */
static int unwind_code_mark(struct unwind_code *c, struct code_returns *r, uint32_t number)
{
	const struct code_step *s = &c->steps[number], *before = number > 0 ? s - 1 : NULL;
	unsigned old = c->marks[s->index], marks = old | (unwind_code_marks_of(c, s) & CODE_MARKS);

	if (marks == old)
		return 0;
	c->marks[s->index] = (uint8_t)marks;
	for (uint32_t k = r->first[number]; k != 0; k = r->more[k - 1]) {
		if (GROW(r->work, r->room_work, r->n_work + 1) < 0)
			return -ENOMEM;
		r->work[r->n_work++] = k - 1;
	}
	if (before && before->index + before->length == s->index) {
		if (GROW(r->work, r->room_work, r->n_work + 1) < 0)
			return -ENOMEM;
		r->work[r->n_work++] = number - 1;
	}
	return 0;
}

static int unwind_code_mark_all(struct unwind_code *c, struct code_returns *r)
{
	int error = 0;

	r->first = calloc(2 * c->n_steps + 1, sizeof(r->first[0]));
	if (!r->first)
		return -ENOMEM;
	r->more = r->first + c->n_steps;
	for (size_t i = 0; i < c->n_steps; i++) {
		const struct code_step *s = &c->steps[i];
		uint32_t to = s->target != UNWIND_CODE_NO_TARGET ? c->numbers[s->target] : 0;

		if (to == 0)
			continue;
		r->more[i] = r->first[to - 1];
		r->first[to - 1] = (uint32_t)i + 1;
	}
	for (size_t i = c->n_steps; i-- > 0 && error == 0;) {
		error = unwind_code_mark(c, r, (uint32_t)i);
		while (error == 0 && r->n_work > 0)
			error = unwind_code_mark(c, r, r->work[--r->n_work]);
	}
	return error;
}

/*
 * Marks the instructions from which a return can be reached. A path continues after a call only if
 * the called function is known to return.
 */
static int unwind_code_find_returns(struct unwind_code *c)
{
	struct code_returns r = { 0 };

	for (size_t i = 0; i < c->n_ranges; i++)
		unwind_code_read_range(c, &c->ranges[i]);
	c->error = c->error ?: unwind_code_mark_all(c, &r);
	free(r.work);
	free(r.first);
	return c->error;
}

/* ---- symbols ---- */

size_t unwind_code_function(const struct unwind_code *c, size_t i, uint64_t *ret_size)
{
	const char *name;
	Elf64_Sym symbol;
	size_t index;

	/* The table may be unaligned, so the symbol is copied. */
	memcpy(&symbol, c->elf->symbols + i * sizeof(symbol), sizeof(symbol));
	*ret_size = symbol.st_size;
	if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
		return SIZE_MAX;
	index = unwind_code_index(c, symbol.st_value);
	if (index == SIZE_MAX || ELF64_ST_BIND(symbol.st_info) != STB_LOCAL)
		return index;
	name = unwind_elf_name(c->elf, symbol.st_name);
	return symbol.st_size == 0 || !name || strstr(name, ".cold") ? SIZE_MAX : index;
}

/* Marks the functions of the symbols. */
static void unwind_code_mark_symbols(struct unwind_code *c)
{
	uint64_t left = 4 * (uint64_t)c->n_bytes, size; /* symbols can overlap */

	for (size_t i = 0; i < c->elf->n_symbols; i++) {
		size_t at = unwind_code_function(c, i, &size), end;

		if (at == SIZE_MAX || size > left)
			continue;
		end = unwind_code_end(unwind_code_range_at(c, at));
		if (size < end - at)
			end = at + (size_t)size;
		left -= size;
		c->marks[at] |= UNWIND_CODE_BOUND;
		if (end < c->n_bytes)
			c->marks[end] |= UNWIND_CODE_BOUND;
		for (; at < end; at++)
			c->marks[at] |= UNWIND_CODE_BOUNDED;
	}
}

int unwind_code_init(struct unwind_code *c, const struct unwind_elf *elf, struct code_range *ranges,
		     size_t n)
{
	int r;

	*c = (struct unwind_code){ .elf = elf, .ranges = ranges, .n_ranges = n };
	for (size_t i = 0; i < n; i++) {
		ranges[i].first = c->n_bytes;
		c->n_bytes += ranges[i].end - ranges[i].begin;
	}
	if (c->n_bytes == 0 || c->n_bytes > UNWIND_CODE_BYTES_MAX)
		return 0;
	r = unwind_endless_find(&c->endless, elf);
	if (r < 0)
		return r;
	c->marks = calloc(c->n_bytes, sizeof(c->marks[0]));
	c->numbers = calloc(c->n_bytes, sizeof(c->numbers[0]));
	if (!c->marks || !c->numbers)
		return -ENOMEM;
	unwind_code_mark_symbols(c);
	return unwind_code_find_returns(c);
}

void unwind_code_deinit(struct unwind_code *c)
{
	unwind_endless_deinit(&c->endless);
	free(c->marks);
	free(c->steps);
	free(c->numbers);
	*c = (struct unwind_code){ 0 };
}
