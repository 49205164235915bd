/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracepoints that the kernel and its modules have, from tracefs. Names from users are compared
 * with the existing ones, and never become parts of paths.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Opens the directory `events` of tracefs. If tracefs is not mounted, and this process may mount
 * it, mounts tracefs without a place in the file system. Returns a descriptor, or a negative errno:
 * -ENOENT if tracefs is unavailable.
 */
int tracefs_open(void);

/* The subdirectories of a directory, sorted. */
struct tracefs_names {
	char **list;
	size_t n;
};

void tracefs_names_deinit(struct tracefs_names *names);

/* Lists the subdirectories of NAME in DIR; "." = DIR itself. Returns 0 or a negative errno. */
int tracefs_list(int dir, const char *name, struct tracefs_names *ret);

/* Returns true if the tracepoint NAME, SYSTEM:NAME, exists in DIR. NAME is no pattern. */
bool tracefs_has(int dir, const char *name);

/*
 * Reads the file `format` of tracepoint NAME of SYSTEM; both must come from tracefs_list(). Returns
 * the number of bytes (ROOM if the file has as many or more), or a negative errno.
 */
ssize_t tracefs_read_format(int dir, const char *system, const char *name, char *to, size_t room);
