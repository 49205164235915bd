/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the blocks that live at the end of watching can be reached: two searches
 * (capture/heap/reach.h) through the memory of the process, each with the blocks that the table of
 * memory.bpf.c has at that time. A block is lost if both say so; of what was made between them
 * nothing is said.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/programs/collector.h"
#include "capture/heap/heap-tables.h"
#include "capture/options/options.h"

struct memory_search {
	struct collector *collector; /* borrowed */
	int blocks_fd;
	const struct session_options *options;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC: of all searches of a session together */
	bool still;           /* the process stands still: one search is enough */
};

/*
 * Searches the process of IMAGE, whose probes are still there, and keeps the answer in it, instead
 * of one that it has. Nothing is kept where that cannot be done: the process has ended or hangs,
 * somebody else traces it, it is a 32 bit program, or time is up. Takes up to the deadline. Returns
 * 0 or a negative errno: why nothing is kept.
 */
int heap_trace_reach_search(const struct memory_search *how, struct heap_image *image);

/* What was found about the block of IMAGE at ADDRESS that was made at BIRTH_NS: `enum reach`. */
uint32_t heap_trace_reach_of(const struct heap_image *image, uint64_t address, uint64_t birth_ns);

void heap_trace_reach_deinit(struct heap_image *image);
