/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds places in a program or library: functions by name, lines, static probes, variables. A
 * result is an address in the file's own addresses, or an offset in the file. It can be used
 * without the debug information.
 *
 * The debug information is found as for names of addresses (reader/symbols/find-file.h): in the
 * file, by its build id, by its debug link, or from debuginfod. All limits of reader/symbols apply:
 * sizes are checked before libdw is called, and libdw opens no file by itself.
 *
 * Only the command line uses this. Not thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct places;

enum {
	PLACES_NAME_MAX = 1024, /* bytes of the name of a function, the NUL included */
	PLACES_WHY_MAX = 512,   /* room for a sentence */
	PLACES_FOUND_MAX = 4096,
};

/* A file that a living process has in memory, or that its mount namespace has. */
struct places_living {
	uint32_t pid;
	const char *path;                    /* in its mount namespace */
	uint64_t start, size, device, inode; /* of its mapping (symbol_mapping); 0 = none */
};

struct places_options {
	const struct places_living *living; /* the file is this one; NULL = this machine's */
	const char *const *debug_dirs;      /* searched before /usr/lib/debug */
	size_t n_debug_dirs;
	bool debuginfod;
};

/*
 * Opens the file at PATH, or the living one, which PATH names for people. Returns 0; -ENOMEM;
 * another negative errno, each with a sentence in WHY (SIZE bytes).
 */
int places_open(struct places **ret, const char *path, const struct places_options *options,
		char *why, size_t size);
struct places *places_free(struct places *p);
DEFINE_CLEANUP(struct places *, places_free)

/* The path as it was given. */
const char *places_path(const struct places *p);

/* Whether it has debug information: of lines, types and variables. */
bool places_have_debug(const struct places *p);

/* Whether it has a table of symbols, be it in its debug information, or compressed. */
bool places_have_symbols(const struct places *p);

/* Whether all symbols that are known are in symbol tables of the file itself. */
bool places_have_own_symbols(const struct places *p);

/* A sentence about the first file that was found, but could not be used completely; "" = none. */
const char *places_problem(const struct places *p);

/* Likewise, if functions can lack their names because of it; "" = none. */
const char *places_symbols_problem(const struct places *p);

/*
 * The name of the file that has the debug information of the code at VADDR, if it is not in the
 * program (split DWARF). VADDR 0 means any code. NULL = there is none. Such files are not read.
 */
const char *places_split_file(const struct places *p, uint64_t vaddr);

/*
 * Where the byte at VADDR is in the file. Returns false if it is not code that is loaded from it.
 */
bool places_offset(const struct places *p, uint64_t vaddr, uint64_t *ret_offset);
bool places_address(const struct places *p, uint64_t offset, uint64_t *ret_vaddr);
