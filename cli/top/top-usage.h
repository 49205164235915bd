/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data about processes that is not in the stream: memory, and I/O of storage, from /proc. The data
 * is read only for the first processes of the table, and not at all if the pids in /proc differ
 * from the kernel's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reader/views/live.h"

enum { TOP_USAGES_MAX = 100 };

struct top_usage {
	uint32_t pid;
	bool has_memory, has_io, has_rate;
	uint64_t memory_bytes;    /* resident memory */
	uint64_t io_bytes;        /* I/O since the start of the process */
	uint64_t read_at_ns;      /* time of the read, CLOCK_BOOTTIME */
	double io_bytes_a_second; /* I/O since the previous read */
};

struct top_usages {
	bool looked, other_pids;
	unsigned n;
	struct top_usage list[TOP_USAGES_MAX];
};

/* Reads the usage of the first processes of W. W is sorted. */
void top_usages_update(struct top_usages *u, const struct live_window *w);

/* Returns the usage of PID; NULL = unknown. */
const struct top_usage *top_usages_of(const struct top_usages *u, uint32_t pid);
