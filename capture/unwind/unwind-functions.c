/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-functions.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"

/* The most functions that are joined. Without a limit, most code of V8 would be joined. */
enum { JOINED_MAX = 64 };

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

/* The number of the N bytes of CODE without the padding at the end. */
static size_t unwind_functions_unpadded(const uint8_t *code, size_t n)
{
	while (n > 0 && (code[n - 1] == 0x90 || code[n - 1] == 0xcc))
		n--;
	return n;
}

/*
 * Returns true if the N bytes of CODE have a ret at the end, or after an instruction that a ret
 * often follows. (Instructions have no known boundaries here.)
 */
static bool unwind_functions_returns(const uint8_t *code, size_t n)
{
	size_t end = unwind_functions_unpadded(code, n);

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

static bool unwind_functions_are_bare(const uint8_t *code, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (unwind_functions_sets_pointer(code + i, n - i))
			return false;
	return unwind_functions_returns(code, n);
}

/* Returns true if the N bytes of CODE begin with push %rbp; mov %rsp, %rbp, also after endbr64. */
static bool unwind_functions_begin_framed(const uint8_t *code, size_t n)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t starts[][4] = { { 0x55, 0x48, 0x89, 0xe5 },
					     { 0x55, 0x48, 0x8b, 0xec } };

	if (n >= sizeof(endbr64) && memcmp(code, endbr64, sizeof(endbr64)) == 0) {
		code += sizeof(endbr64);
		n -= sizeof(endbr64);
	}
	return n >= sizeof(starts[0]) && (memcmp(code, starts[0], sizeof(starts[0])) == 0 ||
					  memcmp(code, starts[1], sizeof(starts[1])) == 0);
}

/* ---- jumps ---- */

/*
 * The length of the jump at CODE, of which N bytes are left; 0 = no jump. *RET is the distance from
 * its end to its target.
 */
static size_t unwind_functions_read_jump(const uint8_t *code, size_t n, int32_t *ret)
{
	size_t opcode_bytes = 0;

	if (n >= 5 && code[0] == 0xe9)
		opcode_bytes = 1;
	else if (n >= 6 && code[0] == 0x0f && (code[1] & 0xf0) == 0x80)
		opcode_bytes = 2;
	if (opcode_bytes > 0) {
		memcpy(ret, code + opcode_bytes, sizeof(*ret));
		return opcode_bytes + sizeof(*ret);
	}
	if (n < 2 || (code[0] != 0xeb && (code[0] & 0xf0) != 0x70))
		return 0;
	*ret = (int8_t)code[1];
	return 2;
}

/* The first function that F[I] is joined with. */
static uint32_t unwind_functions_first(struct unwind_function *f, uint32_t i)
{
	while (f[i].joined != i) {
		f[i].joined = f[f[i].joined].joined;
		i = f[i].joined;
	}
	return i;
}

static void unwind_functions_join(struct unwind_function *f, uint32_t a, uint32_t b)
{
	uint32_t first, other;

	a = unwind_functions_first(f, a);
	b = unwind_functions_first(f, b);
	first = a < b ? a : b;
	other = a < b ? b : a;
	if (first == other || f[first].n_joined + f[other].n_joined > JOINED_MAX)
		return;
	f[first].n_joined += f[other].n_joined;
	f[other].joined = first;
}

/*
 * Joins F[I] of the N functions, with CODE, with those that it jumps to. Any byte may look like a
 * jump. A jump of two bytes has a short way, so it must lead to the first byte of a function, or be
 * the last instruction.
 */
static void unwind_functions_join_targets(struct unwind_function *f, size_t n, uint32_t i,
					  const uint8_t *code)
{
	size_t n_bytes = f[i].end - f[i].begin, end = unwind_functions_unpadded(code, n_bytes);

	for (size_t k = 0; k < n_bytes; k++) {
		int32_t distance;
		size_t length = unwind_functions_read_jump(code + k, n_bytes - k, &distance), next;
		uint64_t target = f[i].begin + k + length + (uint64_t)(int64_t)distance;

		if (length == 0 || target - f[i].begin < n_bytes || target < f[0].begin ||
		    target >= f[n - 1].end)
			continue;
		next = ARRAY_FIRST(j, 0, n, f[j].begin > target);
		if (next > 0 && target < f[next - 1].end &&
		    (length > 2 || target == f[next - 1].begin || k + length == end))
			unwind_functions_join(f, i, (uint32_t)next - 1);
	}
}

static const uint8_t *unwind_functions_code(const struct unwind_elf *elf,
					    const struct unwind_function *function)
{
	const struct unwind_segment *segment = unwind_functions_segment(elf, function->begin);
	uint64_t n = function->end - function->begin;

	/*
	 * The segment is checked again: functions that overlap count as one, and can be in segments
	 * that overlap.
	 */
	if (!segment || n > segment->size - (function->begin - segment->address))
		return NULL;
	return elf->data + segment->offset + (function->begin - segment->address);
}

void unwind_functions_judge(const struct unwind_elf *elf, struct unwind_function *f, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint8_t *code = unwind_functions_code(elf, &f[i]);

		f[i].has_bare = false;
		f[i].is_bare = code && unwind_functions_are_bare(code, f[i].end - f[i].begin);
		f[i].is_framed = code && unwind_functions_begin_framed(code, f[i].end - f[i].begin);
		f[i].joined = (uint32_t)i;
		f[i].n_joined = 1;
	}
	for (size_t i = 0; i < n; i++) {
		const uint8_t *code = unwind_functions_code(elf, &f[i]);

		if (code)
			unwind_functions_join_targets(f, n, (uint32_t)i, code);
	}
	for (size_t i = 0; i < n; i++) {
		f[i].joined = unwind_functions_first(f, (uint32_t)i);
		f[f[i].joined].has_bare |= f[i].is_bare;
	}
	for (size_t i = 0; i < n; i++)
		f[i].has_bare = f[f[i].joined].has_bare;
}
