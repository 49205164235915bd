/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names for addresses: the function of a frame in a backtrace, and its source position.
 *
 * Recording needs none of this. Names are looked up afterwards, address by address, in files on the
 * disk of the user who runs the command, in this order:
 *
 *   a mapped file      its own symbols, those of its separate debug file and of .gnu_debugdata;
 *                      lines and inlined functions from DWARF, on request
 *   [vdso]             the vdso of this process, if it can be the recorded one
 *   the kernel         /proc/kallsyms, if the running kernel is the recorded one
 *   everything else    /tmp/perf-PID.map, which JIT compilers write
 *
 * A file is used if it is the mapped one: its build id must be the recorded one. Without a recorded
 * build id, its inode must be the recorded one, and it must not have been written since it was
 * mapped. If no inode is known, or the file is in an overlay or below a sysroot, results are marked
 * as unsure. An address without a name is not an error: its frame has the known data, or none.
 *
 * Trusted are the options, and that files of root or the caller are not truncated while they are
 * read (they are mapped). Not trusted are the content of every file, and everything in a query.
 * Files can belong to a hostile user, in a mount namespace of that user, and this code can run as
 * root. So paths are resolved below the root of their process, and only regular files of real file
 * systems are opened. Sizes, counts, depths, time, and memory for decompression are bounded. All
 * text is valid UTF-8 without control characters. An unreadable file affects only itself: the
 * problem is recorded, reported by symbols_next_problem(), and costs only names. A build id is a
 * claim of its file: a user who can make a file can give it any names.
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

/* Returns 0 or a negative errno: -ENOMEM, or an error if a given directory does not exist. */
int symbols_new(struct symbols **ret, const struct symbols_options *options);

struct symbols *symbols_free(struct symbols *s);
DEFINE_CLEANUP(struct symbols *, symbols_free)

/*
 * Resolves an address to *RET_N frames, at least one: inlined functions, innermost first, then the
 * function that contains them. The line of each outer function is the line of the call. *RET is
 * valid until the next call, its texts until symbols_free(). Equal texts have equal pointers.
 * Returns 0 or -ENOMEM.
 */
int symbols_resolve(struct symbols *s, const struct symbol_query *query,
		    const struct symbol_frame **ret, size_t *ret_n);

/*
 * Finds the function that is named in the call before a return address. Returns 1 with its name in
 * *RET: "" if it has no name, followed by "@plt" if it is in another file; 0 if it is unknown, as
 * for all calls through a pointer; or -ENOMEM. The text is valid until symbols_free().
 */
int symbols_called(struct symbols *s, const struct symbol_query *query, const char **ret);

/*
 * Returns 1 if a program or a thread begins in the function that contains the return address of
 * QUERY; 0 if not; -ENOENT without the mapped file; or -ENOMEM.
 */
int symbols_begins(struct symbols *s, const struct symbol_query *query);

/*
 * Returns true if the code of MAPPING belongs to a program or a library, and not to a run-time
 * compiler.
 */
bool symbols_is_of_file(const struct symbol_mapping *mapping);

/* The reason why a file has no names (or no lines). */
struct symbol_problem {
	const char *file; /* path, "[kernel]", "perf-PID.map"; clean text */
	const char *what; /* the problem, and the remedy, if one is known */
};

/*
 * Returns the next problem so far, one per file and reason; NULL after the last one. *POS is 0 at
 * first. The texts are valid until symbols_free(). After SYMBOLS_PROBLEMS_MAX problems, no more are
 * added.
 */
enum { SYMBOLS_PROBLEMS_MAX = 1024 };
const struct symbol_problem *symbols_next_problem(const struct symbols *s, size_t *pos);

/* Returns the approximate memory for files, in bytes: for tests and tuning. */
uint64_t symbols_memory(const struct symbols *s);
