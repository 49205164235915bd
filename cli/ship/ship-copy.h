/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes files and flat directories so that they appear under their names as a whole.
 *
 * While a file or directory is written, it has a hidden name. It gets its name by a rename when all
 * of it is on the disk. The hidden name is derived from the name, so the next attempt replaces what
 * a killed process has left.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/outbuf.h"

struct ship_copy {
	int from_fd;      /* a directory, or the file itself */
	const char *from; /* name in FROM_FD; NULL = FROM_FD is the file itself */
	int to_fd;
	const char *name; /* the name in TO_FD */
	/* Called from time to time. If it returns false, the copy ends with -ECANCELED. */
	bool (*goes_on)(void *userdata);
	void *userdata;
};

/*
 * Copies a file, or a directory of files. Returns 0; -EEXIST if NAME exists already; -EMEDIUMTYPE
 * if the source is or contains something else, such as a link, a FIFO, or a directory in the
 * directory; or another errno. On failure, nothing is left.
 */
int ship_copy_run(const struct ship_copy *c);

/*
 * Writes DATA to the file NAME in DIR_FD, and replaces an existing file. Returns 0 or a negative
 * errno.
 */
int ship_copy_put(int dir_fd, const char *name, const struct outbuf *data, mode_t mode);

/*
 * Removes a file, or a directory with all that is in it (up to a depth of 16), if it exists.
 * Returns 0 or a negative errno.
 */
int ship_copy_remove(int dir_fd, const char *name);

/*
 * Opens the directory PATH below DIR_FD, and creates the directories of PATH. Returns a descriptor
 * or a negative errno.
 */
int ship_copy_make_directory(int dir_fd, const char *path);
