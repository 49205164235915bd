/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/sessions/limits.h"

#include "capture/options/options.h"
#include "capture/session/session.h"

/* A machine with less memory has the limits of a machine with this much. */
#define SMALL_BYTES (UINT64_C(2) << 30)

/*
 * The size of a session's spare queue. It counts for the limit, but is not part of the default
 * size.
 */
#define SPARE_BYTES (UINT64_C(32) << 20)

/* The size of a program's buffer: that of the default rings of eight CPUs. */
#define BUFFER_BYTES (UINT64_C(32) << 20)

static const struct {
	uint64_t all;
	uint64_t memory;          /* a machine with this much memory, or more, has `all` */
	unsigned root, user, own; /* these limits are `all` divided by this */
	uint64_t by_default;      /* amount of a session without the option; 0 = default rings */
} limits[] = {
	/* (a machine with 16 GiB reports a bit less, so the limit is full at 15 GiB) */
	[LIMITED_RINGS] = { UINT64_C(2) << 30, UINT64_C(15) << 30, 4, 2, 4, 0 },
	/* (empty tables with room for MEMORY_BLOCKS_MAX blocks take 2 GiB) */
	[LIMITED_BLOCKS] = { MEMORY_BLOCKS_MAX, UINT64_C(15) << 30, 4, 2, 4,
			     MEMORY_BLOCKS_DEFAULT },
	[LIMITED_TABLES] = { UINT64_C(2) << 30, UINT64_C(15) << 30, 4, 4, 8, STACK_TABLES_DEFAULT },
	/* (no more buffers than this can exist on a machine, see provider-seats.h) */
	[LIMITED_BUFFERS] = { UINT64_C(1) << 30, UINT64_C(15) << 30, 4, 2, 4, BUFFER_BYTES },
	/* (a quarter of the memory: the content is what users want to keep) */
	[LIMITED_FLIGHTS] = { UINT64_C(1) << 30, UINT64_C(4) << 30, 4, 4, 8, FLIGHT_BYTES_DEFAULT },
};

static uint64_t limits_at_least(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The limit for all users together, before it is raised to what a default session needs. */
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

/* The amount of a session whose options do not set it. */
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
