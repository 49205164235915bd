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
	struct found_file main;  /* the file; stays open as long as this struct exists */
	struct found_file debug; /* separate debug information; elf = NULL if there is none */
	struct found_file alternate;
	struct find_places where;
	struct symbol_list symbols; /* all symbols, not in order */
	char *problem;              /* owned; NULL = no problem */
	bool symbols_are_partial;   /* symbols are missing because of the problem */
	bool has_symbols;
	bool has_packed_symbols; /* some symbols are from .gnu_debugdata */
	struct place_symbols data_symbols;
	uint64_t *indirect; /* owned: addresses of indirect functions' symbols */
	size_t n_indirect, indirect_room;
	struct dwarf_info *info; /* NULL = no debug information */
	Dwarf *dwarf;            /* handle of INFO, borrowed */
	Dwarf_CFI *frames;       /* from .eh_frame; NULL = none. Owned */
};

/* A symbol, as places_symbol() reads it by its number I. places_symbol() returns false after the
 * last one. */
struct places_symbol {
	const char *name; /* without a version; borrowed until the next call */
	uint64_t start, size;
};
bool places_symbol(struct places *p, size_t i, struct places_symbol *ret,
		   char name[static PLACES_NAME_MAX]);

/*
 * Returns true if the code at VADDR is not a function itself, but selects one when the program
 * starts.
 */
bool places_is_indirect(const struct places *p, uint64_t vaddr);

/* The unit that has code at VADDR. */
bool places_unit(struct places *p, uint64_t vaddr, Dwarf_Die *ret);

/* Finds the function that has code at VADDR, not a function that is inlined there. Returns false if
 * there is none. */
bool places_function(struct places *p, uint64_t vaddr, Dwarf_Die *ret);

/*
 * Finds the entry of FUNCTION. If the compiler has split the function into a hot and a cold part,
 * this is the begin of the part that has the function's symbol, or else of the first part.
 */
bool places_entry(struct places *p, Dwarf_Die *function, Dwarf_Addr *ret);

/* Returns true if DIE has code at VADDR. Code at 0 was discarded by the linker, and does not
 * count. */
bool places_has_code(Dwarf_Die *die, uint64_t vaddr);

/* Moves DIE to its next sibling. False = there is none, or it is not later in the file (a damaged
 * list must end). */
bool places_next(Dwarf_Die *die);
