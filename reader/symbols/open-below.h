/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens files by paths that others have made, below a directory that stands for their root.
 *
 * Neither links nor ".." lead out of it, and nothing is opened for reading before it is known to be
 * a regular file of a real file system: a pipe would wait, and some files of /proc and /sys do
 * things when they are read. (openat2() could do the first half; not all kernels and sandboxes let
 * it through.)
 */
#pragma once

/*
 * Opens PATH, absolute or not, below the directory ROOT_FD, for reading. Returns a descriptor or a
 * negative errno: -EINVAL for what is no regular file of a real file system, -ELOOP for too many
 * links.
 */
int open_below(int root_fd, const char *path);

/* Opens for reading what FD stands for, opened by O_PATH. Returns as above. */
int open_regular(int fd);
