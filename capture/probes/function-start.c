/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/function-start.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * .eh_frame_hdr consists of a version and three encodings (four bytes), the address of .eh_frame,
 * the number of entries, and the sorted entries.
 */
enum {
	HEAD_VERSION = 1,
	HEAD_COUNT_U4 = 0x03,     /* DW_EH_PE_udata4 */
	HEAD_TABLE_SORTED = 0x3b, /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */
	HEAD_POINTER_S4 = 0x1b,   /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */
	HEAD_BYTES = 12,
	ENTRY_BYTES = 8,
};

enum { STARTS_MAX = 1 << 22 }; /* maximum per file; the others are left out */

struct function_start_search {
	uint64_t vaddr, begin, next;
	bool found, has_next;
};

static void function_start_consider(struct function_start_search *s, uint64_t begin)
{
	if (begin > s->vaddr && (!s->has_next || begin < s->next)) {
		s->next = begin;
		s->has_next = true;
	}
	if (begin > s->vaddr || (s->found && begin <= s->begin))
		return;
	s->begin = begin;
	s->found = true;
}

static int function_start_on_symbol(const char *name, size_t n, uint64_t vaddr, uint64_t bytes,
				    void *userdata)
{
	(void)name;
	(void)n;
	(void)bytes;
	function_start_consider(userdata, vaddr);
	return 0;
}

/* Returns the function in entry I of the table at P. The table is loaded at BASE. */
static uint64_t function_start_entry(const uint8_t *p, uint64_t base, size_t i)
{
	int32_t start;

	memcpy(&start, p + HEAD_BYTES + i * ENTRY_BYTES, sizeof(start));
	return base + (uint64_t)(int64_t)start;
}

/* Returns the number of entries of the table at P, of N bytes; 0 = the table has another form. */
static size_t function_start_count(const uint8_t *p, size_t n)
{
	uint32_t count;
	size_t max;

	if (n < HEAD_BYTES || p[0] != HEAD_VERSION || p[1] != HEAD_POINTER_S4 ||
	    p[2] != HEAD_COUNT_U4 || p[3] != HEAD_TABLE_SORTED)
		return 0;
	memcpy(&count, p + 8, sizeof(count));
	max = (n - HEAD_BYTES) / ENTRY_BYTES;
	return count < max ? count : max;
}

/*
 * Updates S with the last function at or before its address, and the function after it, from the
 * table of N bytes at P. The table is loaded at BASE.
 */
static void function_start_search_table(struct function_start_search *s, const uint8_t *p, size_t n,
					uint64_t base)
{
	size_t low = 0, end = function_start_count(p, n), high = end;

	while (low < high) {
		size_t at = low + (high - low) / 2;

		if (function_start_entry(p, base, at) <= s->vaddr)
			low = at + 1;
		else
			high = at;
	}
	if (low > 0)
		function_start_consider(s, function_start_entry(p, base, low - 1));
	if (low < end)
		function_start_consider(s, function_start_entry(p, base, low));
}

/*
 * Finds the next table of IMAGE, from segment *AT on. Returns its bytes and sets its address; NULL
 * = no table is left.
 */
static const uint8_t *function_start_table(const struct elf_image *image, size_t *at, size_t *ret_n,
					   uint64_t *ret_base)
{
	size_t n_segments;
	GElf_Phdr segment;

	if (elf_getphdrnum(image->elf, &n_segments) != 0)
		return NULL;
	while (*at < n_segments)
		if (gelf_getphdr(image->elf, (int)(*at)++, &segment) &&
		    segment.p_type == PT_GNU_EH_FRAME && segment.p_offset <= image->size &&
		    segment.p_filesz <= image->size - segment.p_offset) {
			*ret_n = segment.p_filesz;
			*ret_base = segment.p_vaddr;
			return image->data + segment.p_offset;
		}
	return NULL;
}

static void function_start_search_eh_frame(struct function_start_search *s,
					   const struct elf_image *image)
{
	const uint8_t *p;
	uint64_t base;
	size_t n;

	for (size_t at = 0; (p = function_start_table(image, &at, &n, &base));)
		function_start_search_table(s, p, n, base);
}

static void function_start_search(struct function_start_search *s, const struct elf_image *image)
{
	size_t n_symbols;

	function_start_search_eh_frame(s, image);
	elf_image_functions(image, function_start_on_symbol, s, &n_symbols);
}

bool function_start_before(const struct elf_image *image, uint64_t vaddr, uint64_t *ret)
{
	struct function_start_search s = { .vaddr = vaddr };

	function_start_search(&s, image);
	*ret = s.begin;
	return s.found;
}

bool function_start_after(const struct elf_image *image, uint64_t vaddr, uint64_t *ret)
{
	struct function_start_search s = { .vaddr = vaddr };

	function_start_search(&s, image);
	*ret = s.next;
	return s.has_next;
}

bool function_start_is(const struct elf_image *image, uint64_t vaddr)
{
	uint64_t begin;

	return function_start_before(image, vaddr, &begin) && begin == vaddr;
}

/* ---- all functions ---- */

struct function_starts {
	uint64_t *list;
	size_t n, room;
};

static int function_start_add(struct function_starts *to, uint64_t vaddr)
{
	if (to->n == STARTS_MAX)
		return 0;
	if (GROW(to->list, to->room, to->n + 1) < 0)
		return -ENOMEM;
	to->list[to->n++] = vaddr;
	return 0;
}

static int function_start_add_symbol(const char *name, size_t n, uint64_t vaddr, uint64_t bytes,
				     void *userdata)
{
	(void)name;
	(void)n;
	(void)bytes;
	return function_start_add(userdata, vaddr);
}

static int function_start_add_tables(const struct elf_image *image, struct function_starts *to)
{
	const uint8_t *p;
	uint64_t base;
	size_t n;
	int r = 0;

	for (size_t at = 0; (p = function_start_table(image, &at, &n, &base));) {
		size_t count = function_start_count(p, n);

		for (size_t i = 0; r == 0 && i < count; i++)
			r = function_start_add(to, function_start_entry(p, base, i));
	}
	return r;
}

DEFINE_ORDER(function_start_compare, uint64_t, COMPARE(*x, *y))

int function_start_list(const struct elf_image *image, uint64_t **ret, size_t *ret_n)
{
	struct function_starts starts = { 0 };
	size_t n_symbols;
	int r = function_start_add_tables(image, &starts)
			?: elf_image_functions(image, function_start_add_symbol, &starts,
					       &n_symbols)
			?: elf_image_labels(image, function_start_add_symbol, &starts);

	if (r < 0) {
		free(starts.list);
		return r;
	}
	SORT(starts.list, starts.n, function_start_compare);
	*ret = starts.list;
	*ret_n = starts.n;
	return 0;
}
