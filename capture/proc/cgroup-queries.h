/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cgroups whose paths a session asks for, and when they are looked up: so many cgroups do not
 * keep the worker busy. Questions wait in a queue; asking processes (cgroup-paths.h) takes 5 % of a
 * CPU at most, and the walk 1 %.
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
	struct cgroup_paths *paths; /* NULL = there is nobody to ask */
	uint64_t next_ns;           /* CLOCK_MONOTONIC: not before */
	uint64_t walk_ns;           /* likewise, for the walk */
	bool walking;               /* there is something to look for by it */
};

/*
 * Looks up where the processes of TASKS (struct rec_task) are: those that the programs select if
 * OWN is set, else all. Then walks for a moment, and reports all cgroups on the way. This and
 * cgroup_queries_answer() append answers (struct proc_cgroup) to FOUND.
 */
void cgroup_queries_begin(struct cgroup_queries *a, const struct outbuf *tasks, bool own,
			  struct outbuf *found);
void cgroup_queries_deinit(struct cgroup_queries *a);

/* Queues ASK. False if too many wait. */
bool cgroup_queries_add(struct cgroup_queries *a, const struct cgroup_ask *ask);

/* When there is something to do, CLOCK_MONOTONIC; UINT64_MAX: nothing until something is asked. */
uint64_t cgroup_queries_next_ns(const struct cgroup_queries *a);

/* Takes what is first in the queue into BATCH. Returns how many. */
unsigned cgroup_queries_take(struct cgroup_queries *a,
			     struct cgroup_ask batch[CGROUP_ASKS_AT_ONCE]);

/* Looks up the N of BATCH, and walks on. Does not touch the queue. */
void cgroup_queries_answer(struct cgroup_queries *a, const struct cgroup_ask *batch, unsigned n,
			   struct outbuf *found);
