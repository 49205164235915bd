/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables of earlier recordings, on disk, so that a file is parsed once. Each table has one
 * file: a head, then the rows as they are in memory.
 *
 * The key of a table is the device, inode, size and change time of the file; the owner of a file
 * cannot set its change time. A build ID is not a key, since any user can write it into a file.
 * FUSE file systems can return any values, so their files are not cached. A cached table is checked
 * like a table from the sandbox.
 *
 * The directory belongs to this user alone and holds at most BYTES_MAX. The least recently used
 * files are removed first. Several processes can use it at a time. A struct unwind_cache is for one
 * thread.
 */
#pragma once

#include <stdint.h>

#include "base/cleanup.h"
#include "capture/unwind/unwind-table.h"

struct unwind_cache;

#define UNWIND_CACHE_BYTES_MAX (UINT64_C(256) << 20)

/*
 * Opens "unwind" in $CACHE_DIRECTORY or, for root, in /var/cache/kymo, and creates missing
 * directories. Returns 0, -ENOENT if there is no place for it, -EPERM if other users have write
 * access, or another negative errno.
 */
int unwind_cache_open(uint64_t bytes_max, struct unwind_cache **ret);
struct unwind_cache *unwind_cache_free(struct unwind_cache *cache);
DEFINE_CLEANUP(struct unwind_cache *, unwind_cache_free)

/*
 * Finds the table of the file FD (borrowed). The caller owns it, and calls unwind_table_deinit().
 * Returns 0, -ENOENT if the cache has no table, or another negative errno.
 */
int unwind_cache_find(struct unwind_cache *cache, int fd, struct unwind_table *ret);

/*
 * Gets the table of the file FD (borrowed). If CACHE does not have it, makes it in the sandbox and
 * stores it. Failures of the cache only cost time, and CACHE can be NULL. Returns 0,
 * UNWIND_CACHE_FOUND, or a result of unwind_table_read_sandboxed().
 */
enum { UNWIND_CACHE_FOUND = 1 };
int unwind_cache_make(struct unwind_cache *cache, int fd, struct unwind_table *ret);

/*
 * Stores TABLE for the file FD, unless the file was changed while it was parsed: parsing began at
 * STARTED_NS (CLOCK_REALTIME). Returns 0, also if it is not stored; or a negative errno.
 */
int unwind_cache_put(struct unwind_cache *cache, int fd, uint64_t started_ns,
		     const struct unwind_table *table);
