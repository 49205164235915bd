/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slices of CPU time, from the states of threads: one row for each segment in which a thread
 * ran.
 */
#pragma once

#include "cli/tables/table-set.h"
#include "reader/views/thread-states.h"

struct table_slices {
	struct table_set *set;  /* borrowed */
	struct table waits;     /* tid -> struct slice_wait, owned */
	const struct event *ev; /* the event that is being added; NULL = the end */
};

void table_slices_deinit(struct table_slices *s);

/* Takes a segment (thread_states_fn). Returns 0 or a negative errno. */
int table_slices_add(void *userdata, const struct thread_segment *segment);
