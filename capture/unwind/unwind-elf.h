/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of an ELF file that unwind tables need: its executable segments, its build ID, its call
 * frame information, and its symbols. This module uses libelf, which checks its input against the
 * size of the file.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bpf/record-unwind.h"
#include "capture/unwind/unwind-cfi.h"

enum { UNWIND_ELF_UNPACKED_MAX = 64 << 20 }; /* maximum number of bytes of a decompressed section */

/* An executable part of the file: its position in the file, and its address. */
struct unwind_segment {
	uint64_t offset, size, address;
};

struct unwind_elf {
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX]; /* only executable segments */
	uint32_t n_segments;
	uint8_t build_id[20];
	uint32_t n_build_id;
	struct cfi_section eh_frame;    /* .n is 0 if the file has no such section */
	struct cfi_section debug_frame; /* likewise */
	uint8_t *unpacked;              /* owned; the data of debug_frame if it was compressed */
	const uint8_t *data;            /* the whole file */
	size_t n_data;
	const uint8_t *symbols; /* Elf64_Sym, perhaps unaligned; of .symtab or .dynsym */
	size_t n_symbols;
	const uint8_t *names; /* of the symbols; NULL = unknown */
	size_t n_names;
};

/*
 * Parses the N bytes at DATA, which are borrowed until the end. Returns 0, -ENOEXEC if they are not
 * an ELF program or library, -ENOTSUP if they are for another machine, -EBADMSG or -ENOMEM. ELF can
 * be deinitialised in each case.
 */
int unwind_elf_init(struct unwind_elf *elf, const void *data, size_t n);
void unwind_elf_deinit(struct unwind_elf *elf);

/* Returns the name of a symbol (`st_name`), or NULL. */
const char *unwind_elf_name(const struct unwind_elf *elf, uint32_t at);
