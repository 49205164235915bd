/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables of earlier recordings, on disk, so that a file is parsed once. One file a table:
 * a head, then the rows as they are in memory.
 *
 * A table belongs to a file by device, inode, size and time of change, which its owner cannot set,
 * and not by build ID, which is whatever somebody writes into a file. FUSE file systems answer what
 * they like, so their files are not kept. A table that is read is checked like one that the sandbox
 * made.
 *
 * The directory is this user's alone and holds at most BYTES_MAX: the files that were not used for
 * longest go first. Several processes may use it at a time. A cache is for one thread.
 */
#pragma once

#include <stdint.h>

#include "base/cleanup.h"
#include "capture/unwind/unwind-table.h"

struct unwind_cache;

#define UNWIND_CACHE_BYTES_MAX (UINT64_C(256) << 20)

/*
 * Opens "unwind" in $CACHE_DIRECTORY or, for root, in /var/cache/kymo; makes the directories that
 * are missing. Returns 0, -ENOENT where there is no place for it, -EPERM if others may write to it,
 * or another negative errno.
 */
int unwind_cache_open(uint64_t bytes_max, struct unwind_cache **ret);
struct unwind_cache *unwind_cache_free(struct unwind_cache *cache);
DEFINE_CLEANUP(struct unwind_cache *, unwind_cache_free)

/*
 * The table of the file that FD refers to (borrowed): the caller's, for unwind_table_deinit().
 * Returns 0, -ENOENT if there is none, or a negative errno.
 */
int unwind_cache_find(struct unwind_cache *cache, int fd, struct unwind_table *ret);

/*
 * Keeps TABLE for that file, if the file did not change while it was parsed: STARTED_NS is the
 * CLOCK_REALTIME at which that began. Returns 0, also where it is not kept; or a negative errno.
 */
int unwind_cache_put(struct unwind_cache *cache, int fd, uint64_t started_ns,
		     const struct unwind_table *table);
