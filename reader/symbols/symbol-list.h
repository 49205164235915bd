/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The symbols of one module, from any source: finds names by addresses.
 *
 * Many symbols share an address. These criteria select the one name, in this order: a symbol with a
 * size rather than an assembly label; a function; no stub; a symbol that other files can link to,
 * since local aliases (__GI_write) are internal to a library; the fewest leading underscores
 * (write, not __write, even if write is weak, since source code uses it); global rather than weak;
 * the shortest name.
 *
 * A symbol without a size extends to the next symbol, but not beyond its section. If it is inside a
 * function with a size, it is a label, and is left out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "reader/symbols/range-list.h"

struct symbol_list {
	struct range_list ranges; /* values are offsets into NAMES */
	/* Names that end with a NUL. Several symbols can have the same offset here. */
	struct outbuf names;
};

struct symbol {
	uint64_t start;
	uint64_t size;  /* size in bytes; 0 = unknown */
	uint64_t bound; /* if the size is unknown: where the symbol must end */
	uint32_t name;  /* offset into the names */
	bool function;
	bool local;
	bool weak;
	bool plt; /* not the function, but a stub that calls it in another library */
};

void symbol_list_deinit(struct symbol_list *l);

/*
 * Takes ownership of N bytes of names, and adds a final NUL if it is missing. Returns 0, with the
 * offset of the first byte in *RET_BASE, -EFBIG if the offsets would exceed their type, or -ENOMEM.
 */
int symbol_list_add_names(struct symbol_list *l, const char *names, size_t n, uint32_t *ret_base);

/* Adds SYMBOL. Returns 0 or -ENOMEM. */
int symbol_list_add(struct symbol_list *l, const struct symbol *symbol);

/* Prepares the list for finding; called once, after adding. Returns 0 or -ENOMEM. */
int symbol_list_finish(struct symbol_list *l);

struct symbol_found {
	const char *name; /* borrowed; `n` bytes, and a NUL follows somewhere behind */
	size_t n;         /* length of the name, without the symbol's version */
	uint64_t offset;  /* offset of the address in the symbol */
	bool function;
	bool plt;
};

/* Finds the symbol at ADDRESS. Returns false if no symbol contains it. */
bool symbol_list_find(const struct symbol_list *l, uint64_t address, struct symbol_found *ret);

/* Returns the size of the list in memory, in bytes. */
size_t symbol_list_bytes(const struct symbol_list *l);
