/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/places/place-frames.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "reader/places/places-parts.h"

/* The form of .eh_frame_hdr that linkers write: 12 bytes, and then the sorted entries. */
enum {
	FRAMES_HEAD_BYTES = 12,
	FRAMES_ENTRY_BYTES = 8,
};

static const uint8_t frames_head[] = { 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
				       DW_EH_PE_datarel | DW_EH_PE_sdata4 };

/* Finds the table in ELF. *RET_BASE is the address to which its entries are relative, *RET_N their
 * number. Returns NULL if there is no table. */
static const uint8_t *frames_table(Elf *elf, uint64_t *ret_base, size_t *ret_n)
{
	size_t n_segments, room;
	GElf_Phdr segment;
	const uint8_t *p;
	Elf_Data *data;
	uint32_t count;

	if (elf_getphdrnum(elf, &n_segments) != 0)
		return NULL;
	for (size_t i = 0; i < n_segments; i++) {
		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_GNU_EH_FRAME ||
		    segment.p_filesz < FRAMES_HEAD_BYTES)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)segment.p_offset, segment.p_filesz,
					    ELF_T_BYTE);
		if (!data || !data->d_buf || data->d_size < FRAMES_HEAD_BYTES)
			continue;
		p = data->d_buf;
		if (memcmp(p, frames_head, sizeof(frames_head)) != 0)
			continue;
		memcpy(&count, p + 8, sizeof(count));
		room = (data->d_size - FRAMES_HEAD_BYTES) / FRAMES_ENTRY_BYTES;
		*ret_base = segment.p_vaddr;
		*ret_n = count < room ? count : room;
		return p + FRAMES_HEAD_BYTES;
	}
	return NULL;
}

/* Finds the begin of the last function at or before VADDR (*RET_START), and that of the next
 * function. Returns false if there is none. */
static bool frames_search(Elf *elf, uint64_t vaddr, uint64_t *ret_start, uint64_t *ret_next)
{
	uint64_t base = 0;
	size_t n = 0, low = 0, high;
	const uint8_t *table = frames_table(elf, &base, &n);

	*ret_next = UINT64_MAX;
	for (high = table ? n : 0; low < high;) {
		size_t at = low + (high - low) / 2;
		int32_t distance;
		uint64_t start;

		memcpy(&distance, table + at * FRAMES_ENTRY_BYTES, sizeof(distance));
		start = base + (uint64_t)(int64_t)distance;
		if (start <= vaddr) {
			*ret_start = start;
			low = at + 1;
		} else {
			*ret_next = start;
			high = at;
		}
	}
	return low > 0;
}

/* Finds the bounds of the instructions around VADDR that have the same row of unwind information.
 * Returns false if there are none. */
static bool frames_row(struct places *p, uint64_t vaddr, uint64_t *ret_start, uint64_t *ret_end)
{
	Dwarf_Addr start = 0, end = 0;
	Dwarf_Frame *frame;

	if (!p->frames || dwarf_cfi_addrframe(p->frames, vaddr, &frame) != 0)
		return false;
	dwarf_frame_info(frame, &start, &end, NULL);
	free(frame);
	*ret_start = start;
	*ret_end = end;
	return start <= vaddr && vaddr < end;
}

bool place_frames_bounds(struct places *p, uint64_t vaddr, uint64_t *ret_start, uint64_t *ret_end)
{
	uint64_t start, next;

	if (!frames_row(p, vaddr, ret_start, ret_end))
		return false;
	if (frames_search(p->main.elf->elf, vaddr, &start, &next)) {
		*ret_start = start;
		if (next != UINT64_MAX)
			*ret_end = next;
	}
	return true;
}
