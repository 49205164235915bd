/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for addresses: what a frame of a backtrace is called, and where its source stands.
 *
 * Nothing of this is needed to record: names are looked for afterwards, address by address, in what
 * is on the disk of the user who asks. In this order:
 *
 *	a mapped file      its own symbols, those of its separate debug file and of .gnu_debugdata;
 *	                   lines and inlined functions from DWARF, if they are asked for
 *	[vdso]             the vdso of this process, if it can be the one that was recorded
 *	the kernel         /proc/kallsyms, if the kernel that runs is the one that was recorded
 *	everything else    /tmp/perf-PID.map, which compilers at run time write
 *
 * A file is used if it is the one that was mapped: its build id must be the recorded one. Without a
 * recorded build id its device and inode must be; if they are not, answers are marked as unsure. An
 * address without a name is no error: its frame says what is known, be it nothing.
 *
 * What is trusted: the options, and that files which belong to root or to the caller are not cut
 * short while they are read (they are mapped). What is not trusted: the content of every file, and
 * everything in a query. Files may be of a hostile user, in a mount namespace that he made, and
 * this may run as root: so paths are resolved below the root of the process they belong to, and
 * nothing but a regular file of a real file system is opened; sizes, counts, depths, time, and the
 * memory to unpack something are bounded; all text is valid UTF-8 without control characters. A
 * file that cannot be understood is a problem of that file: it is remembered, reported by
 * symbols_next_problem(), and costs names and nothing else. A build id is what its file says of
 * itself: a user who can make a file can make one that has any names.
 *
 * Only the command line uses this. Not safe for threads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct symbols;

#define SYMBOLS_MEMORY_DEFAULT ((uint64_t)256 << 20)

enum {
	SYMBOL_BUILD_ID_MAX = 64, /* bytes; longer ones are taken for none */
	SYMBOL_NAME_MAX = 4096,   /* bytes of a function's name; what is longer is cut */
	SYMBOL_FRAMES_MAX = 64,   /* of one address; the innermost ones of more */
};

/* All may be left zero. Texts are borrowed until symbols_new() returns. */
struct symbols_options {
	const char *sysroot;           /* recorded paths are looked for below it; NULL = "/" */
	const char *const *debug_dirs; /* looked through before /usr/lib/debug; not below SYSROOT */
	size_t n_debug_dirs;
	const char *kallsyms;          /* NULL = /proc/kallsyms */
	const char *kernel_notes;      /* ELF notes of that kernel; NULL = /sys/kernel/notes */
	const char *kernel_modules;    /* where they are loaded; NULL = /proc/modules */
	const char *kernel_module_dir; /* their notes: DIR/NAME/notes/...; NULL = /sys/module */
	const char *perf_map_dir;      /* of processes that are gone; NULL = /tmp */
	uint64_t memory_limit; /* bytes that are kept of files, about; 0 = SYMBOLS_MEMORY_DEFAULT */
	bool lines;            /* look for source lines and inlined functions, too */
	bool debuginfod;       /* ask the servers in DEBUGINFOD_URLS for what is not found */
};

/* A mapping as it was recorded. */
struct symbol_mapping {
	const char *path; /* in its mount namespace, or "[vdso]", "//anon", ...; or NULL */
	const uint8_t *build_id;
	size_t n_build_id;    /* 0 = not known */
	uint64_t start;       /* address */
	uint64_t size;        /* bytes */
	uint64_t file_offset; /* bytes, of START */
	uint64_t device;      /* major << 20 | minor */
	uint64_t inode;       /* 0 = not known */
	/*
	 * START is where the beginning of the file would lie, and SIZE goes up to the end of all
	 * its mappings; FILE_OFFSET says nothing. (Or it is its code alone, if SIZE is that of its
	 * code.)
	 */
	bool whole;
};

struct symbol_query {
	uint32_t pid; /* as recorded; 0 = not known */
	bool lives;   /* PID still is that process: /proc/PID may be looked at */
	bool kernel;  /* ADDRESS is one of the kernel; PID and LIVES say nothing then */
	/*
	 * ADDRESS is where a function returns to, as every frame but the innermost of a backtrace
	 * is: the call before it is what is looked for. (It can be the last thing that a function
	 * does.)
	 */
	bool is_return;
	uint64_t address;
	/*
	 * The mapping that it lies in. For kernel addresses in none (BPF programs, modules that
	 * were not recorded) the one of the kernel's text: it says which kernel it was.
	 */
	struct symbol_mapping mapping;
};

struct symbol_frame {
	const char *function; /* demangled; NULL = not known */
	const char *source;   /* file; NULL = not known */
	const char *module;   /* last part of the path; "[vdso]", "[kernel]", ...; or NULL */
	uint64_t offset;      /* bytes from the beginning of the function that was not inlined */
	uint32_t line;        /* in SOURCE, from 1; 0 = not known */
	bool inlined;         /* into the next frame */
	bool unsure;          /* nothing says that this was there when it was recorded */
};

/* Returns 0 or a negative errno: a directory that was asked for is not there, -ENOMEM. */
int symbols_new(struct symbols **ret, const struct symbols_options *options);

struct symbols *symbols_free(struct symbols *s);
DEFINE_CLEANUP(struct symbols *, symbols_free)

/*
 * Resolves an address to *RET_N frames, at least one: functions that were inlined, innermost first,
 * then the one they were inlined into. The line of every outer one is that of the call. *RET is
 * valid until the next call, its texts until symbols_free(). Equal texts have equal pointers.
 * Returns 0 or -ENOMEM.
 */
int symbols_resolve(struct symbols *s, const struct symbol_query *query,
		    const struct symbol_frame **ret, size_t *ret_n);

/*
 * What the call before an address calls, that a function returns to. Returns 1 with *RET, its
 * name: "" if it has none, with "@plt" behind it if it is one of another file; 0 if that is not
 * known, as of all calls by a pointer; or -ENOMEM. As above otherwise.
 */
int symbols_called(struct symbols *s, const struct symbol_query *query, const char **ret);

/* Why there are no names (or no lines) for some file. */
struct symbol_problem {
	const char *file; /* path, "[kernel]", "perf-PID.map"; clean text */
	const char *what; /* what is the matter, and what can be done if something can */
};

/*
 * The problems so far, one for a file and reason: *POS starts at 0; returns NULL after the last
 * one. The texts are valid until symbols_free(). After SYMBOLS_PROBLEMS_MAX nothing is added.
 */
enum { SYMBOLS_PROBLEMS_MAX = 1024 };
const struct symbol_problem *symbols_next_problem(const struct symbols *s, size_t *pos);

/* What is kept in memory of files, about, in bytes: for tests, and for those who tune. */
uint64_t symbols_memory(const struct symbols *s);
