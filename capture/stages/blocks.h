/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the requests of block devices.
 */
#pragma once

#include "capture/stages/stage.h"

struct blocks {
	const struct pipeline *pipe;
	uint64_t lanes[FXT_BLOCK_LANES]; /* the end of the last request of each lane */
	uint64_t n_events;
};

extern const struct stage blocks_stage;

/*
 * Returns the lane for a request from BEGIN_NS to END_NS, or -1 if all are occupied. Requests must
 * be passed in the order of their ends.
 */
int blocks_find_lane(struct blocks *b, uint64_t begin_ns, uint64_t end_ns);
