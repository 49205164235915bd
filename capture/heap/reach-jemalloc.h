/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that jemalloc (5.1 to 5.3) has for itself. It has the addresses of blocks that it has
 * given out, which are no references:
 *
 *   - its base blocks: the descriptions of its extents, with their addresses. Each begins with its
 *     size, a multiple of 2 MiB as its address, the address of the next one, and what is left of
 *     it, at its end.
 *   - the stacks of a thread's cache (5.3): an array that keeps what was taken from it. A mark is
 *     before it, at the begin of a page, and another one behind it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct reach_page {
	pid_t task;
	uint64_t address;    /* of a page of the task */
	const uint8_t *data; /* from there on */
	size_t n_bytes;      /* of DATA; at least one word */
};

/* The end of such memory that begins there, or 0. *RET_SEEN is the address up to which a mark was
 * looked for in vain, or 0. */
uint64_t reach_jemalloc_end(const struct reach_page *page, uint64_t *ret_seen);
