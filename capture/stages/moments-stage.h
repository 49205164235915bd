/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moments, from their records to events: a stage of the pipeline. The archive has the plan of each
 * point before its first moment.
 */
#pragma once

#include <stdint.h>

#include "bpf/record.h"
#include "capture/stages/named-stacks.h"
#include "capture/stages/stage.h"
#include "model/moment-values.h"

struct moments;

struct moments_stage {
	const struct pipeline *pipe;
	const struct moments *moments; /* borrowed; NULL = no moments are recorded */
	struct named_stacks *stacks;   /* borrowed */
	struct moment_values values;   /* the values of the last moment */
	uint64_t n_events;
	uint64_t n_points;              /* points among n_events */
	uint64_t fired[MOMENT_ACTIONS]; /* bits: points whose action was carried out */
	uint64_t n_dropped;             /* moments without room, or of an unknown point */
};

extern const struct stage moments_stage;
