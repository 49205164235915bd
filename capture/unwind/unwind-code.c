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

bool unwind_code_decode(const struct code_range *range, size_t index, struct code_instruction *ret)
{
	size_t at = index - range->first;

	return code_x86_read(range->code + at, range->end - range->begin - at, range->begin + at,
			     ret);
}

bool unwind_code_can_return(const struct unwind_code *c, const struct code_instruction *i,
			    size_t target)
{
	if (i->kind == CODE_CALL_BY)
		return !i->has_slot || !unwind_endless_has_slot(&c->endless, i->slot);
	return target != SIZE_MAX ? c->marks[target] & UNWIND_CODE_RETURNS
				  : !unwind_endless_is_plt(&c->endless, c->elf, i->target);
}

/* An instruction, as far as it concerns returns. */
struct code_step {
	uint32_t index, target; /* NO_TARGET: not in the ranges */
	uint8_t length, kind;
	/* The marks of the code elsewhere that it calls, or to which it jumps. */
	uint8_t elsewhere;
};

enum { NO_TARGET = UINT32_MAX };

/* Returns the marks of the place to which S jumps. */
static unsigned unwind_code_marks_after(const struct unwind_code *c, const struct code_step *s)
{
	return s->target != NO_TARGET ? c->marks[s->target] : s->elsewhere;
}

/* Returns the marks, UNWIND_CODE_RETURNS and UNWIND_CODE_CERTAIN, of S, as far as is known. */
static unsigned unwind_code_marks_of(const struct unwind_code *c, const struct code_step *s)
{
	size_t next = s->index + s->length;
	unsigned marks = next < c->n_bytes ? c->marks[next] : 0;

	switch (s->kind) {
	case CODE_RETURN:
		return UNWIND_CODE_RETURNS | UNWIND_CODE_CERTAIN;
	case CODE_END:
		return 0;
	case CODE_GO:
		return s->elsewhere;
	case CODE_JUMP:
		return unwind_code_marks_after(c, s);
	case CODE_BRANCH:
		return marks | unwind_code_marks_after(c, s);
	case CODE_CALL:
	case CODE_CALL_BY:
		return s->target == next ? marks : marks & unwind_code_marks_after(c, s);
	}
	return marks;
}

static struct code_step unwind_code_step(const struct unwind_code *c, size_t index,
					 const struct code_instruction *i)
{
	struct code_step s = {
		.index = (uint32_t)index, .target = NO_TARGET, .length = i->length, .kind = i->kind
	};
	size_t target = SIZE_MAX;

	if (i->kind == CODE_CALL || i->kind == CODE_BRANCH || i->kind == CODE_JUMP)
		target = unwind_code_index(c, i->target);
	if (target != SIZE_MAX)
		s.target = (uint32_t)target;
	else if (i->kind == CODE_CALL || i->kind == CODE_JUMP)
		s.elsewhere = unwind_endless_is_plt(&c->endless, c->elf, i->target)
				      ? 0
				      : UNWIND_CODE_RETURNS;
	else if (i->kind == CODE_GO || i->kind == CODE_CALL_BY)
		s.elsewhere = i->has_slot && unwind_endless_has_slot(&c->endless, i->slot)
				      ? 0
				      : UNWIND_CODE_RETURNS;
	else
		s.elsewhere = UNWIND_CODE_RETURNS;
	return s;
}

struct code_steps {
	struct code_step *steps; /* owned */
	size_t n, room;
};

/* Finds the instructions in RANGE. */
static int unwind_code_read_range(const struct unwind_code *c, const struct code_range *range,
				  struct code_steps *to)
{
	size_t at = range->first, end = unwind_code_end(range);
	struct code_instruction i;

	while (at < end) {
		if (unwind_code_decode(range, at, &i)) {
			if (GROW(to->steps, to->room, to->n + 1) < 0)
				return -ENOMEM;
			to->steps[to->n++] = unwind_code_step(c, at, &i);
			/* (what follows in the next range does not follow this one) */
			if (at + i.length >= end && i.kind <= CODE_BRANCH)
				to->steps[to->n - 1].kind = CODE_END;
			at += i.length;
			continue;
		}
		do
			at++;
		while (at < end && range->code[at - range->first] == 0);
	}
	return 0;
}

static bool unwind_code_mark_returns(struct unwind_code *c, const struct code_steps *steps)
{
	const unsigned all = UNWIND_CODE_RETURNS | UNWIND_CODE_CERTAIN;
	bool is_new = false;

	for (size_t i = steps->n; i-- > 0;) {
		const struct code_step *s = &steps->steps[i];
		unsigned old = c->marks[s->index], marks;

		if ((old & all) == all)
			continue;
		marks = old | (unwind_code_marks_of(c, s) & all);
		is_new |= marks != old;
		c->marks[s->index] = (uint8_t)marks;
	}
	return is_new;
}

/*
 * Marks the code that can return. Each pass finds more: a call leads on only if its function is
 * known to return.
 */
static int unwind_code_find_returns(struct unwind_code *c)
{
	struct code_steps steps = { 0 };
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->n_ranges; i++)
		r = unwind_code_read_range(c, &c->ranges[i], &steps);
	for (int k = 0; r == 0 && k < UNWIND_CODE_PASSES_MAX; k++)
		if (!unwind_code_mark_returns(c, &steps))
			break;
	free(steps.steps);
	return r;
}

/* ---- symbols ---- */

size_t unwind_code_function(const struct unwind_code *c, size_t i, uint64_t *ret_size)
{
	const char *name;
	Elf64_Sym symbol;

	/* The table may be unaligned, so the symbol is copied. */
	memcpy(&symbol, c->elf->symbols + i * sizeof(symbol), sizeof(symbol));
	*ret_size = symbol.st_size;
	if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
		return SIZE_MAX;
	name = unwind_elf_name(c->elf, symbol.st_name);
	if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL &&
	    (symbol.st_size == 0 || !name || strstr(name, ".cold")))
		return SIZE_MAX;
	return unwind_code_index(c, symbol.st_value);
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
	if (!c->marks)
		return -ENOMEM;
	unwind_code_mark_symbols(c);
	return unwind_code_find_returns(c);
}

void unwind_code_deinit(struct unwind_code *c)
{
	unwind_endless_deinit(&c->endless);
	free(c->marks);
	*c = (struct unwind_code){ 0 };
}
