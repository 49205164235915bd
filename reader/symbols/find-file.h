/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which file was mapped, and where its debug information is kept apart.
 *
 * Everything is opened below some root (of this machine, of a sysroot, of a living process's mount
 * namespace), from which neither links nor ".." lead out, and is a regular file of a real file
 * system.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reader/symbols/elf-file.h"
#include "reader/symbols/symbols.h"

/* Where to look. */
struct find_places {
	int root_fd; /* "/" of this machine */
	int sysroot_fd;
	struct find_debug_dir {
		int root_fd; /* one of the above; borrowed */
		char *path;  /* owned */
	} * debug_dirs;      /* owned */
	size_t n_debug_dirs;
	bool debuginfod;
};

/* Returns 0 or a negative errno (nothing to deinit then). */
int find_places_init(struct find_places *p, const struct symbols_options *options);
void find_places_deinit(struct find_places *p);

/* A file that was found. */
struct found_file {
	struct elf_file *elf;
	int root_fd;   /* owned: below which it was found */
	char *path;    /* owned: below that root */
	uint64_t size; /* bytes */
	bool unsure;   /* nothing says that it is the one that was mapped */
};

void found_file_deinit(struct found_file *f);

/* Takes over texts for people: PATH is what has the problem, WHAT is static. */
typedef void (*find_problem_fn)(void *userdata, const char *path, const char *what);

/* True if PATH can be one of a file: false for "[heap]", "//anon", memory files, devices. */
bool find_is_file(const char *path);

/*
 * The file of the mapping of QUERY. Returns 1 with *RET, 0 if there is none (what was in the way
 * has been reported to PROBLEM), or -ENOMEM.
 */
int find_mapped_file(const struct find_places *p, const struct symbol_query *query,
		     struct found_file *ret, find_problem_fn problem, void *userdata);

/*
 * Only the debug information of a file with BUILD_ID, wherever that is. As find_debug_file(), for
 * when the file itself is not here.
 */
int find_debug_by_build_id(const struct find_places *p, const uint8_t *build_id, size_t n,
			   struct found_file *ret);

/*
 * The debug information that belongs to MAIN and is not in it. Returns 1 with *RET, 0 or -ENOMEM as
 * above.
 */
int find_debug_file(const struct find_places *p, const struct found_file *main,
		    struct found_file *ret, find_problem_fn problem, void *userdata);

/*
 * What several debug files share (.gnu_debugaltlink of DEBUG). Returns 1 with *RET, 0 if none is
 * needed, -ENOENT if it was not found, or -ENOMEM.
 */
int find_alternate_file(const struct find_places *p, const struct found_file *debug,
			struct found_file *ret);
