/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an ELF file has for unwind tables: its executable segments, its build ID, and where its call
 * frame information is. By libelf, which checks what it reads against the size of the file.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "capture/unwind/unwind-cfi.h"
#include "capture/unwind/unwind-table.h"

enum { UNWIND_ELF_UNPACKED_MAX = 64 << 20 }; /* bytes of a section that is compressed */

struct unwind_elf {
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX]; /* executable; others are left out */
	uint32_t n_segments;
	uint8_t build_id[20];
	uint32_t n_build_id;
	struct cfi_section eh_frame;    /* .n is 0 where there is none */
	struct cfi_section debug_frame; /* likewise */
	uint8_t *unpacked;              /* owned; what debug_frame is in if it was compressed */
};

/*
 * Takes the N bytes at DATA apart; they are borrowed until the end. Returns 0, -ENOEXEC if they are
 * no ELF file of a program or library, -ENOTSUP for another machine, -EBADMSG or -ENOMEM. ELF may
 * be deinitialised either way.
 */
int unwind_elf_init(struct unwind_elf *elf, const void *data, size_t n);
void unwind_elf_deinit(struct unwind_elf *elf);
