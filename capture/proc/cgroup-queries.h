/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cgroups whose paths a session needs, and the time of their lookups: any number of cgroups
 * cannot keep the worker busy. Queries wait in a queue. Asking processes (cgroup-paths.h) takes at
 * most 5 % of a CPU, and the walk 1 %.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "capture/proc/cgroup-paths.h"

enum { CGROUP_ASKS_MAX = 4096, CGROUP_ASKS_AT_ONCE = 256 };

struct cgroup_ask {
	uint64_t id;
	uint32_t pid; /* a process that is, or was, in the cgroup */
};

struct cgroup_queries {
	struct cgroup_ask queue[CGROUP_ASKS_MAX]; /* first in, first out */
	unsigned n;
	struct cgroup_paths *paths; /* NULL = lookups are impossible */
	uint64_t next_ns;           /* CLOCK_MONOTONIC: not before */
	uint64_t walk_ns;           /* likewise, for the walk */
	bool walking;               /* the walk has ids to search for */
};

/*
 * Looks up the cgroups of the processes in TASKS (struct rec_task): those that the programs select
 * if OWN is set, otherwise all. Then walks for a moment, and reports all cgroups on the way. This
 * and cgroup_queries_answer() append results (struct proc_cgroup) to FOUND.
 */
void cgroup_queries_begin(struct cgroup_queries *a, const struct outbuf *tasks, bool own,
			  struct outbuf *found);
void cgroup_queries_deinit(struct cgroup_queries *a);

/* Queues ASK. False if too many wait. */
bool cgroup_queries_add(struct cgroup_queries *a, const struct cgroup_ask *ask);

/* The time of the next work, CLOCK_MONOTONIC; UINT64_MAX: none until the next query. */
uint64_t cgroup_queries_next_ns(const struct cgroup_queries *a);

/* Moves the first queries to BATCH. Returns their number. */
unsigned cgroup_queries_take(struct cgroup_queries *a,
			     struct cgroup_ask batch[CGROUP_ASKS_AT_ONCE]);

/* Looks up the N queries in BATCH, and continues the walk. Does not access the queue. */
void cgroup_queries_answer(struct cgroup_queries *a, const struct cgroup_ask *batch, unsigned n,
			   struct outbuf *found);
