/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call stacks in sum: how often, and for how long, each stack of each thread was seen, on a CPU (by
 * samples) or away from it (by times off CPU). Computed from events in one pass, in file order.
 *
 * Stacks are kept as a tree that grows from the outermost call inwards, so equal ones, and equal
 * beginnings, are one. A place in it is an address in a mapping: what it is called is asked later
 * (call-tree.h), and names may come anywhere in the archive.
 *
 * Of the samples and times off CPU that the options select each is counted exactly once:
 * n_samples and n_offcpu are the sums of `count` over all stacks. One without a stack counts at the
 * root. A sample stands for one period of the archive's frequency, a time off CPU for its length,
 * of which only what lies in the window counts.
 *
 * Memory grows with the stacks that differ, and is bounded: beyond PROFILE_NODES_MAX calls, or
 * PROFILE_STACKS_MAX stacks of threads, what is new counts at the outermost calls that are known;
 * n_cut says how often. With the mappings (maps.h) and names (frames.h) that is a gigabyte at the
 * very most.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/table.h"
#include "writer/event.h"
#include "writer/frames.h"
#include "writer/maps.h"

enum {
	PROFILE_NODES_MAX = 1 << 22,
	PROFILE_PLACES_MAX = 1 << 20,
	PROFILE_STACKS_MAX = 1 << 22,
};

struct profile_options {
	bool on_cpu, off_cpu; /* what is wanted; none: what is counted by profile_count() */
	bool innermost;       /* of each stack the innermost call only */
	const uint32_t *pids; /* of these processes only; none = all; borrowed */
	size_t n_pids;
	const uint32_t *tids; /* of these threads only; likewise */
	size_t n_tids;
	const bool *cpus; /* by number: on these CPUs only, as the schedule has it; borrowed */
	size_t n_cpus;    /* 0 = all */
	uint64_t from_ns, to_ns; /* [from, to); UINT64_MAX = without an end */
	bool absolute;           /* times of the archive; else since its beginning */
};

/* Where a stack goes through. */
struct profile_place {
	uint32_t owner; /* the process whose address it is; kthreadd: the kernel's */
	bool returns;   /* a return address: the call stands before it */
	uint64_t address;
	const struct mapping *mapping; /* NULL = not known; of the profile */
	const struct frame_list
		*frames; /* what the archive had said when it was first seen, or NULL */
	uint32_t next;   /* of profile.c */
};

/* A call. Number 0 is the root: none. */
struct profile_node {
	uint32_t parent; /* who called */
	uint32_t place;
};

struct profile_stack {
	uint32_t pid, tid;
	uint32_t node; /* the innermost call */
	bool off_cpu;
	uint64_t count; /* samples, or times off CPU */
	uint64_t ns;
	uint32_t next; /* of profile.c */
};

struct profile {
	struct profile_place *places; /* owned */
	size_t n_places;
	struct profile_node *nodes; /* owned */
	size_t n_nodes;
	struct profile_stack *stacks; /* owned; in the order in which they were first seen */
	size_t n_stacks;

	uint64_t n_samples, n_offcpu;           /* that were counted */
	uint64_t n_samples_seen, n_offcpu_seen; /* in the archive */
	uint64_t n_cut;                         /* counted with a part of their stack only */
	uint32_t frequency;                     /* samples a second and CPU; 0 = not said */
	struct frames *frames;                  /* what the archive says of names */

	struct profile_state *state; /* of profile.c */
};

/* OPTIONS are copied, what they point to is borrowed. */
int profile_new(struct profile **ret, const struct profile_options *options);
struct profile *profile_free(struct profile *p);
DEFINE_CLEANUP(struct profile *, profile_free)

/* Takes one event in. Returns 0 or -ENOMEM. */
int profile_add(struct profile *p, const struct event *ev);

/* Counts what is still open. Once, after the last event. Returns 0 or -ENOMEM. */
int profile_finish(struct profile *p);

/*
 * Mappings that there was no room for (MAPS_MAX): what lay there has no name, or that of what was
 * there before.
 */
uint64_t profile_n_unmapped(const struct profile *p);

/*
 * For a recording that is still going on: begins anew. Stacks, calls and places are gone, mappings
 * and names are kept, but for those that were over before FORGET_NS; what is taken in later must
 * not be older.
 */
void profile_begin_part(struct profile *p, uint64_t forget_ns);

/*
 * For stacks that stand for something else than samples: puts the innermost call of that of EV, a
 * SAMPLE_NAMED, into *RET. Returns 0, 1 if a part of it is all that there was room for, or -ENOMEM.
 */
int profile_keep_stack(struct profile *p, const struct event *ev, uint32_t *ret);

/* Adds `count` and `ns`, whatever they stand for, to what STACK has. Returns 0 or -ENOMEM. */
int profile_count(struct profile *p, const struct profile_stack *stack);

/* Leaves out the stacks of which KEEP says no; n_samples and n_offcpu follow. */
void profile_filter(struct profile *p,
		    bool (*keep)(void *userdata, const struct profile_stack *stack),
		    void *userdata);
