/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An open file. Internal to reader/places/. */
#pragma once

#include <elfutils/libdw.h>

#include "reader/places/place-symbols.h"
#include "reader/places/places.h"
#include "reader/symbols/dwarf-info.h"
#include "reader/symbols/find-file.h"
#include "reader/symbols/symbol-list.h"

struct places {
	char *path;              /* owned */
	struct found_file main;  /* the file; open as long as this struct exists */
	struct found_file debug; /* separate debug information; elf is NULL without it */
	struct found_file alternate;
	struct find_places where;
	struct symbol_list symbols; /* all symbols, not in order */
	char *problem;              /* owned; NULL = no problem */
	bool symbols_are_partial;   /* symbols are missing because of the problem */
	bool has_symbols;
	bool has_packed_symbols; /* some symbols are from .gnu_debugdata */
	struct place_symbols data_symbols;
	uint64_t *indirect; /* addresses of symbols that refer to one of several functions; owned */
	size_t n_indirect, indirect_room;
	struct dwarf_info *info; /* NULL = no debug information */
	Dwarf *dwarf;            /* handle of INFO, borrowed */
	Dwarf_CFI *frames;       /* content of .eh_frame; NULL = no such section. Owned */
};

/* Reads symbol number I. Returns false after the last symbol. */
struct places_symbol {
	const char *name; /* without a version; borrowed until the next call */
	uint64_t start, size;
};
bool places_symbol(struct places *p, size_t i, struct places_symbol *ret,
		   char name[static PLACES_NAME_MAX]);

/*
 * Returns true if the code at VADDR selects a function when the program starts, and is not the
 * function itself.
 */
bool places_is_indirect(const struct places *p, uint64_t vaddr);

/* The unit that has code at VADDR. */
bool places_unit(struct places *p, uint64_t vaddr, Dwarf_Die *ret);

/* The function, not an inlined one, that has code at VADDR. */
bool places_function(struct places *p, uint64_t vaddr, Dwarf_Die *ret);

/*
 * The entry of FUNCTION. If the compiler has split it into a hot and a cold part, this is the
 * beginning of the part that has the symbol of the function, or else of the first part.
 */
bool places_entry(struct places *p, Dwarf_Die *function, Dwarf_Addr *ret);

/* Returns true if DIE has code at VADDR. Code of discarded sections does not count; it is at 0. */
bool places_has_code(Dwarf_Die *die, uint64_t vaddr);

/* Goes to the next sibling. Siblings must be later in the file, so that a damaged list ends. */
bool places_next(Dwarf_Die *die);
