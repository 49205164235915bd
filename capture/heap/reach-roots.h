/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The roots of the search for references, from /proc: the memory of a process, and the data that
 * the kernel keeps for it.
 *
 * A program can make memory read-only or unreadable after it has stored pointers there. So all
 * pages of the program's own count, whatever their permissions are: writable pages, and private
 * pages that differ from their file.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/outbuf.h"

struct root {
	uint64_t from, to;
	bool is_anonymous, is_stack, is_heap;
	bool is_guard;  /* anonymous, without any permission, like the memory below a stack */
	bool is_secret; /* only the program itself can read it (memfd_secret) */
	/*
	 * Search only the process's own pages. The process cannot have stored pointers in the pages
	 * of the file, since it cannot write to these pages.
	 */
	bool only_own;
};

/*
 * Appends the mappings of TASK that can contain pointers (struct root), by address. Returns 0;
 * -ESRCH if it has ended; or another negative errno.
 */
int reach_roots_read(pid_t task, struct outbuf *roots);

/*
 * Returns the number of bytes of the mapping of TASK at FROM that are the process's own: present or
 * swapped-out pages that are not those of a file. UINT64_MAX = unknown, or not read before
 * DEADLINE_NS (CLOCK_MONOTONIC). The kernel counts the pages of all mappings up to this one, which
 * can take long.
 */
uint64_t reach_roots_own_bytes(pid_t task, uint64_t from, uint64_t deadline_ns);

/*
 * Appends the words (uint64_t) that the kernel keeps for TASK, and returns to it later: the data of
 * its epoll instances and of its timers, and the buffers of its io_urings. A process can have any
 * number of instances, and each descriptor of an instance lists all entries.
 * Returns 0; -ETIME: DEADLINE_NS (CLOCK_MONOTONIC) has passed; -EMSGSIZE: the buffer is full; or
 * -ENOMEM.
 */
int reach_roots_read_kernel(pid_t task, uint64_t deadline_ns, struct outbuf *words);
