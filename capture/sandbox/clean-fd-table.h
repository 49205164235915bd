/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of descriptors without those of clients. A child has all descriptors of its parent, and
 * closes them at the latest when it ends. Closing can block forever for a file on a file system
 * that never answers, which a client passed to the service (daemon/files/async-close.h). So a child
 * that needs no descriptors is made by a thread with its own table of only the lowest numbers.
 */
#pragma once

/* A kernel copies at least this many entries of a table, even if fewer are requested. */
#define CLEAN_FD_TABLE 64

/*
 * From now on, new descriptors have numbers of at least CLEAN_FD_TABLE. So the lower numbers
 * contain no foreign descriptors. Returns 0 or a negative errno.
 */
int clean_fd_table_begin(void);

/* Returns one of the descriptors that reserve the low numbers: /dev/null, for reading. Returns -1
 * before clean_fd_table_begin(). */
int clean_fd_table_null(void);

/*
 * Runs FN(USERDATA) in a thread with its own table of descriptors, and waits for it. Returns the
 * result of FN, or a negative errno.
 */
int clean_fd_table_run(int (*fn)(void *userdata), void *userdata);

/*
 * Like clean_fd_table_run(), but FN gets a copy of FD with a number below CLEAN_FD_TABLE. Before
 * clean_fd_table_begin(), FN runs in the calling thread, with all descriptors and FD itself.
 */
int clean_fd_table_run_with(int fd, int (*fn)(int fd, void *userdata), void *userdata);
