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
 * Mounts it over DIRECTORY, for OWNER alone or, if that is root, for all users. A process answers
 * requests until this one ends. Returns 0 or a negative errno.
 */
int mute_fuse_mount(const char *directory, uid_t owner);

#define MUTE_FUSE_FILE  "mute-file"
#define MUTE_FUSE_BYTES 4096 /* its size */

/*
 * Mounts one for all users, and opens its file for reading. No other process can open it, since the
 * directory is removed at once. Returns the descriptor, or a negative errno after a message.
 */
int mute_fuse_open(void);

/*
 * From here on no thread of process PID gets an answer, no child of it, and no kymod-reaper,
 * -closer or -sink; 0 = all do, those that wait, too.
 */
void mute_fuse_be_mute_to(pid_t pid);

/*
 * With KEEP, no page of the file is read for its mappings, and no dirty page is written, from now
 * on. Without KEEP, all are.
 */
void mute_fuse_keep_pages(bool keep);

/* The number of waiting requests. */
unsigned mute_fuse_waiting(void);
