/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The time in which CPUs were idle, for "another CPU was idle meanwhile". A table of the times at
 * which none, one or several CPUs were idle, with sums, so that each question takes logarithmic
 * time, whatever the number of CPUs. It takes 24 bytes for each change, at most 400 MiB.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "reader/why/history.h"

struct idle_time {
	struct idle_turn *turns; /* owned */
	size_t n, room;
};

/* All zeroes is one without idle CPUs. */
void idle_time_deinit(struct idle_time *t);

/* Fills T, an empty one, from H, which is finished. Returns 0 or -ENOMEM. */
int idle_time_make(struct idle_time *t, const struct history *h);

/* Of FROM_NS to TO_NS, the time in which a CPU other than CPU was idle. */
uint64_t idle_time_beside(const struct idle_time *t, const struct history *h, uint32_t cpu,
			  uint64_t from_ns, uint64_t to_ns);

/*
 * Adds the idle time of each CPU other than CPU, from FROM_NS to TO_NS, to NS, which has
 * history_n_cpus() elements. Returns the number of visited slices and CPUs.
 */
uint64_t idle_time_add_each(const struct history *h, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
			    uint64_t *ns);
