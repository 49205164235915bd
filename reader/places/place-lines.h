/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the code of source lines, and the source line of an address.
 */
#pragma once

#include "reader/places/places.h"
#include "reader/symbols/dwarf-info.h"

enum { PLACE_LINE_ADDRESSES_MAX = 256 };

struct place_line {
	char file[512];                            /* the file's name in the debug information */
	uint64_t vaddrs[PLACE_LINE_ADDRESSES_MAX]; /* sorted */
	size_t n;
};

/*
 * Finds the addresses of line LINE in FILE (a path, or its last components): one in each function,
 * and one for each inlined copy. For the first line of a function, the address is behind the setup
 * of the stack frame, so that variables are in their places. Returns 0, or one of these with a
 * sentence in WHY: -ENOENT (no such file, or no code at that line; the sentence names the nearest
 * lines), -ENODATA (no debug information), -E2BIG (several files match, or there are too many
 * addresses).
 */
int place_lines_find(struct places *p, const char *file, uint32_t line, struct place_line *ret,
		     char *why, size_t size);

/* Finds the functions at VADDR, like dwarf_info_find(). */
size_t place_lines_at(struct places *p, uint64_t vaddr, struct dwarf_frame *frames, size_t n);
