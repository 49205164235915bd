/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums of call stacks: the number and duration of each stack of each thread, on a CPU (by samples)
 * or off CPU (by times off CPU). Computed from events in one pass, in file order.
 *
 * Stacks are kept as a tree from the outermost call inwards, so stacks with the same outer calls
 * share their nodes. A place in a stack is an address in a mapping. The name of a place is looked
 * up later (call-tree.h), since names can be anywhere in the archive.
 *
 * A stack belongs to the program that its process ran at the time of the stack: an exec begins
 * another program (programs.h).
 *
 * Each sample and time off CPU that the options select is counted exactly once: n_samples and
 * n_offcpu are the sums of `count` over all stacks. Samples and times without a stack count at the
 * root. The duration of a sample is one period of the archive's frequency, that of a time off CPU
 * its part inside the window.
 *
 * Memory grows with the distinct stacks, and is bounded: beyond PROFILE_NODES_MAX calls, or
 * PROFILE_STACKS_MAX stacks of threads, new stacks count at those of their outer calls that are in
 * the tree; n_cut is the number of such stacks. With the mappings (maps.h) and names (frames.h),
 * this is at most a gigabyte.
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

struct profile_options {
	/* The kinds of stacks to count; if both are false, only profile_count() counts. */
	bool on_cpu, off_cpu;
	/*
	 * Joins both ends of each time off CPU: below the stack with which the thread left its CPU
	 * is "[woken by]", then the waker's stack from its innermost to its outermost call, and
	 * then its process, or "[interrupt]". Without a waker, the stack ends in "[open]",
	 * "[preempted]" or "[unknown]". Only the time until the wakeup counts.
	 */
	bool off_wake;
	bool innermost;       /* keep only the innermost call of each stack */
	const uint32_t *pids; /* only these processes; n_pids 0 = all; borrowed */
	size_t n_pids;
	const uint32_t *tids; /* only these threads; n_tids 0 = all; borrowed */
	size_t n_tids;
	/* Only samples of threads that were on a CPU whose element is true, by the switches;
	 * borrowed */
	const bool *cpus;
	size_t n_cpus;           /* number of elements of `cpus`; 0 = all CPUs */
	uint64_t from_ns, to_ns; /* the window: [from, to); UINT64_MAX = no end */
	/* true: from_ns and to_ns are times of the archive; false: times since its begin */
	bool absolute;
};

/* A place in a stack. */
struct profile_place {
	uint32_t owner;   /* process of the address; kthreadd for the kernel */
	bool returns;     /* the address is a return address: the call is directly before it */
	bool is_woken_by; /* in a waker's stack, below the thread's: inlined functions first */
	/* No code: the process of a waker (the address is its program), or a mark */
	bool is_made_up;
	uint64_t address;
	const struct mapping *mapping; /* NULL = unknown; owned by the profile */
	const struct frame_list
		*frames; /* names in the archive when the place was added; NULL = none */
	uint32_t next;   /* next place of a chain, for profile.c */
};

/* A call. Node 0 is the root, which is no call. */
struct profile_node {
	uint32_t parent; /* node of the caller */
	uint32_t place;
};

struct profile_stack {
	uint32_t pid, tid;
	uint32_t program; /* number of the program within its process (programs.h) */
	uint32_t node;    /* node of the innermost call */
	bool off_cpu;
	uint64_t count; /* number of samples, or of times off CPU */
	uint64_t ns;
	uint32_t next; /* next stack of a chain, for profile.c */
};

struct profile {
	struct profile_place *places; /* owned */
	size_t n_places;
	struct profile_node *nodes; /* owned */
	size_t n_nodes;
	struct profile_stack *stacks; /* owned; in the order of first occurrence */
	size_t n_stacks;

	uint64_t n_samples, n_offcpu; /* numbers of counted samples and times off CPU */
	uint64_t n_unfinished;        /* part of n_offcpu: not ended at the end of the recording */
	uint64_t n_estimated;         /* part of n_offcpu: the end is an estimate */
	uint64_t n_earlier;           /* part of n_offcpu: begun before the recording */
	uint64_t n_earlier_bare;      /* part of n_earlier: no frame outside of the kernel */
	uint64_t n_woken;             /* part of n_offcpu: with a waker's stack */
	uint64_t n_samples_seen, n_offcpu_seen; /* numbers in the whole archive */
	uint64_t n_full;                        /* number of stacks below FRAMES_CUT_NAME */
	/* Number of stacks of which only the outer calls were kept. */
	uint64_t n_cut;
	uint32_t frequency;    /* samples per second and CPU; 0 = unknown */
	struct frames *frames; /* names in the archive */
	/* The names of the processes of wakers; owned; see profile_names_add_processes(). */
	struct frame_list *processes;

	struct profile_state *state; /* for profile.c */
};

/* Creates an empty profile. OPTIONS is copied, but what its members point to is borrowed. Returns 0
 * or -ENOMEM. */
int profile_new(struct profile **ret, const struct profile_options *options);
struct profile *profile_free(struct profile *p);
DEFINE_CLEANUP(struct profile *, profile_free)

/* Adds an event. Returns 0 or -ENOMEM. */
int profile_add(struct profile *p, const struct event *ev);

/*
 * Counts the times off CPU whose stack has not come. Must be called once, after the last event.
 * Returns 0 or -ENOMEM.
 */
int profile_finish(struct profile *p);

/*
 * Returns the number of mappings beyond MAPS_MAX. Their addresses have no name, or that of an
 * earlier mapping.
 */
uint64_t profile_n_unmapped(const struct profile *p);

/*
 * Starts again, for a recording in progress. Stacks, calls and places are discarded. Mappings and
 * names are kept, except mappings that ended before FORGET_NS. Later events must not be older than
 * FORGET_NS.
 */
void profile_begin_part(struct profile *p, uint64_t forget_ns);

/*
 * Keeps the stack of EV without counting it. *RET is the node of its innermost call. Returns 0, 1
 * if there was room only for a part of the stack, or -ENOMEM.
 */
int profile_keep_stack(struct profile *p, const struct event *ev, uint32_t *ret);

/* Adds STACK with its `count` and `ns`, whatever these mean to the caller. Returns 0 or -ENOMEM. */
int profile_count(struct profile *p, const struct profile_stack *stack);

/*
 * Returns the number of the program that process PID ran at TS_NS, by the events so far.
 */
uint32_t profile_program(const struct profile *p, uint32_t pid, uint64_t ts_ns);

/*
 * Returns the name of the program of STACK if that program has ended (by exec); otherwise NULL.
 */
const char *profile_program_name(const struct profile *p, const struct profile_stack *stack);

/*
 * Leaves out the places for which LEAVES returns true: what they called becomes a call of their
 * callers. Nothing can be added afterwards.
 */
void profile_leave_out(struct profile *p,
		       bool (*leaves)(void *userdata, const struct profile_place *place),
		       void *userdata);

/* Removes the stacks that KEEP rejects. */
void profile_filter(struct profile *p,
		    bool (*keep)(void *userdata, const struct profile_stack *stack),
		    void *userdata);
