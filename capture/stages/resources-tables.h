/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The content of the books. Internal to resources*.c.
 */
#pragma once

#include "base/table.h"
#include "capture/heap/heap-records.h"
#include "capture/stages/resources.h"
#include "capture/stages/thread-table.h"

enum thing_state {
	STATE_LIVES,
	STATE_GONE,   /* it no longer exists, since `gone_ns` */
	STATE_BEFORE, /* it existed before the watch, or another process made it */
};

/* A resource with a number or an address. */
struct thing {
	uint64_t id, size;
	uint64_t gone_ns;
	struct origin origin;
	enum thing_state state;
	bool cloexec;
	bool listed; /* it is in the list that is being read */
	char text[MEMORY_BLOCK_TEXT_BYTES];
};

struct resources {
	struct resources_sink sink;
	struct table things[RESOURCE_MAX]; /* id + 1 -> struct thing, owned; of fd, segment, ... */
	struct ranges mappings;
	struct ranges listed; /* mappings of the list that is being read */
	struct thread_table threads;
	/* Tid + 1 -> struct move, owned: a mremap() that has not returned. */
	struct table moves;
	struct table sums;               /* hash -> struct resource_sums, owned */
	struct rec_listing listing;      /* the start of the list that is being read */
	const struct rec_resource *call; /* the current call */
	bool remade; /* if a resource is made now, it existed before and is not a new allocation */
	uint64_t n_full, n_unmatched;
	uint64_t page_bytes;
	int error;
};

static inline bool thing_lives(const struct thing *thing)
{
	return thing && thing->state == STATE_LIVES;
}

/* Returns the id of the shared memory object NAME. */
uint64_t resources_shm_id(const char *name);

/* Returns true if START with BYTES is a valid range of addresses. */
static inline bool resources_is_range(uint64_t start, uint64_t bytes)
{
	return bytes > 0 && start + bytes > start && bytes < UINT64_MAX / 2;
}

/* Returns the thing with that ID, or NULL. */
struct thing *resources_find(const struct resources *r, enum resource resource, uint64_t id);

/*
 * Returns the thing with that ID, which is created if it does not exist. If there is no room,
 * counts this and returns NULL.
 */
struct thing *resources_entry(struct resources *r, enum resource resource, uint64_t id);

/*
 * Called when THING has ceased to exist at TS_NS. Returns the error of the sink. The books keep
 * this error, too.
 */
int resources_end(struct resources *r, enum resource resource, struct thing *thing, uint64_t ts_ns);

/* Passes THING, which is live, to the sink. */
int resources_write(struct resources *r, enum resource resource, const struct thing *thing);

/* Sets the size of THING, which is live, to SIZE from TS_NS on. This is not a new allocation. */
void resources_resize(struct resources *r, enum resource resource, struct thing *thing,
		      uint64_t size, uint64_t ts_ns);

/* Removes the mappings between START and END that were made by UNTIL_NS. Returns 0 or -ENOMEM. */
int resources_unmap(struct resources *r, uint64_t start, uint64_t end, uint64_t until_ns);
