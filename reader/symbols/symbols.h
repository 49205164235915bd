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
 * build id, its device and inode must match; if they do not, results are marked as unsure. An
 * address without a name is not an error: its frame has the known data, or none.
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

struct symbols;

#define SYMBOLS_MEMORY_DEFAULT ((uint64_t)256 << 20)

enum {
	SYMBOL_BUILD_ID_MAX = 64, /* bytes; longer ones count as none */
	SYMBOL_NAME_MAX = 4096,   /* bytes of a function's name; the rest is cut */
	SYMBOL_FRAMES_MAX = 64,   /* per address; the innermost ones if there are more */
};

/* All can be zero. Texts are borrowed until symbols_new() returns. */
struct symbols_options {
	const char *sysroot;           /* the root of recorded paths; NULL = "/" */
	const char *const *debug_dirs; /* searched before /usr/lib/debug; not below SYSROOT */
	size_t n_debug_dirs;
	const char *kallsyms;          /* NULL = /proc/kallsyms */
	const char *kernel_notes;      /* ELF notes of that kernel; NULL = /sys/kernel/notes */
	const char *kernel_modules;    /* their load addresses; NULL = /proc/modules */
	const char *kernel_module_dir; /* their notes: DIR/NAME/notes/...; NULL = /sys/module */
	const char *perf_map_dir;      /* for ended processes; NULL = /tmp */
	uint64_t memory_limit; /* approximate bytes of files kept; 0 = SYMBOLS_MEMORY_DEFAULT */
	bool lines;            /* also look for source lines and inlined functions */
	bool debuginfod;       /* ask the servers in DEBUGINFOD_URLS for missing files */
};

/* A mapping as recorded. */
struct symbol_mapping {
	const char *path; /* in its mount namespace, or "[vdso]", "//anon", ...; or NULL */
	const uint8_t *build_id;
	size_t n_build_id;    /* 0 = unknown */
	uint64_t start;       /* address */
	uint64_t size;        /* bytes */
	uint64_t file_offset; /* bytes, of START */
	uint64_t device;      /* major << 20 | minor */
	uint64_t inode;       /* 0 = unknown */
	/*
	 * START is the address of the file's first byte, and SIZE extends to the end of all its
	 * mappings; FILE_OFFSET is unused. (If SIZE equals the size of its code, it is the code
	 * alone.)
	 */
	bool whole;
};

/* The run-time compilers of programs. */
enum symbol_runtime {
	SYMBOL_RUNTIME_UNKNOWN,
	SYMBOL_RUNTIME_JAVA,
	SYMBOL_RUNTIME_NODE,
	SYMBOL_RUNTIME_PYTHON,
	SYMBOL_RUNTIME_ERLANG,
	SYMBOL_RUNTIME_GUILE,
	SYMBOL_RUNTIMES,
};

/* The run-time compiler in the file PATH. */
enum symbol_runtime symbols_runtime_of(const char *path);

struct symbol_query {
	uint32_t pid; /* as recorded; 0 = unknown */
	bool lives;   /* PID still is that process: /proc/PID can be used */
	bool kernel;  /* ADDRESS is in the kernel; PID and LIVES are unused */
	/* That of PID, for the reason why code in no file has no names */
	enum symbol_runtime runtime;
	/*
	 * ADDRESS is a return address, as in every frame of a backtrace except the innermost: the
	 * call before it is looked up. (It can be the last instruction of its function.)
	 */
	bool is_return;
	uint64_t address;
	/*
	 * Its mapping. Kernel addresses in no mapping (BPF programs, modules that were not
	 * recorded) have the mapping of the kernel's text, which identifies the kernel.
	 */
	struct symbol_mapping mapping;
};

struct symbol_frame {
	const char *function; /* demangled; NULL = unknown */
	const char *source;   /* file; NULL = unknown */
	const char *module;   /* last part of the path; "[vdso]", "[kernel]", ...; or NULL */
	uint64_t offset;      /* bytes from the start of the function that contains inlined ones */
	uint32_t line;        /* in SOURCE, from 1; 0 = unknown */
	bool inlined;         /* into the next frame */
	bool unsure;          /* there is no proof that it existed at the time of the recording */
};

/* Returns 0 or a negative errno: a given directory does not exist, -ENOMEM. */
int symbols_new(struct symbols **ret, const struct symbols_options *options);

struct symbols *symbols_free(struct symbols *s);
DEFINE_CLEANUP(struct symbols *, symbols_free)

/*
 * Resolves an address to *RET_N frames, at least one: inlined functions, innermost first, then the
 * function that contains them. The line of every outer one is that of the call. *RET is valid until
 * the next call, its texts until symbols_free(). Equal texts have equal pointers. Returns 0 or
 * -ENOMEM.
 */
int symbols_resolve(struct symbols *s, const struct symbol_query *query,
		    const struct symbol_frame **ret, size_t *ret_n);

/*
 * The function that the call before a return address names. Returns 1 with *RET, its name: "" if it
 * has none, followed by "@plt" if it is in another file; 0 if it is unknown, as for all calls
 * through a pointer; or -ENOMEM. Otherwise as above.
 */
int symbols_called(struct symbols *s, const struct symbol_query *query, const char **ret);

/* The reason why a file has no names (or no lines). */
struct symbol_problem {
	const char *file; /* path, "[kernel]", "perf-PID.map"; clean text */
	const char *what; /* the problem, and the remedy if there is one */
};

/*
 * The problems so far, one per file and reason: *POS starts at 0; returns NULL after the last one.
 * The texts are valid until symbols_free(). After SYMBOLS_PROBLEMS_MAX, nothing is added.
 */
enum { SYMBOLS_PROBLEMS_MAX = 1024 };
const struct symbol_problem *symbols_next_problem(const struct symbols *s, size_t *pos);

/* The approximate memory for files, in bytes: for tests and tuning. */
uint64_t symbols_memory(const struct symbols *s);
