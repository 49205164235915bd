/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lists directories, and opens kymo's own directories.
 */
#pragma once

#include <dirent.h>

/* The runtime directory that all recorders of the machine share, except recorders in containers. */
#define DIRECTORY_MACHINE "/run/kymo"

/*
 * Lists DIR_FD from its beginning, independently of other listings. The caller frees the result
 * with closedir(). Returns NULL with errno set on failure.
 */
DIR *directory_list(int dir_fd);

/*
 * Opens NAME in $RUNTIME_DIRECTORY or /run/kymo, which are created if needed. The content of the
 * directory persists until the next boot, and belongs to kymo. Returns the descriptor or a negative
 * errno: -EPERM if other users can write to it.
 */
int directory_open_runtime(const char *name);

/* Like directory_open_runtime(), but in PARENT, such as DIRECTORY_MACHINE. */
int directory_open_below(const char *parent, const char *name);

/*
 * Like directory_open_runtime(), but in $CACHE_DIRECTORY or /var/cache/kymo, whose content can be
 * removed at any time.
 */
int directory_open_cache(const char *name);
