/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child has all descriptors that its parent has, and lets go of them when it ends, if not before:
 * which may take for ever for one of a file system that does not answer, that somebody passed to
 * the service (daemon/async-close.h). So a child that needs none of them is made by a thread that
 * has few: a table of its own, with the lowest numbers only.
 */
#pragma once

/* Below this one a kernel copies all of a table, however few are asked for. */
#define CLEAN_FD_TABLE 64

/*
 * From here on what is opened has another number than those, so that nobody else's is among them.
 * Returns 0 or a negative errno.
 */
int clean_fd_table_begin(void);

/* One of those that keep these numbers taken: /dev/null, for reading. -1 before that. */
int clean_fd_table_null(void);

/*
 * Runs FN(USERDATA) in a thread with a table of descriptors of its own, and waits for it. Returns
 * what FN does, or a negative errno.
 */
int clean_fd_table_run(int (*fn)(void *userdata), void *userdata);

/*
 * Likewise; FN gets a copy of FD, which is among those few. Without clean_fd_table_begin() the
 * caller runs FN itself, with all that it has.
 */
int clean_fd_table_run_with(int fd, int (*fn)(int fd, void *userdata), void *userdata);
