/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames of code that no table describes. This module follows the instructions of a function
 * along all paths from its beginning. These instructions show where the return address and the
 * saved frame pointer are. The result counts only if the stack pointer and the frame pointer have
 * the values for a return at each return.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/unwind/unwind-code.h"
#include "capture/unwind/unwind-elf.h"

struct unwind_flow {
	struct unwind_code code;
	uint64_t *states; /* owned; for each byte */
	/*
	 * Indices: instructions to follow, instructions that the current run has reached, and
	 * begins of functions.
	 */
	size_t *work, *fresh, *begins;
	size_t n_work, room_work, n_fresh, room_fresh, n_begins, room_begins;
	uint64_t steps; /* instructions that may still be followed */
	int error;
	/* The current run. */
	bool is_sure;    /* the first state of the run is known */
	bool is_wrong;   /* paths contradict each other or the first state */
	bool has_unsure; /* some states of the run must be proven */
	bool is_bounded; /* a symbol says where the function begins and ends */
	bool is_framed;  /* likewise, and the function begins by making a frame */
	bool stops_at_padding;
	bool loses_sp; /* called functions can take their arguments off the stack */
};

/*
 * Follows the code in the N ranges at RANGES. Returns 0 or -ENOMEM. F can be deinitialised in each
 * case.
 */
int unwind_flow_init(struct unwind_flow *f, const struct unwind_elf *elf, struct code_range *ranges,
		     size_t n);
void unwind_flow_deinit(struct unwind_flow *f);

/*
 * Calls ON_RULE for each address from BEGIN to END where the rule changes, in order, also for
 * BEGIN. Where nothing is proven, the rule is UNWIND_UNPROVEN. Returns 0, or the first result of
 * ON_RULE that is not 0.
 */
int unwind_flow_list(const struct unwind_flow *f, uint64_t begin, uint64_t end,
		     int (*on_rule)(uint64_t address, uint32_t rule, void *userdata),
		     void *userdata);
