/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is in a directory that is open, and this program's directories for what it keeps.
 */
#pragma once

#include <dirent.h>

/*
 * Lists it from its beginning, also while others do. Returns NULL with errno set; else the
 * caller's, for closedir().
 */
DIR *directory_list(int dir_fd);

/*
 * Opens NAME in $RUNTIME_DIRECTORY or /run/kymo, which are made if they are not there. What is in
 * it outlives this process until the machine is booted, and is nobody else's. Returns the
 * descriptor or a negative errno: -EPERM if others may write to it.
 */
int directory_open_runtime(const char *name);

/* Likewise in $CACHE_DIRECTORY or /var/cache/kymo: what may go at any time. */
int directory_open_cache(const char *name);
