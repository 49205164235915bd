/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An ELF file of a program or library: its identity, load addresses, symbols, and references to
 * debug information. libelf, which is used here, checks that its input is inside the file. This
 * module limits the memory and the time that numbers in the file can cost.
 */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "reader/symbols/symbol-list.h"
#include "reader/symbols/symbol-types.h"

/* A loaded part of a file. */
struct elf_segments {
	struct elf_segment {
		uint64_t offset, vaddr, file_size, memory_size; /* bytes */
		bool executable;
	} items[32];
	size_t n;
};

struct elf_file {
	Elf *elf;
	int fd;       /* -1 for memory */
	char *memory; /* owned, if it is not a file */
	size_t n_memory;
	bool mapped; /* the kernel can reclaim its pages */
	struct elf_segments segments;
	uint8_t build_id[SYMBOL_BUILD_ID_MAX];
	size_t n_build_id; /* 0 = none */
};

/*
 * Open FD (takes ownership, also on failure), or N bytes at MEMORY (from malloc; takes ownership,
 * also on failure). Return 0, -ENOMEM, or -EBADMSG with *RETERR_WHAT (static) if the file is
 * unusable.
 */
int elf_file_open_fd(struct elf_file **ret, int fd, const char **reterr_what);
int elf_file_open_memory(struct elf_file **ret, char *memory, size_t n, const char **reterr_what);

struct elf_file *elf_file_free(struct elf_file *f);
DEFINE_CLEANUP(struct elf_file *, elf_file_free)

/* Returns true if F has a build id, and it equals the N bytes at ID. */
bool elf_file_has_build_id(const struct elf_file *f, const uint8_t *id, size_t n);

/*
 * Returns the section NAME, or NULL if there is no such section with content. RET_HEADER can be
 * NULL.
 */
Elf_Scn *elf_file_section(const struct elf_file *f, const char *name, GElf_Shdr *ret_header);

/*
 * Returns the first section of TYPE. Valid files have at most one. Its size is not checked against
 * the file.
 */
Elf_Scn *elf_file_section_of(const struct elf_file *f, uint32_t type, GElf_Shdr *ret_header);

/*
 * Returns the bytes of the section NAME, borrowed until the file is closed, at most MAX; NULL if
 * there are none.
 */
const void *elf_file_content(const struct elf_file *f, const char *name, size_t max, size_t *ret_n);

/*
 * The target of the call directly before VADDR, if the instruction contains the target: not for a
 * call through a register or memory. Returns false if the target is unknown: no such call, a
 * machine other than x86-64 and arm64, or missing bytes.
 */
bool elf_file_call(const struct elf_file *f, uint64_t vaddr, uint64_t *ret_target);

/*
 * Returns true if VADDR can be a return address: the bytes before it are a call of any kind, or
 * cannot be examined (another machine, or missing bytes).
 */
bool elf_file_can_follow_call(const struct elf_file *f, uint64_t vaddr);

/*
 * Returns true if the code at VADDR returns from a signal's handler (x86-64). The C library has no
 * symbol for this code.
 */
bool elf_file_is_sigreturn(const struct elf_file *f, uint64_t vaddr);

/*
 * Returns true if a program or a thread begins in the function with the return address VADDR
 * (x86-64): VADDR is directly behind the entry point, or the code at VADDR ends the thread.
 */
bool elf_file_begins(const struct elf_file *f, uint64_t vaddr);

/*
 * Adds the symbols of functions to LIST: those in the executable segments of SEGMENTS (the file's
 * own, or, for debug information, those of its main file), with at most MAX bytes for a table.
 * *RET_FULL is whether there was a full table (.symtab), and not only the dynamic one. Returns 0,
 * -ENOMEM, or -EBADMSG with *RETERR_WHAT; symbols before the damage are then in the list.
 */
int elf_file_symbols(const struct elf_file *f, const struct elf_segments *segments, size_t max,
		     struct symbol_list *list, bool *ret_full, const char **reterr_what);

/* Like elf_file_symbols(), for stubs that call functions of other libraries, if their layout is
 * known. */
int elf_file_plt_symbols(const struct elf_file *f, size_t max, struct symbol_list *list);

/* The load address of the byte at OFFSET of the file. Returns false if it is not loaded. */
bool elf_segments_address(const struct elf_segments *segments, uint64_t offset,
			  uint64_t *ret_vaddr);

/* True if VADDR is in an executable segment. */
bool elf_segments_executable(const struct elf_segments *segments, uint64_t vaddr);
