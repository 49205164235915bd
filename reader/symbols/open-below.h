/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opens files by untrusted paths, below a directory that is their root.
 *
 * Neither links nor ".." can leave that directory. A file is opened for reading only once it is
 * known to be a regular file of a real file system: a pipe would block, and some files of /proc and
 * /sys have side effects when they are read. (openat2() could do the first half; some kernels and
 * sandboxes do not support it.)
 */
#pragma once

#include <limits.h>

/*
 * Opens PATH, absolute or not, below the directory ROOT_FD, for reading. Returns a descriptor or a
 * negative errno: -EINVAL if it is not a regular file of a real file system, -ELOOP for too many
 * links.
 */
int open_below(int root_fd, const char *path);

/*
 * Like open_below(), and writes to RET the absolute path of the file below ROOT_FD, without links.
 * -ENAMETOOLONG if the path is too long. RET is set only on success.
 */
int open_below_find(int root_fd, const char *path, char ret[static PATH_MAX]);

/* Opens the file of FD, an O_PATH descriptor, for reading. Returns like open_below(). */
int open_regular(int fd);
