/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/function-start.h"

#include <string.h>

/*
 * .eh_frame_hdr: four bytes, the address of .eh_frame, the number of entries, and the sorted
 * entries.
 */
enum {
	HEAD_VERSION = 1,
	HEAD_COUNT_U4 = 0x03,     /* DW_EH_PE_udata4 */
	HEAD_TABLE_SORTED = 0x3b, /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */
	HEAD_POINTER_S4 = 0x1b,   /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */
	HEAD_BYTES = 12,
	ENTRY_BYTES = 8,
};

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

/* The function in entry I of the table at P, which is loaded at BASE. */
static uint64_t function_start_entry(const uint8_t *p, uint64_t base, size_t i)
{
	int32_t start;

	memcpy(&start, p + HEAD_BYTES + i * ENTRY_BYTES, sizeof(start));
	return base + (uint64_t)(int64_t)start;
}

/*
 * Takes the last function at or before the address, and the next one, from the table at P, of N
 * bytes, which is loaded at BASE.
 */
static void function_start_search_table(struct function_start_search *s, const uint8_t *p, size_t n,
					uint64_t base)
{
	uint32_t count;
	size_t low = 0, high, end;

	if (n < HEAD_BYTES || p[0] != HEAD_VERSION || p[1] != HEAD_POINTER_S4 ||
	    p[2] != HEAD_COUNT_U4 || p[3] != HEAD_TABLE_SORTED)
		return;
	memcpy(&count, p + 8, sizeof(count));
	high = (n - HEAD_BYTES) / ENTRY_BYTES;
	if (count < high)
		high = count;
	end = high;
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

static void function_start_search_eh_frame(struct function_start_search *s,
					   const struct elf_image *image)
{
	size_t n_segments;
	GElf_Phdr segment;

	if (elf_getphdrnum(image->elf, &n_segments) != 0)
		return;
	for (size_t i = 0; i < n_segments; i++)
		if (gelf_getphdr(image->elf, (int)i, &segment) &&
		    segment.p_type == PT_GNU_EH_FRAME && segment.p_offset <= image->size &&
		    segment.p_filesz <= image->size - segment.p_offset)
			function_start_search_table(s, image->data + segment.p_offset,
						    segment.p_filesz, segment.p_vaddr);
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
