/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notes which processes are selected: a stage of the pipeline. Mappings wait until it is known that
 * their process is selected. Also writes the mappings that were listed at the start.
 */
#pragma once

#include "base/outbuf.h"
#include "capture/stages/profiler.h"
#include "capture/stages/stage.h"

struct selection {
	const struct pipeline *pipe;
	struct profiler *profiler; /* has the mappings; borrowed */
	struct outbuf mappings;    /* struct rec_mapping: mappings that were listed; owned */
	size_t at;                 /* the position of the first mapping that is not written yet */
};

extern const struct stage selection_stage;

/* Adds the LISTED mappings, which existed at START_NS, for the next round. Returns 0 or -ENOMEM. */
int selection_add_mappings(struct selection *s, const struct outbuf *listed, uint64_t start_ns);
