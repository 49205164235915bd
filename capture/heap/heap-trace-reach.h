/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out which of the live blocks at the end of a watch are reachable. There are two searches
 * (capture/heap/reach.h) through the memory of the process, each with the blocks that are in the
 * table of memory.bpf.c at that time. A block is lost if both searches agree. Blocks that were
 * allocated between the two searches have no result.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "capture/programs/collector.h"
#include "capture/heap/heap-images.h"
#include "capture/options/options.h"

struct memory_search {
	struct collector *collector; /* borrowed */
	int blocks_fd, ended_threads_fd, killed_threads_fd;
	const struct session_options *options;
	/* The program of the process that is searched; NULL = unknown */
	const struct rec_task *program;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC; for all searches together */
	bool still;           /* the process is stopped: one search is sufficient */
};

/*
 * Returns true if THREAD, which has ended with END, belonged to PROGRAM, the record of the
 * process's first thread.
 */
bool heap_trace_reach_is_of(const struct memory_ended_thread *thread,
			    const struct memory_thread_end *end, const struct rec_task *program);

/*
 * Appends to TO (struct rec_registers) the threads of the program that the exit of its process has
 * killed. The registers of these threads are unknown, but their memory still counts as in use.
 * Returns 0; -ESRCH if the program is unknown, since blocks that these threads use would count as
 * lost; or another negative errno.
 */
int heap_trace_reach_list_killed(const struct memory_search *how, struct outbuf *to);

/*
 * Searches the process of IMAGE, whose probes are still attached, and stores the result in IMAGE,
 * replacing an earlier one. There is no result if the process has ended or hangs, is traced by
 * another process, or is a 32-bit program, or if time is up. Takes up to the deadline. Returns 0,
 * or a negative errno as the reason for no result.
 */
int heap_trace_reach_search(const struct memory_search *how, struct heap_image *image);
