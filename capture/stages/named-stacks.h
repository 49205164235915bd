/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks that events name: the archive has each once for a process, before the first event that
 * names it.
 */
#pragma once

#include <stdint.h>

#include "base/table.h"
#include "capture/stages/pipeline.h"
#include "capture/stages/stacks.h"

struct named_stacks {
	const struct pipeline *pipe;
	const struct stacks *stacks; /* that the programs have sent; borrowed */
	struct table said;           /* processes and names that the archive has, as one hash */
	uint64_t n_events;
	uint64_t n_missing; /* stacks that have not come */
};

void named_stacks_deinit(struct named_stacks *n);

/*
 * Sees to it that the archive has the N_FRAMES FRAMES, from where a call returns to outwards, as a
 * stack of the thread of REC. *RET_NAME is what to name it by; 0 = nothing is written at REC's
 * time. Returns 0 or a negative errno.
 */
int named_stacks_say(struct named_stacks *n, const struct rec_head *rec, const uint64_t *frames,
		     unsigned n_frames, uint64_t *ret_name);

/* The stack that the programs have sent as ID, or NULL, counted; 0 has none. */
const struct stack *named_stacks_get(struct named_stacks *n, uint64_t id);

/* Addresses of processes have another meaning now: all is said again. */
void named_stacks_forget(struct named_stacks *n);
