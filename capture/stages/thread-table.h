/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of one program in the books of capture/stages/resources.h. A thread counts as left if
 * it ended by itself and was neither joined nor detached, or if the exit of the process ended it.
 * (In the second case, a thread that was waiting at the exit, and would have continued, does not
 * count.) A thread is made in two steps, the fork and the return of pthread_create(). It is
 * identified by its tid until it ends, and by its handle (pthread_t) until it is released.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "bpf/record.h"
#include "capture/stages/resource-block.h"

/* All zero except for members that the owner sets. */
struct thread_table {
	struct table by_handle; /* pthread_t -> struct thread, owned */
	struct table
		/* Tid -> struct thread, until the tid is free; owns threads without a handle. */
		by_tid;
	struct table being_made; /* tid + 1 of the thread that makes it -> struct thread */
	uint64_t n_full;         /* number of threads for which there was no room */
	uint64_t n_unmatched;    /* number of releases of unknown threads */

	/*
	 * Set by the owner. Called when a thread is left, or no longer left (IS_LEFT is false).
	 * Returns 0, or a negative errno.
	 */
	int (*left)(const struct resource_block *block, bool is_left, void *userdata);
	void *userdata;
};

void thread_table_deinit(struct thread_table *b);

/*
 * Handles the next call. Ignores calls that are not about threads. Returns 0, the result of the
 * owner's function, or -ENOMEM.
 */
int thread_table_record(struct thread_table *b, const struct rec_resource *call);

/* Calls FN for all threads that are left. Returns the result of FN if it is not 0. */
int thread_table_each(const struct thread_table *b, resources_block_fn fn, void *userdata);
