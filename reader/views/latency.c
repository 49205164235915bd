/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/latency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { FINE = 1 << LATENCY_FINE_BITS };

/*
 * Returns the number of the step for a duration. Each duration below FINE has its own step. For
 * longer durations, the highest bit and the four bits after it select the step.
 */
static uint32_t latency_step_of(uint64_t ns)
{
	unsigned shift;

	if (ns < FINE)
		return (uint32_t)ns;
	shift = 63 - (unsigned)__builtin_clzll(ns) - LATENCY_FINE_BITS;
	return (shift + 1) * FINE + (uint32_t)(ns >> shift) - FINE;
}

uint64_t latency_step_ns(uint32_t step)
{
	return step < FINE ? step : (uint64_t)(FINE + step % FINE) << (step / FINE - 1);
}

static uint64_t latency_middle_of(uint32_t step)
{
	return step < FINE ? step
			   : latency_step_ns(step) + ((UINT64_C(1) << (step / FINE - 1)) >> 1);
}

void latency_deinit(struct latency *l)
{
	free(l->steps);
	*l = (struct latency){ 0 };
}

/* Adds COUNT to STEP. */
static int latency_count_in(struct latency *l, uint32_t step, uint32_t count)
{
	size_t low = ARRAY_FIRST(i, 0, l->n_steps, l->steps[i].step >= step);

	if (low == l->n_steps || l->steps[low].step != step) {
		if (GROW(l->steps, l->room, l->n_steps + 1) < 0)
			return -ENOMEM;
		memmove(&l->steps[low + 1], &l->steps[low], (l->n_steps - low) * sizeof(*l->steps));
		l->steps[low] = (struct latency_step){ step, 0 };
		l->n_steps++;
	}
	if (__builtin_add_overflow(l->steps[low].count, count, &l->steps[low].count))
		l->steps[low].count = UINT32_MAX;
	return 0;
}

/* Adds times, up to UINT64_MAX, since a damaged file can have any times. */
static uint64_t latency_add_up_to(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

int latency_add(struct latency *l, uint64_t ns)
{
	if (latency_count_in(l, latency_step_of(ns), 1) < 0)
		return -ENOMEM;
	l->n++;
	l->sum_ns = latency_add_up_to(l->sum_ns, ns);
	if (ns > l->max_ns)
		l->max_ns = ns;
	return 0;
}

int latency_merge(struct latency *l, const struct latency *from)
{
	for (uint32_t i = 0; i < from->n_steps; i++)
		if (latency_count_in(l, from->steps[i].step, from->steps[i].count) < 0)
			return -ENOMEM;
	l->n += from->n;
	l->sum_ns = latency_add_up_to(l->sum_ns, from->sum_ns);
	if (from->max_ns > l->max_ns)
		l->max_ns = from->max_ns;
	return 0;
}

uint64_t latency_mean_ns(const struct latency *l)
{
	return l->n ? l->sum_ns / l->n : 0;
}

uint64_t latency_percentile_ns(const struct latency *l, double percent)
{
	double wanted = (double)l->n * percent / 100, so_far = 0;

	for (uint32_t i = 0; i < l->n_steps; i++) {
		uint64_t ns = latency_middle_of(l->steps[i].step);

		so_far += l->steps[i].count;
		if (so_far >= wanted && so_far > 0)
			return ns < l->max_ns ? ns : l->max_ns;
	}
	return l->max_ns;
}

uint64_t latency_below(const struct latency *l, uint64_t ns)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < l->n_steps && latency_middle_of(l->steps[i].step) < ns; i++)
		n += l->steps[i].count;
	return n;
}

int latency_table_add(struct table *t, uint64_t key, uint64_t ns)
{
	struct latency *l = table_make(t, key, sizeof(*l));

	return l ? latency_add(l, ns) : -ENOMEM;
}

void latency_table_deinit(struct table *t)
{
	struct latency *l;

	for (size_t pos = 0; (l = table_next(t, &pos)); free(l))
		latency_deinit(l);
	table_deinit(t);
}
