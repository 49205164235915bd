/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `kymo top` shows of processes that is not in the stream: their memory, and what they read
 * from and write to storage, as /proc says it. Of those that are shown first only, and of none
 * where /proc has other pids than the kernel's records.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reader/views/live.h"

enum { TOP_USAGES_MAX = 100 };

struct top_usage {
	uint32_t pid;
	bool has_memory, has_io, has_rate;
	uint64_t memory_bytes;    /* resident */
	uint64_t io_bytes;        /* since it began */
	uint64_t read_at_ns;      /* boot */
	double io_bytes_a_second; /* since the look before */
};

struct top_usages {
	bool looked, other_pids;
	unsigned n;
	struct top_usage list[TOP_USAGES_MAX];
};

/* Looks at the first processes of W, which is sorted. */
void top_usages_update(struct top_usages *u, const struct live_window *w);

/* Of PID; NULL = nothing is known. */
const struct top_usage *top_usages_of(const struct top_usages *u, uint32_t pid);
