/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The symbols of one module, from any source: addresses to names.
 *
 * Many symbols share an address. These criteria select the name, in this order: one with a size
 * rather than an assembly label; a function; one that others can link to, since local aliases
 * (__GI_write) belong to the linker and the library; the fewest leading underscores (write, not
 * __write: the name in the source, even if weak); global rather than weak; the shortest.
 *
 * A symbol without a size extends to the next symbol, but not beyond its section. If it is inside a
 * function with a size, it is a label and left out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "reader/symbols/range-list.h"

struct symbol_list {
	struct range_list ranges; /* values are offsets into NAMES */
	/* Names that end with a NUL; symbols can share a name, but not an address. */
	struct outbuf names;
};

struct symbol {
	uint64_t start;
	uint64_t size;  /* size in bytes; 0 = unknown */
	uint64_t bound; /* if the size is unknown: the maximum end */
	uint32_t name;  /* offset into the names */
	bool function;
	bool local;
	bool weak;
	bool plt; /* the stub of a function in another library, and not the function */
};

void symbol_list_deinit(struct symbol_list *l);

/*
 * Takes ownership of N bytes of names, and adds a final NUL if it is missing. Returns 0 (*RET_BASE
 * is the offset of the first), -EFBIG if offsets cannot express the size, or -ENOMEM.
 */
int symbol_list_add_names(struct symbol_list *l, const char *names, size_t n, uint32_t *ret_base);

/* Adds SYMBOL. Returns 0 or -ENOMEM. */
int symbol_list_add(struct symbol_list *l, const struct symbol *symbol);

/* Prepares the list for finding; called once, after adding. Returns 0 or -ENOMEM. */
int symbol_list_finish(struct symbol_list *l);

struct symbol_found {
	const char *name; /* borrowed; not terminated at its end, but a NUL follows later */
	size_t n;         /* number of bytes, without the version of the symbol */
	uint64_t offset;  /* offset of the address in the symbol */
	bool function;
	bool plt;
};

/* Finds the symbol at ADDRESS. Returns false if no symbol contains it. */
bool symbol_list_find(const struct symbol_list *l, uint64_t address, struct symbol_found *ret);

/* Returns the size of the list in memory, in bytes. */
size_t symbol_list_bytes(const struct symbol_list *l);
