/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of one program in the books of capture/pipeline/resources.h: those that have ended by
 * themselves and were neither joined nor detached are left. A thread is made in two steps, the fork
 * and the return of pthread_create(), and is known by its tid until it ends and by its handle
 * (pthread_t) until somebody has released it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "bpf/record.h"
#include "capture/pipeline/resources.h"

/* All zero but for what the owner sets. */
struct thread_table {
	struct table by_handle; /* pthread_t -> struct thread, owned */
	struct table
		by_tid; /* tid -> the same, until the tid is free; those without handle: owned */
	struct table being_made; /* tid of the maker + 1 -> the same */
	uint64_t n_full;         /* that there was no room to remember */
	uint64_t n_unmatched;    /* that were released and not known */

	/*
	 * Set by the owner: a thread is left, or (not IS_LEFT) is so no more. Zero, or a negative
	 * errno.
	 */
	int (*left)(const struct resource_block *block, bool is_left, void *userdata);
	void *userdata;
};

void thread_table_deinit(struct thread_table *b);

/*
 * The next call; one that is not about threads is passed over. Returns 0, what the owner's function
 * returned, or -ENOMEM.
 */
int thread_table_record(struct thread_table *b, const struct rec_resource *call);

/* Calls FN for all that are left. Returns what FN returned when that is not 0. */
int thread_table_each(const struct thread_table *b, resources_block_fn fn, void *userdata);
