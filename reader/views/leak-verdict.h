/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Verdicts on groups of blocks that were not freed, by the evidence, not by the number of blocks.
 *
 *   lost            nothing in the process's memory points to some of the blocks
 *   indirectly lost only other lost blocks point to some of them
 *   possibly lost   the only pointers to some lead to their middle, or are tagged, or in the kernel
 *   growing         their number increased all the time: in at least LEAK_GREW_MIN windows, in at
 *                   least LEAK_QUARTERS_MIN of the four quarters of the time since the first one,
 *                   and it decreased in at most a LEAK_FELL_PART-th as many windows
 *   unfreed         their program has ended (exit, exec) and left them; without a search
 *   still reachable the same; something points to all of them
 *   old             none is younger than half of the watched time
 *   steady          there are older and younger ones: blocks come and go
 *   young           none is older than a tenth of that time: too early to decide
 *
 * The first verdict that applies is used, in this order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reader/views/leak-trend.h"

enum {
	LEAK_GREW_MIN = 3,
	LEAK_QUARTERS_MIN = 3,
	LEAK_FELL_PART = 4,
	LEAK_OLD_PART = 2,    /* for "half of the watched time" */
	LEAK_YOUNG_PART = 10, /* for "a tenth of that time" */
};

enum leak_verdict {
	LEAK_LOST,
	LEAK_INDIRECTLY_LOST,
	LEAK_POSSIBLY_LOST,
	LEAK_GROWING,
	LEAK_UNFREED,
	LEAK_STILL_REACHABLE,
	LEAK_OLD,
	LEAK_STEADY,
	LEAK_YOUNG,
	LEAK_VERDICT_MAX,
};

/* The names of the verdicts: "lost", "possibly lost", ... */
extern const char *const leak_verdict_names[LEAK_VERDICT_MAX];

struct leak_evidence {
	uint64_t lost, indirect, possible, reachable,
		unknown; /* numbers of blocks, by the result of the search */
	struct leak_growth growth;
	bool program_ended;
	uint64_t watched_ns;             /* duration of the watch */
	uint64_t oldest_ns, youngest_ns; /* ages of the oldest and the youngest block */
};

enum leak_verdict leak_verdict(const struct leak_evidence *e);

/* Returns true if G is growth as defined for "growing". */
bool leak_growth_is_steady(const struct leak_growth *g);

/*
 * An estimate of the total from blocks that were sampled at random, one per interval of bytes. A
 * sampled block represents 1/P blocks, where P = 1 - exp(-size / interval) is the probability that
 * a block of its size is sampled. The estimate is correct on average for all sizes. A block much
 * larger than the interval is always sampled, so it represents one block.
 */
struct leak_estimate {
	double blocks, bytes;
	double blocks_variance, bytes_variance;
};

/* Adds a block of SIZE bytes, sampled at INTERVAL bytes; INTERVAL 0 = all blocks are recorded. */
void leak_estimate_add(struct leak_estimate *e, uint64_t size, uint64_t interval);

/* Returns the error of an estimate with VARIANCE that is not exceeded in 95 of 100 cases. */
double leak_estimate_error(double variance);
