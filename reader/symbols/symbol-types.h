/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The options, queries and results of look-ups of names (reader/symbols/symbols.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
