/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notes which processes are selected, for the mappings that wait for this: a stage of the pipeline.
 * Also writes the mappings that were listed at the start.
 */
#pragma once

#include "base/outbuf.h"
#include "capture/stages/profiler.h"
#include "capture/stages/stage.h"

struct selection {
	const struct pipeline *pipe;
	struct profiler *profiler; /* keeps the mappings; borrowed */
	struct outbuf mappings;    /* struct rec_mapping, listed; owned */
	size_t at;                 /* the position of the first unwritten one */
};

extern const struct stage selection_stage;

/* Adds LISTED mappings, as of START_NS, for the next round. Returns 0 or -ENOMEM. */
int selection_add_mappings(struct selection *s, const struct outbuf *listed, uint64_t start_ns);
