/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/function-start.h"

#include <string.h>

/* .eh_frame_hdr: four bytes, the address of .eh_frame, the number of entries, and these, sorted. */
enum {
	HEAD_VERSION = 1,
	HEAD_COUNT_U4 = 0x03,     /* DW_EH_PE_udata4 */
	HEAD_TABLE_SORTED = 0x3b, /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */
	HEAD_POINTER_S4 = 0x1b,   /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */
	HEAD_BYTES = 12,
	ENTRY_BYTES = 8,
};

static int function_start_compare(const char *name, size_t n, uint64_t vaddr, uint64_t bytes,
				  void *userdata)
{
	const uint64_t *wanted = userdata;

	(void)name;
	(void)n;
	(void)bytes;
	return vaddr == *wanted;
}

/* Whether an entry of the table at P, of N bytes, which is loaded to BASE, is of VADDR. */
static bool function_start_in_table(const uint8_t *p, size_t n, uint64_t base, uint64_t vaddr)
{
	uint32_t count;

	if (n < HEAD_BYTES || p[0] != HEAD_VERSION || p[1] != HEAD_POINTER_S4 ||
	    p[2] != HEAD_COUNT_U4 || p[3] != HEAD_TABLE_SORTED)
		return false;
	memcpy(&count, p + 8, sizeof(count));
	for (size_t i = 0; i < count && (i + 1) * ENTRY_BYTES <= n - HEAD_BYTES; i++) {
		int32_t start;

		memcpy(&start, p + HEAD_BYTES + i * ENTRY_BYTES, sizeof(start));
		if (base + (uint64_t)(int64_t)start == vaddr)
			return true;
	}
	return false;
}

bool function_start_is(const struct elf_image *image, uint64_t vaddr)
{
	size_t n_segments, n_symbols;

	if (elf_image_functions(image, function_start_compare, &vaddr, &n_symbols) != 0)
		return true;
	if (elf_getphdrnum(image->elf, &n_segments) != 0)
		return false;
	for (size_t i = 0; i < n_segments; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(image->elf, (int)i, &segment) ||
		    segment.p_type != PT_GNU_EH_FRAME || segment.p_offset > image->size ||
		    segment.p_filesz > image->size - segment.p_offset)
			continue;
		return function_start_in_table(image->data + segment.p_offset, segment.p_filesz,
					       segment.p_vaddr, vaddr);
	}
	return false;
}
