/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/prologue.h"

size_t prologue_offset(struct disassembler *d, const uint8_t *p, size_t n)
{
	struct instruction i;

	if (n > PROLOGUE_BYTES)
		n = PROLOGUE_BYTES;
	for (size_t at = 0; at < n; at += i.length) {
		if (!disassembler_read(d, p + at, n - at, at, &i))
			return 0;
		/* (also a branch: until it is executed there has been one path) */
		if (i.emulated)
			return at;
		if (i.kind != INSTRUCTION_PLAIN || i.disturbs)
			return 0;
	}
	return 0;
}
