/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file system of this process (FUSE, in its own mount namespace, so it needs root) with one file.
 * It can be made mute to a process: requests of that process wait until it answers again, or
 * forever.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * Mounts the file system over DIRECTORY, for OWNER alone or, if OWNER is root, for all users. A
 * child process answers requests until this process ends. Returns 0 or a negative errno.
 */
int mute_fuse_mount(const char *directory, uid_t owner);

#define MUTE_FUSE_FILE  "mute-file"
#define MUTE_FUSE_BYTES 4096 /* its size */

/*
 * Mounts the file system for all users, and opens its file for reading. No other process can open
 * the file, since the directory is removed at once. Returns the descriptor, or a negative errno
 * after a message.
 */
int mute_fuse_open(void);

/*
 * From here on, no thread of process PID gets an answer, no child of PID, and no helper of kymod
 * ("kymod-..."). PID 0: all requests are answered, also those that wait.
 */
void mute_fuse_be_mute_to(pid_t pid);

/*
 * KEEP: from now on, requests for pages of the file wait: no page is read for mappings, and no
 * dirty page is written. Without KEEP, such requests are answered.
 */
void mute_fuse_keep_pages(bool keep);

/* The number of waiting requests. */
unsigned mute_fuse_waiting(void);
