/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes an archive of a part of another: of a time, of processes, of CPUs.
 *
 * The result stands for itself: it begins with what was so at its first moment (who is who, what
 * runs where, what is open, the last value of each counter) and closes what is open at its last.
 * session_start, the clock and session_stop are those of the cut. What processes are left out of a
 * switch is the pseudo-thread "other", as in a filtered recording.
 */
#pragma once

#include "edit/edit-copy.h"

struct edit_cut_options {
	/*
	 * In nanoseconds, since the first record, or as the archive has them if ABSOLUTE. What is
	 * at TO_NS is not in it; 0 and UINT64_MAX cut nothing.
	 */
	uint64_t from_ns, to_ns;
	bool absolute;

	/* Processes, by the pid that they had, with their children; N_PIDS 0 = all. Borrowed. */
	const uint32_t *pids;
	size_t n_pids;

	/*
	 * CPUs, a bool each; N_CPUS 0 = all. What has no CPU stays; a thread's events go where it
	 * runs. Borrowed.
	 */
	const bool *cpus;
	size_t n_cpus;
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
	struct edit_counts
		copied;    /* into the result; what was mended or left out, of all of the source */
	uint64_t left_out; /* with a time, not in the result */
	uint64_t no_room;  /* of what held when the cut began, not in the result either */
	uint64_t first_ns, last_ns; /* of the source: times of its first and last record */
	bool any;                   /* a record lay within */
};

void edit_cut_get_counts(const struct edit_cut *c, struct edit_cut_counts *ret);
