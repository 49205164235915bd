/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/probe-semaphore.h"

#include <string.h>

#include "base/usdt-note.h"

/*
 * Returns the file offset of the two bytes that are loaded at VADDR, in a writable segment; 0 = no
 * such bytes.
 */
static uint64_t probe_semaphore_offset(const struct elf_image *image, uint64_t vaddr)
{
	GElf_Phdr header;
	size_t n;

	if (elf_getphdrnum(image->elf, &n) != 0)
		return 0;
	for (size_t i = 0; i < n && gelf_getphdr(image->elf, (int)i, &header); i++) {
		uint64_t at = vaddr - header.p_vaddr;

		if (header.p_type == PT_LOAD && header.p_flags & PF_W && vaddr >= header.p_vaddr &&
		    header.p_filesz >= sizeof(uint16_t) && at <= header.p_filesz - sizeof(uint16_t))
			return header.p_offset + at;
	}
	return 0;
}

uint64_t probe_semaphore_find(const struct elf_image *image, uint64_t vaddr)
{
	GElf_Shdr base = { 0 };
	Elf_Scn *notes = elf_image_section(image, ".note.stapsdt", &(GElf_Shdr){ 0 });
	Elf_Data *data = notes ? elf_rawdata(notes, NULL) : NULL;
	struct usdt_note note;
	size_t at = 0;

	if (!data || !data->d_buf)
		return 0;
	if (!elf_image_section(image, ".stapsdt.base", &base))
		base.sh_addr = 0;
	while (usdt_note_next(data->d_buf, data->d_size, &at, &note) > 0)
		if (note.semaphore && usdt_note_vaddr(&note, note.vaddr, base.sh_addr) == vaddr)
			return probe_semaphore_offset(image, usdt_note_vaddr(&note, note.semaphore,
									     base.sh_addr));
	return 0;
}
