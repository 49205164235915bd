/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes one archive of several, on one time line, each record of a provider of its own archive.
 *
 * Archives of one boot of one machine (the same host, and clock snapshots that agree) share their
 * time, their processes and their CPUs. Others are moved to the time of the first one that has a
 * clock snapshot, by theirs; their koids and CPU numbers are moved behind those before them, and
 * their processes' names say the host. An archive without a clock snapshot, such as a program's
 * own, is taken to be of that one's machine and clock.
 *
 * One machine gives the same id to several threads in the course of time: whose koid means another
 * owner than the same koid of an archive before it gets another (edit-owners.h). What is not known
 * of a thread in one archive ("?") does not take the place of what another one knows.
 *
 * Where two archives cover the same CPUs at the same time, what the first one says of the schedule
 * and of processes holds, since readers know one schedule of a CPU; the other's is left out, and
 * counted.
 */
#pragma once

#include "edit/edit-copy.h"

enum { EDIT_MERGE_INPUTS_MAX = 64 };

struct edit_merge;

/* N inputs, at most EDIT_MERGE_INPUTS_MAX. OUT is borrowed. Returns 0 or -ENOMEM. */
int edit_merge_new(struct edit_merge **ret, struct edit_output *out, unsigned n);
struct edit_merge *edit_merge_free(struct edit_merge *m);
DEFINE_CLEANUP(struct edit_merge *, edit_merge_free)

/*
 * Writes what can be written. Returns 1 when there is much in the output, to be called again; or 0
 * when more of an input must be known: *RET is which, or -1 when all is written. Then the next
 * record of that input is put in, or its end. Negative errnos are those of edit_copy_record().
 */
int edit_merge_step(struct edit_merge *m, int *ret);
int edit_merge_put(struct edit_merge *m, unsigned input, const struct fxt_record *record);
void edit_merge_end(struct edit_merge *m, unsigned input);

/* What became of an input. */
struct edit_merge_view {
	bool has_clock;   /* else it is taken to have the first one's */
	unsigned machine; /* 0 = the first one's */
	int64_t shift_ns; /* was added to its times */
	uint32_t shift_cpu;
	struct edit_counts copied;
	uint64_t doubled;      /* left out, since another input has it */
	uint64_t unknown;      /* objects "?" left out, since another input knows whose they are */
	uint64_t koids_moved;  /* another owner has them on the machine: they became others */
	uint64_t koids_shared; /* the same, and they could not */
	uint64_t koids_cut;    /* ids that were too large to be moved whole */
};

void edit_merge_get_view(const struct edit_merge *m, unsigned input, struct edit_merge_view *ret);
