/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file of a program or library, opened to be asked about: who it is, where its bytes come to
 * lie, what its symbols are, and where its debug information is. By libelf, which checks what it
 * reads against the size of the file; what the numbers in it would cost is checked here.
 */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "reader/symbols/symbol-list.h"
#include "reader/symbols/symbols.h"

/* What of a file is loaded to where. */
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
	char *memory; /* owned, when not a file */
	bool mapped;  /* its pages are the kernel's to take back */
	struct elf_segments segments;
	uint8_t build_id[SYMBOL_BUILD_ID_MAX];
	size_t n_build_id; /* 0 = it has none */
};

/*
 * Open what FD refers to (taken over, also on failure), or N bytes at MEMORY (from malloc; taken
 * over, also on failure). Return 0, -ENOMEM, or -EBADMSG with *RETERR_WHAT (static) when it is
 * nothing that can be used.
 */
int elf_file_open_fd(struct elf_file **ret, int fd, const char **reterr_what);
int elf_file_open_memory(struct elf_file **ret, char *memory, size_t n, const char **reterr_what);

struct elf_file *elf_file_free(struct elf_file *f);
DEFINE_CLEANUP(struct elf_file *, elf_file_free)

/* Both have one, and it is the same. */
bool elf_file_has_build_id(const struct elf_file *f, const uint8_t *id, size_t n);

/* Sections by name: NULL if there is none with content. HEADER may be NULL. */
Elf_Scn *elf_file_section(const struct elf_file *f, const char *name, GElf_Shdr *ret_header);

/*
 * The bytes of that section, borrowed until the file is closed, at most MAX; NULL if there are
 * none.
 */
const void *elf_file_content(const struct elf_file *f, const char *name, size_t max, size_t *ret_n);

/*
 * Where the call leads that stands right before VADDR, if it says so itself: not one by a
 * register or by memory. Returns false if that is not known: no such call, another machine than
 * x86-64 and arm64, or bytes that are not there.
 */
bool elf_file_call(const struct elf_file *f, uint64_t vaddr, uint64_t *ret_target);

/*
 * Adds the symbols of functions to LIST: those in the executable segments of SEGMENTS (the file's
 * own, or for debug information those of what it belongs to), with at most MAX bytes for a table.
 * *RET_FULL says whether there was a full table (.symtab), not only what the dynamic linker needs.
 * Returns 0, -ENOMEM, or -EBADMSG with *RETERR_WHAT; what came before the damage is in the list
 * then.
 */
int elf_file_symbols(const struct elf_file *f, const struct elf_segments *segments, size_t max,
		     struct symbol_list *list, bool *ret_full, const char **reterr_what);

/* The same for the stubs that call functions of other libraries, where their layout is known. */
int elf_file_plt_symbols(const struct elf_file *f, size_t max, struct symbol_list *list);

/* Where the byte at OFFSET of the file is loaded to. Returns false if it is not. */
bool elf_segments_address(const struct elf_segments *segments, uint64_t offset,
			  uint64_t *ret_vaddr);

/* True if VADDR is in an executable segment. */
bool elf_segments_executable(const struct elf_segments *segments, uint64_t vaddr);
