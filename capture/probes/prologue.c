/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/prologue.h"

#include "capture/probes/function-walk.h"

size_t prologue_offset(struct disassembler *d, const uint8_t *p, size_t n)
{
	struct instruction i;

	if (n > PROLOGUE_BYTES)
		n = PROLOGUE_BYTES;
	for (size_t at = 0; at < n; at += i.length) {
		if (!disassembler_read(d, p + at, n - at, at, &i))
			return 0;
		/* A branch is allowed here, since only one path leads to it. */
		if (i.emulated)
			return at;
		if (i.kind != INSTRUCTION_PLAIN || i.disturbs)
			return 0;
	}
	return 0;
}

int prologue_find(const struct elf_image *image, struct disassembler *d, uint64_t vaddr,
		  uint64_t *ret)
{
	struct function_walk walk = { .image = image, .disassembler = d };
	uint64_t offset;
	size_t n, at;
	int r;
	const uint8_t *p = elf_image_code(image, vaddr, &n, &offset);

	*ret = vaddr;
	at = p && d ? prologue_offset(d, p, n) : 0;
	if (at == 0)
		return 0;
	/*
	 * In a loop, each iteration would have the cost of the probe. So no jump may lead to this
	 * place, or to one before it.
	 */
	walk.watch = vaddr + 1;
	walk.watch_to = vaddr + at;
	r = function_walk(&walk, vaddr);
	if (r == 0 && !walk.watched)
		*ret = vaddr + at;
	return r;
}
