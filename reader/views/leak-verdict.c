/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/leak-verdict.h"

#include <math.h>

const char *const leak_verdict_names[LEAK_VERDICT_MAX] = {
	[LEAK_LOST] = "lost",
	[LEAK_INDIRECTLY_LOST] = "indirectly lost",
	[LEAK_POSSIBLY_LOST] = "possibly lost",
	[LEAK_GROWING] = "growing",
	[LEAK_UNFREED] = "unfreed",
	[LEAK_STILL_REACHABLE] = "still reachable",
	[LEAK_OLD] = "old",
	[LEAK_STEADY] = "steady",
	[LEAK_YOUNG] = "young",
};

bool leak_growth_is_steady(const struct leak_growth *g)
{
	return g->grew >= LEAK_GREW_MIN && g->quarters >= LEAK_QUARTERS_MIN &&
	       g->fell * LEAK_FELL_PART <= g->grew && g->per_second > 0;
}

enum leak_verdict leak_verdict(const struct leak_evidence *e)
{
	if (e->lost > 0)
		return LEAK_LOST;
	if (e->indirect > 0)
		return LEAK_INDIRECTLY_LOST;
	if (e->possible > 0)
		return LEAK_POSSIBLY_LOST;
	if (leak_growth_is_steady(&e->growth))
		return LEAK_GROWING;
	if (e->program_ended && e->unknown > 0)
		return LEAK_UNFREED;
	if (e->program_ended && e->reachable > 0)
		return LEAK_STILL_REACHABLE;
	if (e->youngest_ns >= e->watched_ns / LEAK_OLD_PART)
		return LEAK_OLD;
	return e->oldest_ns <= e->watched_ns / LEAK_YOUNG_PART ? LEAK_YOUNG : LEAK_STEADY;
}

void leak_estimate_add(struct leak_estimate *e, uint64_t size, uint64_t interval)
{
	/* A block of 0 bytes is sampled as often as a block of 1 byte. */
	double bytes = (double)size, p = 1;

	if (interval > 0)
		p = -expm1(-(size > 0 ? bytes : 1) / (double)interval);
	e->blocks += 1 / p;
	e->bytes += bytes / p;
	e->blocks_variance += (1 - p) / (p * p);
	e->bytes_variance += bytes * bytes * (1 - p) / (p * p);
}

double leak_estimate_error(double variance)
{
	return 1.96 * sqrt(variance);
}
