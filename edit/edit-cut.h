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
	 * In nanoseconds, since the first record, or as in the archive if ABSOLUTE. TO_NS is
	 * exclusive, except for session_start and session_stop: if no other record of that time
	 * is before them, they are the last records of this cut, and only in the state of one that
	 * begins there. 0 and UINT64_MAX cut nothing.
	 */
	uint64_t from_ns, to_ns;
	bool absolute;

	/* Processes, by their pid, with their children; N_PIDS 0 = all. Borrowed. */
	const uint32_t *pids;
	size_t n_pids;

	/*
	 * CPUs, one bool each; N_CPUS 0 = all. Events without a CPU are kept; events of a thread
	 * follow its CPU. Borrowed.
	 */
	const bool *cpus;
	size_t n_cpus;

	/* The maximum number of complete events that go on at the start; 0 = the usual one. */
	size_t across_max;
};

struct edit_cut;

/* OUT and OPTIONS are borrowed. Returns 0 or -ENOMEM. */
int edit_cut_new(struct edit_cut **ret, struct edit_output *out,
		 const struct edit_cut_options *options);
struct edit_cut *edit_cut_free(struct edit_cut *c);
DEFINE_CLEANUP(struct edit_cut *, edit_cut_free)

/* Takes the next record. Returns 0 or a negative errno, as edit_copy_record(). */
int edit_cut_record(struct edit_cut *c, const struct fxt_record *record);

/* After the last record. */
int edit_cut_finish(struct edit_cut *c);

struct edit_cut_counts {
	struct edit_counts copied;  /* into the result; repairs and losses, of the whole source */
	uint64_t left_out;          /* records with a time, not in the result */
	uint64_t no_room;           /* initial state without room, not in the result either */
	uint64_t no_room_across;    /* the same for events that cross the start of the range */
	uint64_t first_ns, last_ns; /* times of the first and last record of the source */
	bool any;                   /* at least one record was in the range */
	/*
	 * Nothing was recorded at the start of the range, from QUIET_NS (0 = it was) to RESUMED_NS
	 * (0 = to the end of the source): all sessions paused, or none was open.
	 */
	uint64_t quiet_ns, resumed_ns;
	bool paused;
};

void edit_cut_get_counts(const struct edit_cut *c, struct edit_cut_counts *ret);
