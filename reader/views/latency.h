/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A histogram of durations: exact up to 16 ns, then 16 steps per power of two, so percentiles are
 * correct to about 3 %. Count, sum and maximum are exact.
 *
 * Only used steps take memory, 8 bytes each, since there can be very many threads, most of which
 * are woken only a few times. A histogram has at most LATENCY_STEPS steps.
 */
#pragma once

#include <stdint.h>

#include "base/table.h"

enum {
	LATENCY_FINE_BITS = 4, /* 16 steps per power of two */
	LATENCY_STEPS = (64 - LATENCY_FINE_BITS + 1) << LATENCY_FINE_BITS,
};

struct latency_step {
	uint32_t step, count; /* a count stops at UINT32_MAX */
};

struct latency {
	uint64_t n, sum_ns, max_ns;
	struct latency_step *steps; /* owned; sorted by step */
	uint32_t n_steps, room;
};

/* Frees the steps and makes L empty and usable again. */
void latency_deinit(struct latency *l);

/* Adds a duration of NS. Returns 0 or -ENOMEM. */
int latency_add(struct latency *l, uint64_t ns);

/* Adds all durations of FROM. Returns 0 or -ENOMEM. */
int latency_merge(struct latency *l, const struct latency *from);

/* Returns the mean duration; 0 without durations. */
uint64_t latency_mean_ns(const struct latency *l);

/* Adds a duration of NS to T's histogram for KEY (not 0). Returns 0 or -ENOMEM. */
int latency_table_add(struct table *t, uint64_t key, uint64_t ns);

/* Frees all histograms in T, and makes T empty and usable again. */
void latency_table_deinit(struct table *t);

/*
 * Returns the duration that PERCENT (0 to 100) of the durations do not exceed, rounded to the
 * middle of its step; 0 = no durations.
 */
uint64_t latency_percentile_ns(const struct latency *l, double percent);

/* Returns the shortest duration of STEP. */
uint64_t latency_step_ns(uint32_t step);

/* Returns the number of durations below NS. Exact if NS is a power of two. */
uint64_t latency_below(const struct latency *l, uint64_t ns);
