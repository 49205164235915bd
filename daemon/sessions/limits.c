/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/sessions/limits.h"

#include "capture/options/options.h"
#include "capture/session/session.h"

/* A smaller machine has the limits of this one. */
#define SMALL_BYTES (UINT64_C(2) << 30)

/* The spare queue of each session counts, but is not part of the default size. */
#define SPARE_BYTES (UINT64_C(32) << 20)

/* The buffer of one program: the default rings of eight CPUs. */
#define BUFFER_BYTES (UINT64_C(32) << 20)

static const struct {
	uint64_t all;
	uint64_t memory;          /* a machine with this memory has all of the limits */
	unsigned root, user, own; /* these limits are `all` divided by this */
	uint64_t by_default;      /* the amount of a session without an option for it; 0 = rings */
} limits[] = {
	/* (a machine of 16 GiB reports less than that) */
	[LIMITED_RINGS] = { UINT64_C(2) << 30, UINT64_C(15) << 30, 4, 2, 4, 0 },
	/* (empty tables of so many blocks take 2 GiB) */
	[LIMITED_BLOCKS] = { MEMORY_BLOCKS_MAX, UINT64_C(15) << 30, 4, 2, 4,
			     MEMORY_BLOCKS_DEFAULT },
	[LIMITED_TABLES] = { UINT64_C(2) << 30, UINT64_C(15) << 30, 4, 4, 8, STACK_TABLES_DEFAULT },
	/* (a machine can have so many in all, see provider-seats.h) */
	[LIMITED_BUFFERS] = { UINT64_C(1) << 30, UINT64_C(15) << 30, 4, 2, 4, BUFFER_BYTES },
	/* (a quarter of the memory, for the data that users want to keep) */
	[LIMITED_FLIGHTS] = { UINT64_C(1) << 30, UINT64_C(4) << 30, 4, 4, 8, FLIGHT_BYTES_DEFAULT },
};

static uint64_t limits_at_least(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The limit for all users, without regard to sessions. */
static uint64_t limits_share(enum limited what, uint64_t memory)
{
	uint64_t all = limits[what].all;

	if (memory >= limits[what].memory)
		return all;
	return (uint64_t)((double)all * (double)limits_at_least(memory, SMALL_BYTES) /
			  (double)limits[what].memory);
}

uint64_t limits_default_rings(uint64_t memory)
{
	uint64_t own = limits_share(LIMITED_RINGS, memory) / limits[LIMITED_RINGS].own;

	return own - own / 8 - SPARE_BYTES;
}

/* The amount that a session has without an option for it. */
static uint64_t limits_by_default(enum limited what, uint64_t memory)
{
	/* With many CPUs, even the smallest rings take more than the default size. */
	return limits[what].by_default
		       ?: session_ring_memory(&(struct session_options){
				  .default_rings_max = limits_default_rings(memory),
			  });
}

struct limit limits_of(enum limited what, uint64_t memory)
{
	uint64_t all = limits_share(what, memory), one = limits_by_default(what, memory);
	struct limit limit = {
		.root = limits_at_least(all / limits[what].root, one),
		.user = limits_at_least(all / limits[what].user, 2 * one),
		.own = limits_at_least(all / limits[what].own, one),
	};

	limit.all = limits_at_least(all, limit.root + limit.user);
	return limit;
}
