/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is to be thought of blocks that were not freed: by evidence, not by their number.
 *
 *	lost nothing in the memory of the process points to some of them indirectly lost only other
 *	lost blocks lead to them possibly lost to some only into their middle growing they became
 *	more all the time: in at least LEAK_GREW_MIN windows, in at least LEAK_QUARTERS_MIN of the
 *	four quarters of the time since the first one, and fewer in at most a LEAK_FELL_PART-th as
 *	many windows unfreed their program has ended (exit, exec) and left them; nobody looked what
 *	points to them still reachable likewise; something points to all of them old none is younger
 *	than half of the time that was watched steady older and younger ones: they come and go young
 *	none is older than a tenth of that time: too early to say
 *
 * The first of these that applies holds; they are listed in this order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reader/views/leak-trend.h"

enum {
	LEAK_GREW_MIN = 3,
	LEAK_QUARTERS_MIN = 3,
	LEAK_FELL_PART = 4,
	LEAK_OLD_PART = 2,    /* of the time watched */
	LEAK_YOUNG_PART = 10, /* likewise */
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

/* "lost", "possibly lost", ... */
extern const char *const leak_verdict_names[LEAK_VERDICT_MAX];

struct leak_evidence {
	uint64_t lost, indirect, possible, reachable, unknown; /* blocks, by what points to them */
	struct leak_growth growth;
	bool program_ended;
	uint64_t watched_ns;             /* how long it was watched */
	uint64_t oldest_ns, youngest_ns; /* ages */
};

enum leak_verdict leak_verdict(const struct leak_evidence *e);

/* Whether it grew as "growing" says. */
bool leak_growth_is_steady(const struct leak_growth *g);

/*
 * Of blocks that were sampled at random, one each so many bytes, what there was in all: each block
 * stands for 1/P of its kind, where P = 1 - exp(-size / interval) is how probable it was to be
 * taken. That is right on average, whatever the sizes are, and blocks far larger than the interval
 * count as they are.
 */
struct leak_estimate {
	double blocks, bytes;
	double blocks_variance, bytes_variance;
};

/* Adds a block of SIZE bytes, taken at INTERVAL; 0 = all blocks were. */
void leak_estimate_add(struct leak_estimate *e, uint64_t size, uint64_t interval);

/* In 95 of 100 cases what there was differs from the estimate by less. */
double leak_estimate_error(double variance);
