/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file system of this process's own (FUSE, in a mount namespace of its own, so it takes root),
 * with one file. It answers everybody but those that it is to be mute to; what these ask waits
 * until it speaks again, or for ever.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * Mounts it over DIRECTORY, for OWNER alone or, if that is root, for everybody. A process answers
 * until this one ends. Returns 0 or a negative errno.
 */
int mute_fuse_mount(const char *directory, uid_t owner);

#define MUTE_FUSE_FILE  "mute-file"
#define MUTE_FUSE_BYTES 4096 /* its size */

/*
 * From here on no thread of process PID gets an answer, no child of it, and no kymod-reaper,
 * -closer or -sink; 0 = all do, those that wait, too.
 */
void mute_fuse_be_mute_to(pid_t pid);

/*
 * From here on no page of the file is read for whoever maps it, and none that is dirty is written;
 * or, if not KEEP, all are.
 */
void mute_fuse_keep_pages(bool keep);

/* How many requests wait now. */
unsigned mute_fuse_waiting(void);
