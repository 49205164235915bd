/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The selection of processes, as far as mappings wait for it: a stage of the pipeline. Mappings
 * that were listed at the start are written here, too.
 */
#pragma once

#include "base/outbuf.h"
#include "capture/stages/profiler.h"
#include "capture/stages/stage.h"

struct selection {
	const struct pipeline *pipe;
	struct profiler *profiler; /* keeps the mappings; borrowed */
	struct outbuf mappings;    /* struct rec_mapping, listed; owned */
	size_t at;                 /* those before it are written */
};

extern const struct stage selection_stage;

/* Adds LISTED mappings, as of START_NS, for the next round. Returns 0 or -ENOMEM. */
int selection_add_mappings(struct selection *s, const struct outbuf *listed, uint64_t start_ns);
