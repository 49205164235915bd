/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums of call stacks: the number and duration of each stack of each thread, on a CPU (by samples)
 * or off CPU (by times off CPU). Computed from events in one pass, in file order.
 *
 * Stacks are kept as a tree from the outermost call inwards, so equal stacks, and equal beginnings,
 * are shared. A place in a stack is an address in a mapping. The name of a place is looked up later
 * (call-tree.h), and names can be anywhere in the archive.
 *
 * Stacks belong to the program that the process ran at the time: an exec begins another program
 * (programs.h).
 *
 * Each sample and time off CPU that the options select is counted exactly once: n_samples and
 * n_offcpu are the sums of `count` over all stacks. Samples and times without a stack count at the
 * root. A sample represents one period of the archive's frequency, a time off CPU its part inside
 * the window.
 *
 * Memory grows with the distinct stacks, and is bounded: beyond PROFILE_NODES_MAX calls, or
 * PROFILE_STACKS_MAX stacks of threads, new stacks count at their outermost known calls; n_cut is
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

struct profile_options {
	/* Kinds of stacks that are counted; if neither: only the stacks of profile_count(). */
	bool on_cpu, off_cpu;
	/*
	 * Joins both ends of each time off CPU: below the stack with which the thread left its
	 * CPU is "[woken by]", then the waker's stack from its innermost to its outermost call,
	 * and then its process, or "[interrupt]". Without a waker, it ends in "[open]",
	 * "[preempted]" or "[unknown]". The time is that until the wakeup.
	 */
	bool off_wake;
	bool innermost;       /* keep only the innermost call of each stack */
	const uint32_t *pids; /* only these processes; if n_pids is 0, all; borrowed */
	size_t n_pids;
	const uint32_t *tids; /* only these threads; if n_tids is 0, all; borrowed */
	size_t n_tids;
	/* Only samples on CPUs whose element is true, according to the schedule; borrowed */
	const bool *cpus;
	size_t n_cpus;           /* number of elements of `cpus`; 0 = all CPUs */
	uint64_t from_ns, to_ns; /* the window [from, to); UINT64_MAX = it has no end */
	/* The window is in times of the archive; otherwise relative to its beginning. */
	bool absolute;
};

/* A place in a stack. */
struct profile_place {
	uint32_t owner;   /* process of the address; kthreadd for the kernel */
	bool returns;     /* the address is a return address: the call is directly before it */
	bool is_woken_by; /* of a waker, above a call of the thread: inlined functions come first */
	/* No code, but the process of a waker (its program is the address), or a mark */
	bool is_made_up;
	uint64_t address;
	const struct mapping *mapping; /* NULL = unknown; owned by the profile */
	const struct frame_list
		*frames; /* names in the archive when the place was first seen, or NULL */
	uint32_t next;   /* next place of a chain, for profile.c */
};

/* A call. Node 0 is the root, which is no call. */
struct profile_node {
	uint32_t parent; /* node of the caller */
	uint32_t place;
};

struct profile_stack {
	uint32_t pid, tid;
	uint32_t program; /* number of the program within the process (programs.h) */
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

	uint64_t n_samples, n_offcpu; /* number of counted samples, and of counted times off CPU */
	uint64_t n_unfinished;        /* part of n_offcpu: threads that still waited at the end */
	uint64_t n_estimated;         /* part of n_offcpu: times with an estimated end */
	uint64_t n_earlier;           /* part of n_offcpu: threads that waited before the begin */
	uint64_t n_earlier_bare;      /* part of n_earlier: stacks without a frame of the program */
	uint64_t n_woken;             /* part of n_offcpu: with the stack of a waker */
	uint64_t n_samples_seen, n_offcpu_seen; /* numbers in the whole archive */
	uint64_t n_full;                        /* number of stacks below FRAMES_CUT_NAME */
	/* Number of stacks that are counted with only a part of their calls. */
	uint64_t n_cut;
	uint32_t frequency;    /* samples per second and CPU; 0 = unknown */
	struct frames *frames; /* names in the archive */
	/* The names of processes of wakers, a chain; owned (profile_names_add_processes()). */
	struct frame_list *processes;

	struct profile_state *state; /* for profile.c */
};

/* Returns 0 or -ENOMEM. OPTIONS are copied; their pointers are borrowed. */
int profile_new(struct profile **ret, const struct profile_options *options);
struct profile *profile_free(struct profile *p);
DEFINE_CLEANUP(struct profile *, profile_free)

/* Adds an event. Returns 0 or -ENOMEM. */
int profile_add(struct profile *p, const struct event *ev);

/*
 * Counts times off CPU that are still open. Called once, after the last event. Returns 0 or
 * -ENOMEM.
 */
int profile_finish(struct profile *p);

/*
 * Returns the number of mappings that did not fit (MAPS_MAX): their addresses have no name, or the
 * name of an earlier mapping.
 */
uint64_t profile_n_unmapped(const struct profile *p);

/*
 * Starts again, for a recording in progress. Stacks, calls and places are discarded. Mappings and
 * names are kept, except mappings that ended before FORGET_NS; later events must not be older.
 */
void profile_begin_part(struct profile *p, uint64_t forget_ns);

/*
 * Keeps a stack that is not a sample: writes the innermost call of EV, a SAMPLE_NAMED, to *RET.
 * Returns 0, 1 if there was room only for a part of the stack, or -ENOMEM.
 */
int profile_keep_stack(struct profile *p, const struct event *ev, uint32_t *ret);

/* Adds the `count` and `ns` of STACK, whatever their meaning. Returns 0 or -ENOMEM. */
int profile_count(struct profile *p, const struct profile_stack *stack);

/*
 * Returns the number of the program that process PID ran at TS_NS, according to the events so far.
 */
uint32_t profile_program(const struct profile *p, uint32_t pid, uint64_t ts_ns);

/*
 * Returns the name of the program of STACK, if its process has called exec since then; otherwise
 * NULL.
 */
const char *profile_program_name(const struct profile *p, const struct profile_stack *stack);

/*
 * Leaves out the places for which LEAVES returns true: their callers take their place. Nothing can
 * be added afterwards.
 */
void profile_leave_out(struct profile *p,
		       bool (*leaves)(void *userdata, const struct profile_place *place),
		       void *userdata);

/* Removes the stacks that KEEP rejects. */
void profile_filter(struct profile *p,
		    bool (*keep)(void *userdata, const struct profile_stack *stack),
		    void *userdata);
