/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges several archives into one, on one time line, with a separate provider for each.
 *
 * Archives of one boot of one machine (the same host, and clock snapshots that agree) share their
 * time, processes and CPUs. Other archives are moved to the time of the first one with a clock
 * snapshot, using their own snapshots. Their koids and CPU numbers are moved after the earlier
 * ones, and their processes' names include the host. An archive without a clock snapshot, such as a
 * program's own, is assumed to be of the first one's machine and clock.
 *
 * A machine reuses ids of threads. A koid with another owner than the same koid in an earlier
 * archive gets another one (edit-owners.h). An unknown thread in one archive ("?") does not replace
 * the data of another archive.
 *
 * If two archives cover the same CPUs at the same time, the schedule and the processes of the first
 * one are used, since readers support one schedule per CPU. The records of the other one are left
 * out, and counted, except while the first one pauses. Sessions that overlap get different names
 * (edit-sessions.h).
 */
#pragma once

#include "edit/edit-copy.h"
#include "edit/edit-points.h"

struct edit_merge;

/* Numbers of bytes; 0 = the usual ones. */
struct edit_merge_options {
	size_t window; /* the sorting window of each input */
	/*
	 * The maximum that is kept of each of two parts of one archive, where they meet: the end of
	 * the one, and the state of the other. If there is more, the parts do not become one.
	 */
	size_t between;
	/* The maximum that is read beyond the windows, of all inputs together, to find their heads
	 * before anything is written. If there is more, a machine can be unknown. */
	size_t heads;
};

/* N inputs, at most EDIT_INPUTS_MAX. OUT is borrowed. OPTIONS can be NULL. Returns 0 or -ENOMEM. */
int edit_merge_new(struct edit_merge **ret, struct edit_output *out, unsigned n,
		   const struct edit_merge_options *options);
struct edit_merge *edit_merge_free(struct edit_merge *m);
DEFINE_CLEANUP(struct edit_merge *, edit_merge_free)

/*
 * Writes as much as possible. Returns 1 if there is much output, to be called again; or 0 if more
 * of an input is needed: *RET is its number, or -1 if everything is written. The caller then adds
 * the next record of that input, or its end. Negative errnos are those of edit_copy_record().
 */
int edit_merge_step(struct edit_merge *m, int *ret);
int edit_merge_put(struct edit_merge *m, unsigned input, const struct fxt_record *record);
void edit_merge_end(struct edit_merge *m, unsigned input);

/* Some of the input could not be read, before its next record. */
void edit_merge_damage(struct edit_merge *m, unsigned input);

/* The statistics of an input. */
struct edit_merge_view {
	bool has_clock;   /* otherwise the first one's clock is assumed */
	bool clock_far;   /* it has no clock in what was read of it to find one */
	bool too_large;   /* it could continue a part, but what is between them is too much */
	unsigned machine; /* 0 = the first one's */
	int64_t shift_ns; /* added to its times */
	uint32_t shift_cpu;
	struct edit_counts copied;
	uint64_t doubled;      /* left out, since another input has them */
	uint64_t repeated;     /* left out, since the input is a part that continues another one */
	uint64_t halves;       /* events that go on in the next part, which does not have them */
	uint64_t unknown;      /* objects "?" left out, since another input knows the owner */
	uint64_t koids_moved;  /* koids of another owner on the machine, which were replaced */
	uint64_t koids_shared; /* the same, but they could not be replaced */
	uint64_t points_moved; /* points of moments whose number was taken by another point */
	uint64_t koids_cut;    /* ids that were too large to be moved completely */
};

void edit_merge_get_view(const struct edit_merge *m, unsigned input, struct edit_merge_view *ret);
