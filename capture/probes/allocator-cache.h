/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of files that were looked at already, so that a library that a hundred programs use
 * is read once. A file is the same as long as device, inode, size, and the times of its last change
 * are. The ones that were not asked for longest go first. For one thread.
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
 * What the file that FD refers to has (allocators_find_sandboxed()), or why that is not known:
 * errors that come from the file are remembered, too. Files that take too long make the others have
 * less time. *RET is the cache's, valid until the next call. Returns as
 * allocators_find_sandboxed().
 */
int allocator_cache_find(struct allocator_cache *c, int fd, const struct allocator_list **ret);

/* How many files were read since the beginning. */
uint64_t allocator_cache_reads(const struct allocator_cache *c);
