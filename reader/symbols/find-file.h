/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the mapped file, and its separate debug information.
 *
 * Every file is opened below a root: that of this machine, of a sysroot, or of a live process.
 * Neither links nor ".." can leave the root, and only regular files of real file systems are
 * opened.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "reader/symbols/elf-file.h"
#include "reader/symbols/symbol-types.h"

/* The directories to search. */
struct find_places {
	int root_fd; /* "/" of this machine */
	int sysroot_fd;
	struct find_debug_dir {
		int root_fd; /* one of the above; borrowed */
		char *path;  /* owned */
	} * debug_dirs;      /* owned */
	size_t n_debug_dirs;
	bool has_sysroot; /* SYSROOT_FD is another root than that of this machine */
	bool debuginfod;
};

/* Returns 0 or a negative errno; after an error, nothing must be freed. */
int find_places_init(struct find_places *p, const struct symbols_options *options);
void find_places_deinit(struct find_places *p);

/* A file that was found. */
struct found_file {
	struct elf_file *elf;
	int root_fd;   /* owned: the root of the file */
	char *path;    /* owned: below that root */
	uint64_t size; /* bytes */
	bool unsure;   /* there is no proof that it is the mapped file */
	/* If it is a file of this machine without a build id: wall-clock times; 0 = unknown. */
	uint64_t written_ns, changed_ns;
};

/*
 * Returns the reason why the content of F may have changed since MAPPED_NS (wall clock; 0 =
 * unknown); NULL = it has not, or MAPPED_NS is unknown.
 */
const char *found_file_is_later(const struct found_file *f, uint64_t mapped_ns);

void found_file_deinit(struct found_file *f);

/* Reports a problem. PATH is the file's name for users, and valid during the call; WHAT is
 * static. */
typedef void (*find_problem_fn)(void *userdata, const char *path, const char *what);

/* True if PATH can be the path of a file: false for "[heap]", "//anon", memory files, devices. */
bool find_is_file(const char *path);

/*
 * Finds the file of QUERY's mapping. Returns 1 with *RET, 0 if no file is found (PROBLEM has got
 * the reasons), or -ENOMEM.
 */
int find_mapped_file(const struct find_places *p, const struct symbol_query *query,
		     struct found_file *ret, find_problem_fn problem, void *userdata);

/*
 * Finds debug information by BUILD_ID, for a file that is not on this machine. Returns 1 with *RET,
 * 0 if there is none, or -ENOMEM. Reports no problems.
 */
int find_debug_by_build_id(const struct find_places *p, const uint8_t *build_id, size_t n,
			   struct found_file *ret);

/* Finds the separate debug information of MAIN. Returns like find_mapped_file(). */
int find_debug_file(const struct find_places *p, const struct found_file *main,
		    struct found_file *ret, find_problem_fn problem, void *userdata);

/*
 * Finds the data that DEBUG shares with other debug files (its .gnu_debugaltlink). Returns 1 with
 * *RET, 0 if DEBUG needs none, -ENOENT if it was not found, or -ENOMEM.
 */
int find_alternate_file(const struct find_places *p, const struct found_file *debug,
			struct found_file *ret);
