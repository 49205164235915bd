/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the events of tracepoints.
 */
#pragma once

#include "capture/stages/stage.h"
#include "capture/tracepoints/tracepoint-values.h"

struct tracepoints_stage {
	const struct pipeline *pipe;
	const struct tracepoints *tracepoints; /* borrowed; NULL = no tracepoints are recorded */
	struct tracepoint_values values;
	uint64_t n_events;
	uint64_t n_dropped; /* number of unusable records that are not written as a loss yet */
};

extern const struct stage tracepoints_stage;
