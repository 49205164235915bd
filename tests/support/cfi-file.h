/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file whose unwind table is made from call frame information that is written by hand
 * (cfi-entries.h).
 */
#pragma once

#include <dwarf.h>
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/outbuf.h"
#include "tests/support/unit.h"

enum { FRAME_AT = 0x200, HEADER_AT = 0x180, LOADED_AT = 0x10000 };

/*
 * Returns an ELF file of N bytes without sections: all of it is executable, and its .eh_frame is
 * FRAMES, which are freed. The caller must free the file.
 */
static inline uint8_t *make_cfi_file(struct outbuf *frames, size_t n)
{
	Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
	};
	const Elf64_Phdr segments[2] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = LOADED_AT, .p_filesz = n },
		{ .p_type = PT_GNU_EH_FRAME,
		  .p_offset = HEADER_AT,
		  .p_vaddr = LOADED_AT + HEADER_AT,
		  .p_filesz = 8 },
	};
	const uint8_t eh_header[8] = { 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_omit,
				       DW_EH_PE_omit, FRAME_AT - HEADER_AT - 4 };
	uint8_t *file = calloc(1, n);

	assert_non_null(file);
	assert_true(FRAME_AT + frames->size < n);
	memcpy(file, &header, sizeof(header));
	memcpy(file + sizeof(header), segments, sizeof(segments));
	memcpy(file + HEADER_AT, eh_header, sizeof(eh_header));
	memcpy(file + FRAME_AT, frames->data, frames->size);
	outbuf_deinit(frames);
	return file;
}
