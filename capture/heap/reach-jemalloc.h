/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The own memory of jemalloc (5.1 to 5.3). It contains addresses of allocated blocks that are not
 * references:
 *
 *   - base blocks, with the descriptions of extents. Each begins with its size, a multiple of 2 MiB
 *     like its address, the address of the next one, and its unused rest, which is at its end.
 *   - stacks of a thread's cache (5.3): an array that keeps elements after they were taken. A mark
 *     is before it, at the beginning of a page, and another one after it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct reach_page {
	pid_t task;
	uint64_t address;    /* address of the page in the task */
	const uint8_t *data; /* data at ADDRESS */
	size_t n_bytes;      /* number of bytes of `data`; at least one word */
};

/*
 * Returns the end of jemalloc's own memory that begins at PAGE; 0 = PAGE is not its beginning.
 * *RET_SEEN is the address up to which no end mark was found, or 0.
 */
uint64_t reach_jemalloc_end(const struct reach_page *page, uint64_t *ret_seen);
