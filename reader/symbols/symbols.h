/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names for addresses: the function of a frame in a backtrace, and its source position.
 *
 * Recording needs none of this. Names are looked up afterwards, address by address, in files of the
 * machine on which the command runs:
 *
 *   a mapped file      its own symbols, those of its separate debug file and of .gnu_debugdata;
 *                      lines and inlined functions from DWARF, on request
 *   [vdso]             the vdso of this process, if it can be the recorded one
 *   the kernel         /proc/kallsyms, if the running kernel is the recorded one
 *   everything else    /tmp/perf-PID.map, which JIT compilers write
 *
 * A file is used if it is the mapped one: its build id must be the recorded one. Without a recorded
 * build id, its inode must be the recorded one, and it must not have been written since it was
 * mapped. If no inode was recorded, or the file is in an overlay or below a sysroot, results are
 * marked as unsure. An address without a name is not an error: its frame has what is known, or
 * nothing.
 *
 * The options are trusted, and files of root or the caller are trusted not to be truncated while
 * they are mapped. The content of every file and everything in a query is not trusted. Files can
 * belong to a hostile user, in a mount namespace of that user, while this code runs as root. So
 * paths are resolved below the root of their process, and only regular files of real file systems
 * are opened. Sizes, counts, depths, time, and memory for decompression are bounded. All text is
 * valid UTF-8 without control characters. An unreadable file affects only names in that file:
 * symbols_next_problem() returns the problem. A build id is a claim of its file: a user who can
 * make a file can give it any names.
 *
 * Only the command line uses this. Not thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "reader/symbols/symbol-types.h"

struct symbols;

/* Returns 0 or a negative errno (-ENOMEM, or an error in opening a directory of OPTIONS). */
int symbols_new(struct symbols **ret, const struct symbols_options *options);

struct symbols *symbols_free(struct symbols *s);
DEFINE_CLEANUP(struct symbols *, symbols_free)

/*
 * Resolves the address of QUERY to *RET_N frames, at least one: inlined functions, innermost first,
 * then the function that contains them. The line in an outer frame is the line of the call. *RET is
 * valid until the next call, its texts until symbols_free(). Equal texts have equal pointers.
 * Returns 0 or -ENOMEM.
 */
int symbols_resolve(struct symbols *s, const struct symbol_query *query,
		    const struct symbol_frame **ret, size_t *ret_n);

/*
 * Finds the function that is named in the call before a return address. Returns 1 with its name in
 * *RET ("" = it has no name; "@plt" follows if the call leads to a stub); 0 if the function is
 * unknown, as for calls through a pointer; or -ENOMEM. The text is valid until symbols_free().
 */
int symbols_called(struct symbols *s, const struct symbol_query *query, const char **ret);

/*
 * Returns 1 if a program or a thread begins in the function with the return address of QUERY; 0 if
 * not; -ENOENT if the code of the file is not available; or -ENOMEM.
 */
int symbols_begins(struct symbols *s, const struct symbol_query *query);

/*
 * Returns true if the code of MAPPING belongs to a program or a library, and not to a run-time
 * compiler.
 */
bool symbols_is_of_file(const struct symbol_mapping *mapping);

/* The reason why names or lines of a file are missing. */
struct symbol_problem {
	const char *file; /* path, "[kernel]", "perf-PID.map"; clean text */
	const char *what; /* the problem, and a remedy if one is known */
};

/*
 * Walks over the problems so far, one per file and reason; *POS is 0 at first. Returns NULL after
 * the last one. The texts are valid until symbols_free(). Problems beyond SYMBOLS_PROBLEMS_MAX are
 * dropped.
 */
enum { SYMBOLS_PROBLEMS_MAX = 1024 };
const struct symbol_problem *symbols_next_problem(const struct symbols *s, size_t *pos);

/* Returns the approximate memory of all contents, in bytes, for tests and tuning. */
uint64_t symbols_memory(const struct symbols *s);
