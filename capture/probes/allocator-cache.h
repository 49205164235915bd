/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cache of search results per file, so that a library used by a hundred programs is read once. A
 * file is identified by device, inode, size, and the times of its last change. The least recently
 * used entries are removed first. For one thread.
 */
#pragma once

#include "base/cleanup.h"
#include "capture/probes/allocators.h"

enum { ALLOCATOR_CACHE_MAX = 256 }; /* files */

/* Returns 0 or -ENOMEM. */
int allocator_cache_new(struct allocator_cache **ret);
struct allocator_cache *allocator_cache_free(struct allocator_cache *c);
DEFINE_CLEANUP(struct allocator_cache *, allocator_cache_free)

/*
 * The probes in the file FD (allocators_find_sandboxed()), or the error. Errors that are caused by
 * the file are cached, too. A timeout reduces the time limit of other files. *RET belongs to the
 * cache and is valid until the next call. Returns as allocators_find_sandboxed().
 */
int allocator_cache_find(struct allocator_cache *c, int fd, const struct allocator_list **ret);

/* The number of files read since the beginning. */
uint64_t allocator_cache_reads(const struct allocator_cache *c);
