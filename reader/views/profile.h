/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums of call stacks: the number and duration of each stack of each thread, on a CPU (by samples)
 * or off CPU (by times off CPU). Computed from events in one pass, in file order.
 *
 * Stacks are kept as a tree from the outermost call inwards, so equal stacks, and equal beginnings,
 * are shared. A place in it is an address in a mapping. Its name is looked up later (call-tree.h),
 * and names can be anywhere in the archive.
 *
 * Stacks belong to the program that the process ran at the time: an exec begins another one
 * (programs.h).
 *
 * Each sample and time off CPU that the options select is counted exactly once: n_samples and
 * n_offcpu are the sums of `count` over all stacks. Those without a stack count at the root. A
 * sample represents one period of the archive's frequency, a time off CPU its part inside the
 * window.
 *
 * Memory grows with the distinct stacks, and is bounded: beyond PROFILE_NODES_MAX calls, or
 * PROFILE_STACKS_MAX stacks of threads, new ones count at their outermost known calls; n_cut is
 * their number. With the mappings (maps.h) and names (frames.h), this is at most a gigabyte.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/table.h"
#include "model/event.h"
#include "model/frames.h"
#include "model/maps.h"

enum {
	PROFILE_NODES_MAX = 1 << 22,
	PROFILE_PLACES_MAX = 1 << 20,
	PROFILE_STACKS_MAX = 1 << 22,
};

/* The outermost frame of stacks that have more calls than the recorder takes. */
#define PROFILE_CUT_NAME "[cut: 127 frames]"

struct profile_options {
	bool on_cpu, off_cpu; /* the counted kinds; none: only those of profile_count() */
	bool innermost;       /* only the innermost call of each stack */
	const uint32_t *pids; /* only these processes; none = all; borrowed */
	size_t n_pids;
	const uint32_t *tids; /* only these threads; none = all; borrowed */
	size_t n_tids;
	/* only on CPUs whose element is true, according to the schedule; borrowed */
	const bool *cpus;
	size_t n_cpus;           /* 0 = all */
	uint64_t from_ns, to_ns; /* [from, to); UINT64_MAX = without an end */
	bool absolute;           /* times of the archive; otherwise since its beginning */
};

/* A place in a stack. */
struct profile_place {
	uint32_t owner; /* the process of the address; for the kernel kthreadd */
	bool returns;   /* a return address: the call is directly before it */
	uint64_t address;
	const struct mapping *mapping; /* NULL = unknown; owned by the profile */
	const struct frame_list
		*frames; /* the names in the archive when it was first seen, or NULL */
	uint32_t next;   /* for profile.c */
};

/* A call. Number 0 is the root: none. */
struct profile_node {
	uint32_t parent; /* the caller */
	uint32_t place;
};

struct profile_stack {
	uint32_t pid, tid;
	uint32_t program; /* the number of the program of the process (programs.h) */
	uint32_t node;    /* the innermost call */
	bool off_cpu;
	uint64_t count; /* samples, or times off CPU */
	uint64_t ns;
	uint32_t next; /* for profile.c */
};

struct profile {
	struct profile_place *places; /* owned */
	size_t n_places;
	struct profile_node *nodes; /* owned */
	size_t n_nodes;
	struct profile_stack *stacks; /* owned; in the order of their first occurrence */
	size_t n_stacks;

	uint64_t n_samples, n_offcpu; /* counted samples and times off CPU */
	uint64_t n_unfinished;        /* part of n_offcpu: still waiting at the end */
	uint64_t n_estimated;         /* part of n_offcpu: with an estimated end */
	uint64_t n_earlier;           /* part of n_offcpu: waiting before the begin */
	uint64_t n_earlier_bare;      /* part of n_earlier: without a frame of the program */
	uint64_t n_samples_seen, n_offcpu_seen; /* in the whole archive */
	uint64_t n_full;                        /* stacks below PROFILE_CUT_NAME */
	uint64_t n_cut;                         /* counted with only a part of their stack */
	uint32_t frequency;                     /* samples per second and CPU; 0 = unknown */
	struct frames *frames;                  /* names in the archive */

	struct profile_state *state; /* for profile.c */
};

/* OPTIONS are copied, their pointers are borrowed. */
int profile_new(struct profile **ret, const struct profile_options *options);
struct profile *profile_free(struct profile *p);
DEFINE_CLEANUP(struct profile *, profile_free)

/* Takes one event in. Returns 0 or -ENOMEM. */
int profile_add(struct profile *p, const struct event *ev);

/* Counts open items. Once, after the last event. Returns 0 or -ENOMEM. */
int profile_finish(struct profile *p);

/* Mappings without room (MAPS_MAX): their addresses have no name, or that of an earlier mapping. */
uint64_t profile_n_unmapped(const struct profile *p);

/*
 * For a recording in progress: starts again. Stacks, calls and places are discarded. Mappings and
 * names are kept, except those that ended before FORGET_NS; later events must not be older.
 */
void profile_begin_part(struct profile *p, uint64_t forget_ns);

/*
 * For stacks that are not samples: writes the innermost call of EV, a SAMPLE_NAMED, to *RET.
 * Returns 0, 1 if there was room only for a part of it, or -ENOMEM.
 */
int profile_keep_stack(struct profile *p, const struct event *ev, uint32_t *ret);

/* Adds `count` and `ns`, with any meaning, to STACK. Returns 0 or -ENOMEM. */
int profile_count(struct profile *p, const struct profile_stack *stack);

/* The number of the program that process PID ran at TS_NS; events up to then are taken. */
uint32_t profile_program(const struct profile *p, uint32_t pid, uint64_t ts_ns);

/* The name of the program of STACK, if its process has called exec since. Else NULL. */
const char *profile_program_name(const struct profile *p, const struct profile_stack *stack);

/* Removes the stacks that KEEP rejects, and updates n_samples and n_offcpu. */
void profile_filter(struct profile *p,
		    bool (*keep)(void *userdata, const struct profile_stack *stack),
		    void *userdata);
