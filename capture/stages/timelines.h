/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the start and the end of each CPU's timeline, at the start of the archive, in tails and in
 * heads: a stage of the pipeline. This stage is the last one, so that scheduling words follow a
 * head directly.
 */
#pragma once

#include "capture/proc/proc-records.h"
#include "capture/stages/schedule.h"
#include "capture/stages/stage.h"

struct timelines {
	const struct pipeline *pipe;
	struct schedule *schedule; /* knows the running threads; borrowed */
	/*
	 * For each CPU, the running thread by the list: tid in the low half, prio in the high half.
	 * Owned
	 */
	uint64_t *running;
};

extern const struct stage timelines_stage;

/* Takes a listed task, which may be the running thread of a CPU. */
void timelines_learned(struct timelines *t, const struct rec_task *rec);
