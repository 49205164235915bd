/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files that processes use instead of a file with probes: another libc.so.6 in a container, for
 * example. Calls and moments of functions in these files are not recorded. A child of fork has the
 * files of its parent until it executes another program.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "model/event.h"

enum {
	/* Files that are named; of other files, only the processes are counted. */
	OTHER_FILES_MAX = 8,
	OTHER_FILES_STEM = 64,         /* room for the result of other_files_stem() */
	OTHER_FILES_PROCESSES = 65536, /* processes that are remembered */
};

struct other_files {
	struct other_file {
		/*
		 * The name of the file with probes; the other file. Owned. If they are equal, the
		 * file was replaced, or the processes have another root directory.
		 */
		char *file, *path;
		uint64_t n; /* number of processes */
	} list[OTHER_FILES_MAX];
	size_t n;
	uint64_t n_processes; /* number of processes with any such file */
	uint64_t n_unnamed;   /* processes with files that did not fit into the list */
	struct table known;   /* pid + 1 -> sets of files: see other_files_set_of() */
	bool is_full;         /* `known` is full: processes that are not in it are not counted */
};

/*
 * Counts EV if it is an EVENT_OTHER_FILE (a repetition counts once), and follows EVENT_FORK and
 * EVENT_EXEC. Returns 1 if EV was an EVENT_OTHER_FILE that was counted, 0, or -ENOMEM.
 */
int other_files_add(struct other_files *o, const struct event *ev);

/*
 * Returns a sentence that names the files and the numbers of their processes, owned by the caller.
 * NULL = there are no such files, or no memory.
 */
char *other_files_text(const struct other_files *o);

void other_files_deinit(struct other_files *o);

/*
 * Writes the name of a file at PATH without directory and version: libz of libz.so.1.2.13, libc of
 * libc-2.31.so and of musl. The name of a file that is not a library is unchanged. Returns RET.
 */
char *other_files_stem(char ret[static OTHER_FILES_STEM], const char *path);
