/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks to which events refer by name. The archive has each stack of a process once, before the
 * first event that refers to it. After the process has mapped a file, the archive gets the stack
 * again, with the same name: the addresses can now belong to another library.
 */
#pragma once

#include <stdint.h>

#include "base/table.h"
#include "capture/stages/stacks.h"
#include "capture/stages/stage.h"

struct named_stacks {
	const struct pipeline *pipe;
	const struct stacks *stacks; /* stacks that the programs have sent; borrowed */
	struct table written; /* stacks in the archive: hashes of process, `mapped` and name */
	struct table mapped;  /* pid + 1 -> number of files that the process has mapped meanwhile */
	uint64_t n_events;
	uint64_t n_missing; /* number of stacks that have not arrived */
};

extern const struct stage named_stacks_stage;

/*
 * Makes sure that the archive has the N_FRAMES FRAMES, from the return address of a call outwards,
 * as a stack of the process of REC. *RET_NAME is its name; 0 = REC is outside of the recording.
 * Returns 0 or a negative errno.
 */
int named_stacks_write(struct named_stacks *n, const struct rec_head *rec, const uint64_t *frames,
		       unsigned n_frames, uint64_t *ret_name);

/*
 * Returns the stack that the eBPF programs have sent as ID; NULL if ID is 0, or if the stack has
 * not arrived. Missing stacks are counted.
 */
const struct stack *named_stacks_get(struct named_stacks *n, uint64_t id);
