/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The time in which CPUs were idle, for "another CPU was idle meanwhile". A table of the moments at
 * which the number of idle CPUs changes between none, one and several, with sums, so that a
 * question takes logarithmic time, whatever the number of CPUs. Each change takes 24 bytes, all at
 * most 400 MiB.
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

/* Fills T, which is empty, from the finished history H. Returns 0 or -ENOMEM. */
int idle_time_make(struct idle_time *t, const struct history *h);

/* The part of [FROM_NS, TO_NS) in which at least one CPU other than CPU was idle. */
uint64_t idle_time_beside(const struct idle_time *t, const struct history *h, uint32_t cpu,
			  uint64_t from_ns, uint64_t to_ns);

/*
 * For each CPU other than CPU, adds its idle time in [FROM_NS, TO_NS) to its element of NS, which
 * has history_n_cpus() elements. Returns the number of visited slices and CPUs.
 */
uint64_t idle_time_add_each(const struct history *h, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
			    uint64_t *ns);
