/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * DWARF: the line of an address, and the functions that were inlined there.
 *
 * The units of a file are listed when the file is opened, by the address ranges in each unit (only
 * some compilers make an index of ranges). When the first address of a unit is looked up, the unit
 * is read into tables for searching.
 */
#pragma once

#include "reader/symbols/elf-file.h"

struct Dwarf;
struct dwarf_info;

/* A function at an address. */
struct dwarf_frame {
	const char *function; /* the linkage name, or else the source name; NULL = unknown */
	const char *source;   /* NULL = not known */
	uint32_t line;        /* from 1; 0 = not known */
};

/* True if F has sections of DWARF debug information. */
bool dwarf_info_is_in(const struct elf_file *f);

/*
 * Opens the debug information in F. ALTERNATE has the data that F shares with other files; NULL = F
 * needs no such data. (If F needs it, ALTERNATE must be given: otherwise, libdw would search for
 * the data anywhere.) SEGMENTS are those of the mapped file. F, ALTERNATE and SEGMENTS must exist
 * until *RET is freed. At most MAX bytes are decompressed. Returns 0, -ENOMEM, or -EBADMSG with
 * *RETERR_WHAT.
 */
int dwarf_info_open(struct dwarf_info **ret, const struct elf_file *f,
		    const struct elf_file *alternate, const struct elf_segments *segments,
		    uint64_t max, const char **reterr_what);

/*
 * Returns true if a part of the debug information is in other files (.dwo, .dwp), which are not
 * read.
 */
bool dwarf_info_is_split(const struct dwarf_info *d);

/* Returns libdw's handle, which belongs to D, for code that uses libdw directly. */
struct Dwarf *dwarf_info_handle(struct dwarf_info *d);

/*
 * Stores the line table of UNIT (a Dwarf_Die) in *RET (a Dwarf_Lines), as dwarf_getsrclines() does.
 * Returns false if UNIT has no line table, or if the table would need too much memory.
 */
bool dwarf_info_lines(const struct dwarf_info *d, void *unit, void *ret, size_t *ret_n);

struct dwarf_info *dwarf_info_free(struct dwarf_info *d);
DEFINE_CLEANUP(struct dwarf_info *, dwarf_info_free)

/*
 * Stores up to N functions at VADDR, innermost first. Each inlined function is followed by its
 * caller, with the line of the call; if N suffices, the last one is not inlined. Returns the number
 * of functions; 0 = unknown. Texts are valid until D is freed. *RETERR_WHAT is set once, if D takes
 * too long to read.
 */
size_t dwarf_info_find(struct dwarf_info *d, uint64_t vaddr, struct dwarf_frame *frames, size_t n,
		       const char **reterr_what);

/* Returns the approximate memory of D, in bytes. */
uint64_t dwarf_info_bytes(const struct dwarf_info *d);
