/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-functions.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"

/* ---- symbols ---- */

static const struct unwind_segment *unwind_functions_segment(const struct unwind_elf *elf,
							     uint64_t address)
{
	for (uint32_t i = 0; i < elf->n_segments; i++)
		if (address - elf->segments[i].address < elf->segments[i].size)
			return &elf->segments[i];
	return NULL;
}

DEFINE_ORDER(unwind_functions_by_address, struct unwind_function,
	     COMPARE(x->begin, y->begin) ?: COMPARE(x->end, y->end))

/* Merges the N functions at F that overlap. Returns their new number. */
static size_t unwind_functions_merge(struct unwind_function *f, size_t n)
{
	size_t to = 0;

	for (size_t i = 0; i < n; i++) {
		if (to > 0 && f[i].begin < f[to - 1].end) {
			if (f[to - 1].end < f[i].end)
				f[to - 1].end = f[i].end;
		} else {
			f[to++] = f[i];
		}
	}
	return to;
}

int unwind_functions_find(const struct unwind_elf *elf, size_t max,
			  bool (*is_wanted)(uint64_t address, const void *userdata),
			  const void *userdata, struct unwind_function **ret, size_t *ret_n)
{
	size_t room = 0, n = 0;

	*ret = NULL;
	*ret_n = 0;
	for (size_t i = 0; i < elf->n_symbols && n < max; i++) {
		const struct unwind_segment *segment;
		Elf64_Sym symbol;
		uint64_t left;

		/* The table may be unaligned, so the symbol is copied. */
		memcpy(&symbol, elf->symbols + i * sizeof(symbol), sizeof(symbol));
		segment = unwind_functions_segment(elf, symbol.st_value);
		if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0 ||
		    symbol.st_shndx == SHN_UNDEF || !segment ||
		    !is_wanted(symbol.st_value, userdata))
			continue;
		left = segment->size - (symbol.st_value - segment->address);
		if (GROW(*ret, room, n + 1) < 0)
			return -ENOMEM;
		(*ret)[n++] = (struct unwind_function){
			.begin = symbol.st_value,
			.end = symbol.st_value + (symbol.st_size < left ? symbol.st_size : left),
		};
	}
	SORT(*ret, n, unwind_functions_by_address);
	*ret_n = unwind_functions_merge(*ret, n);
	return 0;
}

/* ---- code ---- */

/*
 * Returns true if the instruction before the N-th byte of CODE seems to restore registers or the
 * stack.
 */
static bool unwind_functions_restores(const uint8_t *code, size_t n)
{
	static const uint8_t add[] = { 0x48, 0x83, 0xc4 }; /* add $N, %rsp */

	if (n > 0 && code[n - 1] >= 0x58 && code[n - 1] <= 0x5f) /* pop */
		return true;
	return n > sizeof(add) && memcmp(code + n - sizeof(add) - 1, add, sizeof(add)) == 0;
}

/*
 * Returns true if the N bytes of CODE have a ret at the end, or after an instruction that a ret
 * often follows. (Instructions have no known boundaries here.)
 */
static bool unwind_functions_returns(const uint8_t *code, size_t n)
{
	size_t end = n;

	while (end > 0 && (code[end - 1] == 0x90 || code[end - 1] == 0xcc)) /* padding */
		end--;
	if (end >= 1 && code[end - 1] == 0xc3)
		return true;
	if (end >= 3 && code[end - 3] == 0xc2) /* ret $N */
		return true;
	for (size_t i = 0; i < n; i++)
		if (code[i] == 0xc3 && unwind_functions_restores(code, i))
			return true;
	return false;
}

/* Returns true if an instruction at CODE, of which N bytes are left, can set the frame pointer. */
static bool unwind_functions_sets_pointer(const uint8_t *code, size_t n)
{
	static const uint8_t starts[][3] = {
		{ 0x48, 0x89, 0xe5 }, /* mov %rsp, %rbp */
		{ 0x48, 0x8b, 0xec }, /* likewise */
		{ 0x48, 0x8d, 0x2c }, /* lea (%rsp), %rbp */
		{ 0x48, 0x8d, 0x6c }, /* lea N(%rsp), %rbp */
		{ 0x48, 0x8d, 0xac }, /* likewise */
	};

	if (n >= 4 && code[0] == 0xc8 && code[3] == 0) /* enter */
		return true;
	for (size_t i = 0; n >= 3 && i < sizeof(starts) / sizeof(starts[0]); i++)
		if (memcmp(code, starts[i], 3) == 0)
			return true;
	return n >= 2 && code[0] == 0x54 && code[1] == 0x5d; /* push %rsp; pop %rbp */
}

bool unwind_function_is_bare(const struct unwind_elf *elf, const struct unwind_function *function)
{
	const struct unwind_segment *segment = unwind_functions_segment(elf, function->begin);
	size_t n = function->end - function->begin;
	const uint8_t *code;

	/*
	 * The segment is checked again: functions that overlap count as one, and can be in segments
	 * that overlap.
	 */
	if (!segment || n > segment->size - (function->begin - segment->address))
		return false;
	code = elf->data + segment->offset + (function->begin - segment->address);
	for (size_t i = 0; i < n; i++)
		if (unwind_functions_sets_pointer(code + i, n - i))
			return false;
	return unwind_functions_returns(code, n);
}
