/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that a process maps. Paths are not sufficient: they can be in another mount namespace, or
 * the file can have been replaced. /proc/PID/map_files refers to the mapped files, but requires a
 * capability. Without this capability, the path below /proc/PID/root is used, if it leads to the
 * same file.
 *
 * To open and query a file on FUSE or on a network can take forever. So for file systems that are
 * not local, a child process does this, and is left alone if it takes too long
 * (capture/proc/reader-process.h). A path can lead to such a file system even if the mapped file is
 * local, so only a child follows paths. To close such a file can take forever, too: a thread does
 * this.
 */
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include "capture/proc/proc-records.h"
#include "capture/sandbox/local-devices.h"

struct mapped_file_opening;

struct mapped_file {
	int fd;                              /* -1 = not open */
	struct stat st;                      /* valid while it is open */
	struct mapped_file_opening *opening; /* NULL = its close does not wait */
};

/*
 * Opens the file that REC maps in process PID. Returns 0; -ENOEXEC if it is not a regular file;
 * -ETIME if its file system does not answer for some seconds; -EBUSY if it has not answered an
 * earlier request for a process of the same user; -EUSERS if too many requests wait; or another
 * negative errno. Then *RET is not open.
 */
int mapped_file_open(pid_t pid, const struct rec_mapping *rec, struct local_devices *local,
		     struct mapped_file *ret);

/*
 * Opens the file of REC, whose process has ended, by its path on this machine. Returns like
 * mapped_file_open(); -ESTALE if another file is there now.
 */
int mapped_file_open_by_path(const struct rec_mapping *rec, struct local_devices *local,
			     struct mapped_file *ret);

/* Closes F, if it is open. Waits only for local file systems. */
void mapped_file_close(struct mapped_file *f);
