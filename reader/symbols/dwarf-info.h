/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DWARF: which line an address is of, and which functions were inlined there.
 *
 * The units of a file are listed when it is opened, by the addresses that they say they have (the
 * index that some compilers make is not there in the files of others). A unit is read when the
 * first address in it is asked for: once, into tables that are searched from then on.
 */
#pragma once

#include "reader/symbols/elf-file.h"

struct Dwarf;
struct dwarf_info;

/* A function at an address. */
struct dwarf_frame {
	const char *
		function; /* as the linker or, else, as the programmer calls it; NULL = not known */
	const char *source; /* NULL = not known */
	uint32_t line;      /* from 1; 0 = not known */
};

/* True if F has the sections. */
bool dwarf_info_is_in(const struct elf_file *f);

/*
 * Opens the debug information in F, with what it shares with other files in ALTERNATE (NULL if it
 * needs none; if it does, that must be given: or libdw looks for it itself, anywhere). Both are
 * borrowed until it is freed, and so are SEGMENTS, those of the file that the addresses are of. Up
 * to MAX bytes may be unpacked. Returns 0, -ENOMEM, or -EBADMSG with *RETERR_WHAT.
 */
int dwarf_info_open(struct dwarf_info **ret, const struct elf_file *f,
		    const struct elf_file *alternate, const struct elf_segments *segments,
		    uint64_t max, const char **reterr_what);

/* For those who ask libdw itself. Borrowed. */
struct Dwarf *dwarf_info_handle(struct dwarf_info *d);

/*
 * The line table of UNIT, a Dwarf_Die, as dwarf_getsrclines() has it, to *RET, a Dwarf_Lines. False
 * if there is none, or one that would take more memory than may be used.
 */
bool dwarf_info_lines(const struct dwarf_info *d, void *unit, void *ret, size_t *ret_n);

struct dwarf_info *dwarf_info_free(struct dwarf_info *d);
DEFINE_CLEANUP(struct dwarf_info *, dwarf_info_free)

/*
 * The functions at VADDR, innermost first, at most N, and where each of them is: the innermost one
 * at VADDR, the others at their calls. The last one is the one that the others are inlined in,
 * unless there are more than N. Returns how many, 0 if nothing is known. Texts are borrowed until D
 * is freed. *RETERR_WHAT is set if there was damage on the way, and said once.
 */
size_t dwarf_info_find(struct dwarf_info *d, uint64_t vaddr, struct dwarf_frame *frames, size_t n,
		       const char **reterr_what);

/* Bytes of memory, about. */
uint64_t dwarf_info_bytes(const struct dwarf_info *d);
