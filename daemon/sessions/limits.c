/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/sessions/limits.h"

#include "capture/options/options.h"

/* A machine with this memory has all of the limits. (One of 16 GiB reports less than that.) */
#define LARGE_BYTES (UINT64_C(15) << 30)
/* A smaller machine has the limits of this one, which leave room for a session. */
#define SMALL_BYTES (UINT64_C(2) << 30)

/* The spare queue of each session counts, but is not part of the default size. */
#define SPARE_BYTES (UINT64_C(32) << 20)

static const struct {
	uint64_t all;
	unsigned root, user, own; /* these limits are `all` divided by this */
	uint64_t by_default;      /* the amount of a session without an option for it */
} limits[] = {
	[LIMITED_RINGS] = { UINT64_C(2) << 30, 4, 2, 4, 0 },
	/* (empty tables of so many blocks take 2 GiB) */
	[LIMITED_BLOCKS] = { MEMORY_BLOCKS_MAX, 4, 2, 4, MEMORY_BLOCKS_DEFAULT },
	[LIMITED_TABLES] = { UINT64_C(2) << 30, 4, 4, 8, STACK_TABLES_DEFAULT },
	[LIMITED_FLIGHTS] = { UINT64_C(1) << 30, 4, 4, 8, FLIGHT_BYTES_DEFAULT },
};

static uint64_t limits_at_least(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

struct limit limits_of(enum limited what, uint64_t memory)
{
	uint64_t all = limits[what].all;

	if (memory < LARGE_BYTES)
		all = (uint64_t)((double)all * (double)limits_at_least(memory, SMALL_BYTES) /
				 (double)LARGE_BYTES);
	return (struct limit){
		.all = all,
		.root = all / limits[what].root,
		.user = limits_at_least(all / limits[what].user, limits[what].by_default),
		.own = limits_at_least(all / limits[what].own, limits[what].by_default),
	};
}

uint64_t limits_default_rings(uint64_t memory)
{
	uint64_t own = limits_of(LIMITED_RINGS, memory).own;

	return own - own / 8 - SPARE_BYTES;
}
