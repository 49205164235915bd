/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is in the books. Internal to resources*.c.
 */
#pragma once

#include "base/table.h"
#include "capture/heap/heap-records.h"
#include "capture/pipeline/resources.h"
#include "capture/pipeline/thread-table.h"

enum thing_state {
	STATE_LIVES,
	STATE_GONE,   /* since gone_ns */
	STATE_BEFORE, /* it was there before the watch, or somebody else made it */
};

/* What has a number or an address of its own. */
struct thing {
	uint64_t id, size;
	uint64_t gone_ns;
	struct origin origin;
	enum thing_state state;
	bool cloexec;
	bool listed; /* by the list that is being read */
	char text[MEMORY_BLOCK_TEXT_BYTES];
};

struct resources {
	struct resources_sink sink;
	struct table things[RESOURCE_MAX]; /* id + 1 -> struct thing, owned; of fd, segment, ... */
	struct ranges mappings;
	struct ranges listed; /* mappings that the list that is being read has named */
	struct thread_table threads;
	struct table moves;         /* tid + 1 -> struct move, owned: a mremap() that has begun */
	struct table sums;          /* hash -> struct resource_sums, owned */
	struct rec_listing listing; /* its beginning, while one is being read */
	const struct rec_resource *call; /* that is being looked at */
	bool remade;                     /* what is made now was there: it is no other allocation */
	uint64_t n_full, n_unmatched;
	uint64_t page_bytes;
	int error;
};

static inline bool thing_lives(const struct thing *thing)
{
	return thing && thing->state == STATE_LIVES;
}

/* The id of the shared memory object NAME. */
uint64_t resources_shm_id(const char *name);

/* Whether START with BYTES are addresses at all. */
static inline bool resources_is_range(uint64_t start, uint64_t bytes)
{
	return bytes > 0 && start + bytes > start && bytes < UINT64_MAX / 2;
}

/* The thing of that ID, NULL if there is none. */
struct thing *resources_find(const struct resources *r, enum resource resource, uint64_t id);

/* Made if there is none; NULL without room, counted. */
struct thing *resources_entry(struct resources *r, enum resource resource, uint64_t id);

/*
 * THING is gone, since TS_NS. What the sink returns is kept in the books, as everywhere, and
 * returned.
 */
int resources_end(struct resources *r, enum resource resource, struct thing *thing, uint64_t ts_ns);

/* It lives, and the sink gets it. */
int resources_say(struct resources *r, enum resource resource, const struct thing *thing);

/* It lives with SIZE from TS_NS on: it is no other allocation. */
void resources_resize(struct resources *r, enum resource resource, struct thing *thing,
		      uint64_t size, uint64_t ts_ns);

/*
 * Takes the mappings between START and END out that were made up to UNTIL_NS. Returns 0 or -ENOMEM.
 */
int resources_unmap(struct resources *r, uint64_t start, uint64_t end, uint64_t until_ns);
