/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of another process, without pages that were never touched: reading these pages would
 * allocate them. The kernel's page map shows which pages are present.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { REACH_BUFFER_BYTES = 4 << 20 };

struct reach_memory {
	pid_t task;               /* a live task of the process, through which its memory is read */
	uint8_t *buffer;          /* REACH_BUFFER_BYTES. Owned */
	struct reach_span *spans; /* ranges of present pages; owned */
	size_t n_spans;
	int pagemap_fd, mem_fd;
	uint64_t page_bytes, deadline_ns;
	bool only_own; /* `only_own` of the root that is being read (struct root) */
	uint64_t searched_bytes, refused_bytes, skipped_bytes; /* see struct reach_result */
};

/* Returns 0 or -ENOMEM. Nothing is freed, since the search process ends. */
int reach_memory_init(struct reach_memory *m, pid_t task, uint64_t deadline_ns);

/* Returns 0, or -ETIME after the deadline. */
int reach_memory_check_time(const struct reach_memory *m);

/*
 * Reads up to N bytes into the buffer. Returns the number of bytes that were read, or a negative
 * errno. If it is less than N, the memory after these bytes is unreadable.
 */
ssize_t reach_memory_read(struct reach_memory *m, uint64_t address, size_t n);

/* Receives N bytes at ADDRESS. */
typedef void (*reach_memory_fn)(uint64_t address, const uint8_t *data, size_t n, void *userdata);

/*
 * Passes the present pages from FROM to TO to FN. FROM and TO are multiples of words. Returns 0 or
 * a negative errno.
 */
int reach_memory_each(struct reach_memory *m, uint64_t from, uint64_t to, reach_memory_fn fn,
		      void *userdata);
