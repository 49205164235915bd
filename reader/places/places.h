/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds places in a program or library: functions by name, lines, static probes, variables. A
 * result is an address in the file's own addresses, or an offset in the file, so recording does not
 * need the debug information.
 *
 * The debug information is found as in the look-up of symbols (reader/symbols/find-file.h): in the
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
	PLACES_NAME_MAX = 1024, /* maximum bytes of a function's name, NUL included */
	PLACES_WHY_MAX = 512,   /* room for a sentence */
	PLACES_FOUND_MAX = 4096,
};

/* A file in the memory of a live process, or in its mount namespace. */
struct places_living {
	uint32_t pid;
	const char *path; /* path in the process's mount namespace */
	/* Of its mapping, as in struct symbol_mapping; 0 = there is no mapping. */
	uint64_t start, size, device, inode;
};

struct places_options {
	/* The file of a live process; NULL = PATH is a file on this machine. */
	const struct places_living *living;
	const char *const *debug_dirs; /* searched before /usr/lib/debug */
	size_t n_debug_dirs;
	bool debuginfod;
};

/*
 * Opens the file at PATH, or the file in OPTIONS of a live process; then PATH is only its name in
 * messages. Returns 0; -ENOMEM; or another negative errno, with a sentence in WHY (SIZE bytes).
 */
int places_open(struct places **ret, const char *path, const struct places_options *options,
		char *why, size_t size);
struct places *places_free(struct places *p);
DEFINE_CLEANUP(struct places *, places_free)

/* Returns the path that places_open() got. */
const char *places_path(const struct places *p);

/* Returns true if the file has debug information: lines, types and variables. */
bool places_have_debug(const struct places *p);

/* Returns true if a symbol table was found: in the file, in its debug information, or
 * compressed. */
bool places_have_symbols(const struct places *p);

/* Returns true if all known symbols come from symbol tables of the file itself. */
bool places_have_own_symbols(const struct places *p);

/*
 * Returns a sentence about the first file that was found, but is not usable or only in part; "" =
 * there was none.
 */
const char *places_problem(const struct places *p);

/*
 * Like places_problem(), but "" if functions have their names in spite of the problem.
 */
const char *places_symbols_problem(const struct places *p);

/*
 * Returns the name of the file with the debug information of the code at VADDR, if it is in another
 * file (split DWARF), which kymo does not read; NULL = it is not. VADDR 0 = any code.
 */
const char *places_split_file(const struct places *p, uint64_t vaddr);

/*
 * places_offset() finds the position in the file of the byte at VADDR; places_address() is its
 * inverse. Both return false if the byte is not in code that is loaded from the file.
 */
bool places_offset(const struct places *p, uint64_t vaddr, uint64_t *ret_offset);
bool places_address(const struct places *p, uint64_t offset, uint64_t *ret_vaddr);
