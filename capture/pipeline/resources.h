/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The books of what one program in one process has made and not given back: descriptors, mappings,
 * shared memory, threads. They are kept from its calls (bpf/resources.bpf.c), which come in order
 * of time, and compared with what the kernel lists, since not all ways are calls that we see.
 *
 * A list takes time to read, and what is in the books goes on changing meanwhile. So a difference
 * only counts where the books have not changed since the list was begun: what is in them from
 * before and not listed is gone; what is listed and not in them is from before the watch (the first
 * list), or was made in a way that we do not see (later ones) and is reported without a stack.
 *
 * What a program inherits, from its parent or from the program before it, is on the first list:
 * none of its own. What it hands on when it calls exec is reported as open then, but for 0, 1 and
 * 2.
 *
 * A thread counts once it has ended by itself and neither was joined nor detached. Whether it was
 * made detached is read from its attributes, as glibc and musl have them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "bpf/record.h"
#include "capture/heap/heap-records.h"
#include "capture/pipeline/ranges.h"
#include "writer/event.h"

/* Of one kind in one process. */
enum { RESOURCES_MAX = 1 << 18 };

/* Something that was made. */
struct resource_block {
	enum resource resource;
	uint64_t id, size; /* as `enum resource` says */
	struct origin origin;
	const char *text; /* borrowed until the next call */
};

/* All that happens to the books. CALL is what did it; NULL if a list did. */
struct resources_sink {
	int (*made)(const struct resource_block *block, const struct rec_resource *call,
		    void *userdata);
	int (*freed)(const struct resource_block *block, const struct rec_resource *call,
		     void *userdata);
	void *userdata;
};

/* What lives of one stack, and what was ever made. */
struct resource_sums {
	enum resource resource;
	uint64_t stack;
	uint64_t blocks, bytes;
	uint64_t allocations, allocated_bytes;
	bool changed; /* since the reader has cleared it */
};

struct resources;

/* SINK is copied; what it has may be NULL. Returns 0 or -ENOMEM. */
int resources_new(const struct resources_sink *sink, struct resources **ret);

/* Returns NULL. */
struct resources *resources_free(struct resources *r);

DEFINE_CLEANUP(struct resources *, resources_free)

/*
 * The next call. One that makes no sense is passed over. Returns 0, what the sink returned, or
 * -ENOMEM.
 */
int resources_record(struct resources *r, const struct rec_resource *rec);

/*
 * A list of the kernel's: struct rec_listing, struct rec_found, ..., struct rec_listing. Likewise.
 */
int resources_listing(struct resources *r, const struct rec_listing *rec);
int resources_found(struct resources *r, const struct rec_found *rec);

/*
 * Calls FN for all that lives; of a program that ends by exec (EXECED), for what that leaves
 * behind. Returns what FN returned when that is not 0.
 */
typedef int (*resources_block_fn)(const struct resource_block *block, void *userdata);
int resources_each(struct resources *r, bool execed, resources_block_fn fn, void *userdata);

/* The sums, in no order: *POS starts at 0; NULL after the last one. */
struct resource_sums *resources_next_sums(const struct resources *r, size_t *pos);

/* What there was no room to remember, and given back without being known: from before. */
uint64_t resources_full(const struct resources *r);
uint64_t resources_unmatched(const struct resources *r);
