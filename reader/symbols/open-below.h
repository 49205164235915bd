/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opens files by untrusted paths, below a directory that is the root of these paths.
 *
 * Neither links nor ".." can leave that directory. A file is opened for reading only once it is
 * known to be a regular file of a real file system: a pipe would block, and some files of /proc and
 * /sys have side effects when they are read. (openat2() could keep paths below the root, but some
 * kernels and sandboxes do not support it.)
 */
#pragma once

#include <limits.h>

/*
 * Opens PATH, absolute or not, below the directory ROOT_FD, for reading. Returns a descriptor or a
 * negative errno (-EINVAL: not a regular file of a real file system; -ELOOP: too many links).
 */
int open_below(int root_fd, const char *path);

/*
 * Like open_below(). Also writes the file's absolute path below ROOT_FD, without links, to RET
 * (only on success). -ENAMETOOLONG: the path is too long.
 */
int open_below_find(int root_fd, const char *path, char ret[static PATH_MAX]);

/* Opens the file of FD, an O_PATH descriptor, for reading. Returns like open_below(). */
int open_regular(int fd);
