/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges several archives into one, on one time line, with a separate provider for each input.
 *
 * Archives of one boot of one machine (the same host, and clock snapshots that agree) share their
 * time, processes and CPUs. The times of other archives are moved to the time of the first archive
 * with a clock snapshot, by means of their own snapshots. Their koids and CPU numbers are shifted
 * behind those of earlier machines, and the names of their processes include the host. An archive
 * without a clock snapshot, for example a program's own, is assumed to have the machine and the
 * clock of the first archive.
 *
 * A machine reuses ids of threads. If a koid has another owner than the same koid in an earlier
 * archive, it is replaced (edit-owners.h). An unknown thread in one archive ("?") does not replace
 * the data of another archive.
 *
 * If two archives cover the same CPUs at the same time, the schedule and the processes of the first
 * one are used, since readers support one schedule per CPU. The records of the other archive are
 * left out, and counted, except while the first archive pauses. Sessions that overlap get different
 * names (edit-sessions.h).
 */
#pragma once

#include "edit/edit-copy.h"
#include "edit/edit-points.h"

struct edit_merge;

/* Limits in bytes; 0 = the defaults. */
struct edit_merge_options {
	size_t window; /* size of the sorting window of each input */
	/*
	 * Two parts of one archive are joined only if, where they meet, the end of one and the
	 * state of the other can be kept in memory. This is the maximum size of each of the two.
	 */
	size_t between;
	/* The maximum size of the data that is read beyond the windows, of all inputs of kymo
	 * together, to find their heads before anything is written. If a head is not found within
	 * this size, the machine of the input can be unknown. */
	size_t heads;
};

/*
 * Creates a merge of N inputs, at most EDIT_INPUTS_MAX. OUT is borrowed. OPTIONS can be NULL.
 * Returns 0 or -ENOMEM.
 */
int edit_merge_new(struct edit_merge **ret, struct edit_output *out, unsigned n,
		   const struct edit_merge_options *options);
struct edit_merge *edit_merge_free(struct edit_merge *m);
DEFINE_CLEANUP(struct edit_merge *, edit_merge_free)

/*
 * Writes as much as possible. Returns 1 if much output was written: the function must be called
 * again. Otherwise, returns 0, and *RET is an input of which more must be read (the caller then
 * adds its next record, or its end), or -1 after the last output. Negative errnos are those of
 * edit_copy_record().
 */
int edit_merge_step(struct edit_merge *m, int *ret);
int edit_merge_put(struct edit_merge *m, unsigned input, const struct fxt_record *record);
void edit_merge_end(struct edit_merge *m, unsigned input);

/* Notes that some of the input before its next record was unreadable. */
void edit_merge_damage(struct edit_merge *m, unsigned input);

/* The statistics of an input. */
struct edit_merge_view {
	bool has_clock; /* otherwise, the clock of the first input is assumed */
	bool clock_far; /* no clock was found within the limit of data that is read for it */
	/*
	 * The input could continue a part, but the data where they meet exceeds the limit
	 * `between`.
	 */
	bool too_large;
	unsigned machine; /* number of its machine; 0 = the machine of the first input */
	int64_t shift_ns; /* added to the times of the input */
	uint32_t shift_cpu;
	struct edit_counts copied;
	uint64_t doubled; /* records that were left out, since another input has them */
	/* Records that were left out, since the input is a part that continues another one. */
	uint64_t repeated;
	uint64_t halves; /* written as clipped, since no next part showed the whole event */
	/* Objects "?" that were left out, since another input knows the named thread. */
	uint64_t unknown;
	/* Koids that were replaced, since they have another owner on the machine. */
	uint64_t koids_moved;
	uint64_t koids_shared; /* koids with another owner that could not be replaced */
	/* Points of moments that were renumbered, since another point has their number. */
	uint64_t points_moved;
	uint64_t koids_cut; /* ids that were too large to be moved completely */
};

void edit_merge_get_view(const struct edit_merge *m, unsigned input, struct edit_merge_view *ret);
