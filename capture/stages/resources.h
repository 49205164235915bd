/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The books: tables of the resources that one program in one process has made and not released:
 * descriptors, mappings, shared memory, threads. The books are updated from the calls of the
 * program (bpf/resources.bpf.c), which arrive in order of time. The books are compared with the
 * kernel's lists, since some resources are made without a traced call.
 *
 * Reading a list takes time, and the books change meanwhile. So a difference counts only where the
 * books have not changed since the list was begun. If a resource in the books is older and not
 * listed, it no longer exists. A listed resource that is not in the books existed before the watch
 * (first list), or was made without a traced call (later lists) and is reported without a stack.
 *
 * Resources that the program has inherited from its parent or from the previous program are on the
 * first list, and do not count as its own. At exec, the resources that the program passes on are
 * reported as open, except 0, 1 and 2.
 *
 * A thread counts when it has ended by itself and was neither joined nor detached. The attribute
 * "detached" of a thread is read in the layout of glibc and musl.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "bpf/record.h"
#include "capture/heap/heap-records.h"
#include "capture/heap/ranges.h"
#include "capture/stages/resource-block.h"
#include "model/event.h"

/* Receives all changes of the books. CALL is the cause of the change; NULL = a list shows it. */
struct resources_sink {
	int (*made)(const struct resource_block *block, const struct rec_resource *call,
		    void *userdata);
	int (*freed)(const struct resource_block *block, const struct rec_resource *call,
		     void *userdata);
	void *userdata;
};

/* The sums of the live resources of one stack, and of all resources that it ever made. */
struct resource_sums {
	enum resource resource;
	uint64_t stack;
	uint64_t blocks, bytes;
	uint64_t allocations, allocated_bytes;
	bool changed; /* changed since the reader last cleared this */
};

struct resources;

/* SINK is copied; its members can be NULL. Returns 0 or -ENOMEM. */
int resources_new(const struct resources_sink *sink, struct resources **ret);

/* Returns NULL. */
struct resources *resources_free(struct resources *r);

DEFINE_CLEANUP(struct resources *, resources_free)

/* Handles the next call. Ignores invalid calls. Returns 0, the sink's result, or -ENOMEM. */
int resources_record(struct resources *r, const struct rec_resource *rec);

/*
 * Handles the next record of a list of the kernel: struct rec_listing, struct rec_found, ...,
 * struct rec_listing. Returns 0, the sink's result, or -ENOMEM.
 */
int resources_listing(struct resources *r, const struct rec_listing *rec);
int resources_found(struct resources *r, const struct rec_found *rec);

/*
 * Calls FN for all live resources. If the program ends by exec (EXECED), FN is called only for the
 * resources that remain after the exec. Returns the result of FN if it is not 0.
 */
int resources_each(struct resources *r, bool execed, resources_block_fn fn, void *userdata);

/* Returns the next sums, in no order; NULL after the last ones. *POS starts at 0. */
struct resource_sums *resources_next_sums(const struct resources *r, size_t *pos);

/*
 * The first function returns the number of resources for which there was no room. The second one
 * returns the number of releases of unknown (earlier) resources.
 */
uint64_t resources_full(const struct resources *r);
uint64_t resources_unmatched(const struct resources *r);

/* Writes the names of the resources of CATEGORIES to TO, separated by commas. Returns TO. */
const char *resources_of_categories(uint32_t categories, char *to, size_t size);
