/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes an archive from a part of another: of a time range, of processes, of CPUs.
 *
 * The result is self-contained. It begins with the state at its first moment (identities, running
 * threads, open items, the last value of each counter), and closes open items at its last moment.
 * session_start, the clock and session_stop describe the cut: each session begins and stops at the
 * same time as in the archive, or at the ends of the cut. In switches, unselected threads become
 * the pseudo-thread "other", as in a filtered recording.
 */
#pragma once

#include "edit/edit-copy.h"

struct edit_cut_options {
	/*
	 * The time range in nanoseconds, since the first record, or as in the archive if ABSOLUTE.
	 * TO_NS is exclusive, except for session_start and session_stop: such an event at TO_NS is
	 * the last record of this cut if no other record of that time precedes it. A cut that
	 * begins at that time has the event only in its state. 0 and UINT64_MAX cut nothing.
	 */
	uint64_t from_ns, to_ns;
	bool absolute;

	/*
	 * The pids of the selected processes, which include their children; if N_PIDS is 0, all
	 * processes are selected. Borrowed.
	 */
	const uint32_t *pids;
	size_t n_pids;

	/*
	 * A bool for each CPU; if N_CPUS is 0, all CPUs. Events without a CPU are kept; an event of
	 * a thread is on the CPU on which the thread runs. Borrowed.
	 */
	const bool *cpus;
	size_t n_cpus;

	/*
	 * The maximum number of complete events that cross the start of the cut; 0 = the default.
	 */
	size_t across_max;
};

struct edit_cut;

/* Creates a cut. OUT and OPTIONS are borrowed. Returns 0 or -ENOMEM. */
int edit_cut_new(struct edit_cut **ret, struct edit_output *out,
		 const struct edit_cut_options *options);
struct edit_cut *edit_cut_free(struct edit_cut *c);
DEFINE_CLEANUP(struct edit_cut *, edit_cut_free)

/* Processes the next record. Returns 0 or a negative errno, like edit_copy_record(). */
int edit_cut_record(struct edit_cut *c, const struct fxt_record *record);

/* Must be called after the last record. Returns like edit_cut_record(). */
int edit_cut_finish(struct edit_cut *c);

struct edit_cut_counts {
	/*
	 * The number of records is that of the result; repairs and losses are those of the whole
	 * source.
	 */
	struct edit_counts copied;
	uint64_t left_out; /* number of records with a time that are not in the result */
	/*
	 * Number of records of the initial state that were left out for lack of room. `left_out`
	 * does not include them.
	 */
	uint64_t no_room;
	/* Number of events across the start of the range that were left out for lack of room. */
	uint64_t no_room_across;
	uint64_t first_ns, last_ns; /* times of the first and last record of the source */
	bool any;                   /* at least one record was in the range */
	/*
	 * A silence at the start of the range, in which no session recorded (all sessions paused,
	 * or none was open): from QUIET_NS (0 = no silence) to RESUMED_NS (0 = the end of the
	 * source).
	 */
	uint64_t quiet_ns, resumed_ns;
	bool paused;
};

void edit_cut_get_counts(const struct edit_cut *c, struct edit_cut_counts *ret);
