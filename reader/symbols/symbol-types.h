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
	SYMBOL_BUILD_ID_MAX = 64, /* in bytes; longer build ids are ignored */
	SYMBOL_NAME_MAX = 4096,   /* maximum bytes of a function's name; longer names are cut */
	/* Maximum number of frames per address; further outer frames are left out. */
	SYMBOL_FRAMES_MAX = 64,
};

/* All members can be zero. Texts must be valid until symbols_new() returns. */
struct symbols_options {
	const char *sysroot; /* recorded paths are looked up below it; NULL = "/" */
	/* Directories to search before /usr/lib/debug; they are not below SYSROOT. */
	const char *const *debug_dirs;
	size_t n_debug_dirs;
	const char *kallsyms;     /* NULL = /proc/kallsyms */
	const char *kernel_notes; /* ELF notes of the kernel; NULL = /sys/kernel/notes */
	/* File with the load addresses of the kernel's modules; NULL = /proc/modules. */
	const char *kernel_modules;
	/* Directory with the notes of the kernel's modules (NAME/notes/...); NULL = /sys/module. */
	const char *kernel_module_dir;
	const char *perf_map_dir; /* directory for the maps of ended processes; NULL = /tmp */
	/* Approximate limit of the memory for contents, in bytes; 0 = SYMBOLS_MEMORY_DEFAULT. */
	uint64_t memory_limit;
	bool lines;      /* also look for source lines and inlined functions */
	bool debuginfod; /* ask the servers in DEBUGINFOD_URLS for missing files */
};

/* A mapping as it was recorded. */
struct symbol_mapping {
	/* Path in the process's mount namespace, or "[vdso]", "//anon", ...; or NULL. */
	const char *path;
	const uint8_t *build_id;
	size_t n_build_id;    /* 0 = unknown */
	uint64_t start;       /* first address */
	uint64_t size;        /* size in bytes */
	uint64_t file_offset; /* position of START in the file, in bytes */
	uint64_t device;      /* major << 20 | minor */
	uint64_t inode;       /* 0 = unknown */
	uint64_t mapped_ns;   /* when it was mapped, by the wall clock; 0 = unknown */
	/*
	 * true: START is the address of the file's first byte, and SIZE reaches to the end of all
	 * the file's mappings; FILE_OFFSET is unused. (If SIZE is the size of the file's code, the
	 * mapping is the code alone.)
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
	uint32_t pid; /* pid as recorded; 0 = unknown */
	bool lives;   /* process PID still exists, so /proc/PID can be used */
	bool kernel;  /* ADDRESS is in the kernel; PID and LIVES are unused */
	/* The time when process PID began, by the wall clock; 0 = unknown */
	uint64_t began_ns;
	/* The run-time compiler of PID, for messages about missing names of code outside of
	 * files */
	enum symbol_runtime runtime;
	/*
	 * true: ADDRESS is a return address, as in every frame of a backtrace except the innermost.
	 * Then the call before it is looked up, since ADDRESS itself can be behind the end of the
	 * function.
	 */
	bool is_return;
	uint64_t address;
	/*
	 * The mapping of ADDRESS. Kernel addresses outside of recorded mappings (BPF programs,
	 * modules) have the mapping of the kernel's text, which identifies the kernel.
	 */
	struct symbol_mapping mapping;
};

struct symbol_frame {
	const char *function; /* demangled; NULL = unknown */
	const char *source;   /* source file; NULL = unknown */
	const char *module;   /* last part of the path; "[vdso]", "[kernel]", ...; or NULL */
	/* Bytes from the start of the outermost function, into which the others are inlined. */
	uint64_t offset;
	uint32_t line; /* line in SOURCE, from 1; 0 = unknown */
	bool inlined;  /* inlined into the function of the next frame */
	/* true: no proof that the code was the same at the time of the recording. */
	bool unsure;
};
