/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * DWARF: the line of an address, and the functions that were inlined there.
 *
 * The units of a file are listed when it is opened, by their own address ranges (only some
 * compilers make an index). A unit is read once, when its first address is looked up, into tables
 * for searching.
 */
#pragma once

#include "reader/symbols/elf-file.h"

struct Dwarf;
struct dwarf_info;

/* A function at an address. */
struct dwarf_frame {
	const char *function; /* the linkage name, otherwise the source name; NULL = unknown */
	const char *source;   /* NULL = not known */
	uint32_t line;        /* from 1; 0 = not known */
};

/* True if F has the sections. */
bool dwarf_info_is_in(const struct elf_file *f);

/*
 * Opens the debug information in F, and the data that it shares with other files in ALTERNATE.
 * (ALTERNATE is NULL if it needs none. If it does, it must be given, because libdw would otherwise
 * search for it anywhere.) Both are borrowed until it is freed, and so are SEGMENTS, those of the
 * file of the addresses. Up to MAX bytes can be decompressed. Returns 0, -ENOMEM, or -EBADMSG with
 * *RETERR_WHAT.
 */
int dwarf_info_open(struct dwarf_info **ret, const struct elf_file *f,
		    const struct elf_file *alternate, const struct elf_segments *segments,
		    uint64_t max, const char **reterr_what);

/* Whether a part of it is in other files (.dwo, .dwp), which are not read. */
bool dwarf_info_is_split(const struct dwarf_info *d);

/* For code that uses libdw directly. Borrowed. */
struct Dwarf *dwarf_info_handle(struct dwarf_info *d);

/*
 * Stores the line table of UNIT (a Dwarf_Die) in *RET (a Dwarf_Lines), as dwarf_getsrclines() does.
 * Returns false if there is none, or if it would need too much memory.
 */
bool dwarf_info_lines(const struct dwarf_info *d, void *unit, void *ret, size_t *ret_n);

struct dwarf_info *dwarf_info_free(struct dwarf_info *d);
DEFINE_CLEANUP(struct dwarf_info *, dwarf_info_free)

/*
 * The functions at VADDR, innermost first, at most N, with their positions: the innermost one at
 * VADDR, the others at their calls. The last one is the function that contains the others, unless
 * there are more than N. Returns their number, 0 if none is known. Texts are borrowed until D is
 * freed. *RETERR_WHAT is set for damage, once.
 */
size_t dwarf_info_find(struct dwarf_info *d, uint64_t vaddr, struct dwarf_frame *frames, size_t n,
		       const char **reterr_what);

/* Approximate bytes of memory. */
uint64_t dwarf_info_bytes(const struct dwarf_info *d);
