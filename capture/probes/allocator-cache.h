/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cache of search results for each file, so that a library that a hundred programs use is read
 * once. A file is identified by device, inode, size, and the times of its last change. The least
 * recently used entries are removed first. The cache is for one thread.
 */
#pragma once

#include "base/cleanup.h"
#include "capture/probes/allocators.h"

enum { ALLOCATOR_CACHE_MAX = 256 }; /* files */

/* TIMEOUT_NS: the time limit of the first file. Returns 0 or -ENOMEM. */
int allocator_cache_new(uint64_t timeout_ns, struct allocator_cache **ret);
struct allocator_cache *allocator_cache_free(struct allocator_cache *c);
DEFINE_CLEANUP(struct allocator_cache *, allocator_cache_free)

/*
 * Finds the probes in the file FD (allocators_find_sandboxed()), or the error. FD is recognized by
 * the last result of fstat() (the file system is not asked again). Errors that are caused by the
 * file are cached, too. A timeout reduces the time limit of other files. *RET belongs
 * to the cache and is valid until the next call. Returns like allocators_find_sandboxed().
 */
int allocator_cache_find(struct allocator_cache *c, int fd, const struct allocator_list **ret);

/* Returns the number of files that were read since the beginning. */
uint64_t allocator_cache_reads(const struct allocator_cache *c);
