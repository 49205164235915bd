/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The declarations that the files of the stage share. Internal to allocations*.c.
 *
 *   allocations.c             watched programs, stacks, blocks of memory; records that wait
 *   allocations-resources.c   descriptors, mappings and similar resources, by the books of each
 *                             watched program (resources.h)
 */
#pragma once

#include "capture/stages/allocations.h"

enum { BLOCK_TEXT_MAX = 4096 }; /* size of the longest text of a block, cleaned */

/* A watched program in a process (an instance). */
struct watch {
	uint32_t pid, instance;
	uint32_t koid; /* koid of the process; its pid can be reused before all data is written */
	uint32_t n_snapshots;
	struct table stacks; /* ids of the stacks that were written */
	struct allocations *of;
	struct resources *resources; /* NULL = no data about resources yet. Owned */
	uint64_t next_sums_ns;       /* when changed sums are written next */
	/* Number of blocks of the last snapshot that have not arrived yet. */
	uint64_t missing;
	bool ends;         /* the end of the watch waits for copies of stacks, or late files */
	bool awaits_files; /* it waits for late files */
	bool hurries;      /* it waits no longer */
};

int allocations_write_event(struct allocations *a, const struct event *ev);

/* Returns an event with the data that all events about the process of W have in common. */
struct event allocations_about(const struct allocations *a, const struct watch *w,
			       enum event_kind kind, uint64_t ts_ns);

/*
 * Each function that returns an int returns 0, or the error of the archive or of the books.
 * allocations_on_resource() handles a record about a resource.
 */
int allocations_on_resource(struct allocations *a, struct watch *w, const struct rec_head *rec);

/* Writes the changed sums whose stacks are in the archive. */
int allocations_write_sums(struct allocations *a, struct watch *w, uint64_t ts_ns);

/*
 * The first function counts the live resources of W; the second one writes each as EVENT_BLOCK.
 * EXECED: true = only the resources that remain after an exec.
 */
int allocations_count_resources(const struct watch *w, bool execed, uint64_t *ret);
int allocations_write_resources(struct allocations *a, const struct watch *w, uint64_t ts_ns,
				bool execed);

/* Writes the resources of all watched programs at the head of a chunk. */
int allocations_head(const void *stage, const struct stage_head *h);
