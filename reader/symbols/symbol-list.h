/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols of one module, whatever they were read from: addresses to names.
 *
 * Many symbols have one address. Which name is given is settled by these, in this order: one with a
 * size rather than a mark in assembly; one that says it is a function; one that others can link to,
 * since local aliases (__GI_write) are the linker's and the library's own; the one with the fewest
 * underscores in front (write, not __write: what the programmer wrote, be it weak); a global one
 * rather than a weak one; the shortest.
 *
 * A symbol without a size goes on to the next symbol, but not beyond its section; if it lies in a
 * function with a size, it is a mark in it and left out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "reader/symbols/range-list.h"

struct symbol_list {
	struct range_list ranges; /* values are offsets into NAMES */
	struct outbuf names; /* texts that end with a NUL; shared by symbols, never by addresses */
};

struct symbol {
	uint64_t start;
	uint64_t size;  /* bytes; 0 = not known */
	uint64_t bound; /* without a size: where it ends at the latest */
	uint32_t name;  /* offset into the names */
	bool function;
	bool local;
	bool weak;
	bool plt; /* not the function: what calls it from another library */
};

void symbol_list_deinit(struct symbol_list *l);

/*
 * Takes over N bytes of names, ended with a NUL if they are not. Returns 0 (*RET_BASE is the offset
 * of the first), -EFBIG if names get out of what offsets can say, or -ENOMEM.
 */
int symbol_list_add_names(struct symbol_list *l, const char *names, size_t n, uint32_t *ret_base);

/* Returns 0 or -ENOMEM. */
int symbol_list_add(struct symbol_list *l, const struct symbol *symbol);

/* To be called once, between adding and finding. Returns 0 or -ENOMEM. */
int symbol_list_finish(struct symbol_list *l);

struct symbol_found {
	const char *name; /* borrowed; not ended where it ends, but there is a NUL behind it */
	size_t n;         /* bytes, without the version of the symbol */
	uint64_t offset;  /* of the address in it */
	bool function;
	bool plt;
};

/* The symbol at ADDRESS. Returns false if there is none. */
bool symbol_list_find(const struct symbol_list *l, uint64_t address, struct symbol_found *ret);

/* Bytes of memory. */
size_t symbol_list_bytes(const struct symbol_list *l);
