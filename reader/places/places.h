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
	PLACES_NAME_MAX = 1024, /* maximum size of the name of a function, NUL included */
	PLACES_WHY_MAX = 512,   /* room for a sentence */
	PLACES_FOUND_MAX = 4096,
};

/* A file in the memory of a live process, or in its mount namespace. */
struct places_living {
	uint32_t pid;
	const char *path; /* path in the process's mount namespace */
	/* Data of its mapping (symbol_mapping); 0 = no mapping. */
	uint64_t start, size, device, inode;
};

struct places_options {
	/* The file of a live process; NULL = the file at PATH on this machine. */
	const struct places_living *living;
	const char *const *debug_dirs; /* searched before /usr/lib/debug */
	size_t n_debug_dirs;
	bool debuginfod;
};

/*
 * Opens the file at PATH, or the file of a live process, for which PATH is a display name. Returns
 * 0; -ENOMEM; or another negative errno, with a sentence in WHY (SIZE bytes).
 */
int places_open(struct places **ret, const char *path, const struct places_options *options,
		char *why, size_t size);
struct places *places_free(struct places *p);
DEFINE_CLEANUP(struct places *, places_free)

/* Returns the path that places_open() got. */
const char *places_path(const struct places *p);

/* Returns true if the file has debug information: lines, types and variables. */
bool places_have_debug(const struct places *p);

/* Returns true if the file has a symbol table, possibly in its debug information, or compressed. */
bool places_have_symbols(const struct places *p);

/* Returns true if all symbols that are known are in symbol tables of the file itself. */
bool places_have_own_symbols(const struct places *p);

/*
 * Returns a sentence about the first file that was found, but could not be used completely; "" = no
 * such file.
 */
const char *places_problem(const struct places *p);

/*
 * Like places_problem(), if functions can lack their names because of the problem; "" = no such
 * problem.
 */
const char *places_symbols_problem(const struct places *p);

/*
 * Returns the name of the file with the debug information of the code at VADDR, if it is not in the
 * program (split DWARF). VADDR 0 means any code. NULL = no such file. These files are not read.
 */
const char *places_split_file(const struct places *p, uint64_t vaddr);

/*
 * The position in the file of the byte at VADDR. Returns false if the byte is not in code that is
 * loaded from the file.
 */
bool places_offset(const struct places *p, uint64_t vaddr, uint64_t *ret_offset);
bool places_address(const struct places *p, uint64_t offset, uint64_t *ret_vaddr);
