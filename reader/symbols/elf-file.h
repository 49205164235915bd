/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An ELF file of a program or library: its identity, load addresses, symbols, and references to
 * debug information. libelf checks that what it returns is inside the file. This module adds
 * limits, since numbers in the file could make libelf use much memory and time.
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
 * Open FD, or N bytes at MEMORY (from malloc). The functions take ownership of FD or MEMORY, also
 * on failure. They return 0, -ENOMEM, or -EBADMSG with *RETERR_WHAT (static) if the file is
 * unusable.
 */
int elf_file_open_fd(struct elf_file **ret, int fd, const char **reterr_what);
int elf_file_open_memory(struct elf_file **ret, char *memory, size_t n, const char **reterr_what);

struct elf_file *elf_file_free(struct elf_file *f);
DEFINE_CLEANUP(struct elf_file *, elf_file_free)

/* Returns true if F has a build id that equals the N bytes at ID. */
bool elf_file_has_build_id(const struct elf_file *f, const uint8_t *id, size_t n);

/*
 * Returns the section NAME; NULL = there is none, or it has no content. RET_HEADER can be NULL.
 */
Elf_Scn *elf_file_section(const struct elf_file *f, const char *name, GElf_Shdr *ret_header);

/*
 * Returns the first section of TYPE; NULL = none. (Valid files have at most one.) The size of the
 * section is not checked against the file.
 */
Elf_Scn *elf_file_section_of(const struct elf_file *f, uint32_t type, GElf_Shdr *ret_header);

/*
 * Returns the content of the section NAME, which is valid until the file is closed; NULL = none, or
 * more than MAX bytes.
 */
const void *elf_file_content(const struct elf_file *f, const char *name, size_t max, size_t *ret_n);

/*
 * Finds the target of the call directly before VADDR. Returns false if the target is unknown: there
 * is no call, its target is in a register or memory, the machine is not x86-64 or arm64, or bytes
 * are missing.
 */
bool elf_file_call(const struct elf_file *f, uint64_t vaddr, uint64_t *ret_target);

/*
 * Returns false if VADDR cannot be a return address, since the bytes before it are no call. Returns
 * true if they are a call of any kind, or cannot be examined (another machine, or missing bytes).
 */
bool elf_file_can_follow_call(const struct elf_file *f, uint64_t vaddr);

/*
 * Returns true if the code at VADDR is the end of a signal handler, rt_sigreturn (x86-64), for
 * which the C library has no symbol.
 */
bool elf_file_is_sigreturn(const struct elf_file *f, uint64_t vaddr);

/*
 * Returns true if a program or a thread begins in the function with the return address VADDR
 * (x86-64): VADDR is directly behind the entry point, or the code at VADDR ends the thread.
 */
bool elf_file_begins(const struct elf_file *f, uint64_t vaddr);

/*
 * Adds the functions in executable segments of SEGMENTS to LIST. SEGMENTS are the file's own; if
 * the file has only debug information, those of its main file. A table can have at most MAX bytes.
 * *RET_FULL = true if there was a full table (.symtab), not only the dynamic one. Returns 0,
 * -ENOMEM, or -EBADMSG with *RETERR_WHAT; then LIST has the symbols before the damage.
 */
int elf_file_symbols(const struct elf_file *f, const struct elf_segments *segments, size_t max,
		     struct symbol_list *list, bool *ret_full, const char **reterr_what);

/* Adds the stubs that call functions of other libraries to LIST, if their layout is known. Returns
 * 0 or -ENOMEM. */
int elf_file_plt_symbols(const struct elf_file *f, size_t max, struct symbol_list *list);

/* Finds the load address of the byte at OFFSET of the file. Returns false if the byte is not
 * loaded. */
bool elf_segments_address(const struct elf_segments *segments, uint64_t offset,
			  uint64_t *ret_vaddr);

/* True if VADDR is in an executable segment. */
bool elf_segments_executable(const struct elf_segments *segments, uint64_t vaddr);
