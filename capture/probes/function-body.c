/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/function-body.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/probes/function-start.h"

/* The body of a function: N bytes of code at P, loaded at VADDR, and where its parts begin. */
struct function_body {
	const uint8_t *p;
	uint64_t vaddr;
	size_t n;
	uint8_t *targets; /* 1 for each byte to which a branch or jump of the body leads; owned */
	/* Registers that hold a sum with an address in the body; a bit for each register. */
	uint16_t inside;
};

static bool function_body_has(const struct function_body *b, uint64_t vaddr)
{
	return vaddr >= b->vaddr && vaddr - b->vaddr < b->n;
}

/* Returns the instruction at offset AT. Bytes between the parts may be no instructions. */
static struct instruction function_body_read(struct disassembler *d, const struct function_body *b,
					     size_t at)
{
	struct instruction i;

	if (!disassembler_read(d, b->p + at, b->n - at, b->vaddr + at, &i))
		i = (struct instruction){ .length = 1,
					  .kind = INSTRUCTION_END,
					  .sum = { -1, -1, -1, -1, -1 } };
	return i;
}

static bool function_body_is_inside(const struct function_body *b, int8_t reg)
{
	return reg >= 0 && b->inside >> reg & 1;
}

/* Returns true if I is a jump or branch that may leave the body. */
static bool function_body_leaves(const struct function_body *b, const struct instruction *i)
{
	if (i->target)
		return !function_body_has(b, i->target);
	return i->kind == INSTRUCTION_JUMP && !function_body_is_inside(b, i->sum.jump);
}

/* Follows instruction I. Returns false if it is a call, or a jump that may leave the body. */
static bool function_body_follow(struct function_body *b, const struct instruction *i)
{
	bool adds = function_body_is_inside(b, i->sum.of);

	if (i->kind == INSTRUCTION_CALL || function_body_leaves(b, i))
		return false;
	b->inside &= (uint16_t)~i->written;
	if (i->sum.loses >= 0)
		b->inside &= (uint16_t) ~(1U << i->sum.loses);
	if (i->sum.address_to >= 0 && function_body_has(b, i->address))
		b->inside |= (uint16_t)(1U << i->sum.address_to);
	if (adds && i->sum.to >= 0)
		b->inside |= (uint16_t)(1U << i->sum.to);
	if (i->kind != INSTRUCTION_PLAIN && i->kind != INSTRUCTION_BRANCH)
		b->inside = 0;
	return true;
}

int function_body_stays(const struct elf_image *image, struct disassembler *d, uint64_t bytes_max,
			uint64_t vaddr)
{
	uint64_t end, offset;
	struct function_body b = { .vaddr = vaddr };
	struct instruction i;
	bool stays = true;

	b.p = elf_image_code(image, vaddr, &b.n, &offset);
	if (!b.p || !function_start_after(image, vaddr, &end) || end - vaddr > b.n ||
	    end - vaddr > bytes_max)
		return 0;
	b.n = end - vaddr;
	b.targets = calloc(b.n + 1, 1);
	if (!b.targets)
		return -ENOMEM;
	for (size_t at = 0; at < b.n; at += i.length) {
		i = function_body_read(d, &b, at);
		if (i.target && function_body_has(&b, i.target))
			b.targets[i.target - vaddr] = 1;
	}
	for (size_t at = 0; stays && at < b.n; at += i.length) {
		i = function_body_read(d, &b, at);
		if (b.targets[at])
			b.inside = 0;
		stays = function_body_follow(&b, &i);
	}
	free(b.targets);
	return stays;
}
