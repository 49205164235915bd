/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The points of programs that a session records moments at: what the programs do there, and the
 * probes on them. Plans come compiled (base/moments/moment-plan.h); that an instruction begins at
 * each point is found out here, in the sandbox.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/moments/moment-plan.h"
#include "capture/options/options.h"
#include "capture/probes/code-boundary.h"
#include "capture/programs/collector.h"

struct probe_keeper;

struct moment_place {
	char *text; /* the plan's, as it came. Owned */
	struct moment_plan plan;
	struct code_boundary at;
	uint8_t counters[MOMENT_PLAN_TSVS_MAX]; /* the number of each trace state variable */
};

struct moments {
	struct moment_place *places; /* by the numbers that records have. Owned */
	size_t n;
	const char *counters[MOMENT_COUNTERS_MAX]; /* names; texts of plans */
	bool counted[MOMENT_COUNTERS_MAX];         /* a point increments it */
	uint32_t n_counters;
	struct probe_keeper *keeper; /* NULL = there are no probes now */
};

/*
 * Checks the moments of O. A user who may trace nothing but what is his own may only name his own
 * files: everybody who runs the code pays for the probes. Returns 0, or a negative errno with a
 * sentence in *RETERR_TEXT (owned by the caller, may be NULL).
 */
int moments_new(const struct session_options *o, struct moments **ret, char **reterr_text);
struct moments *moments_free(struct moments *m);
DEFINE_CLEANUP(struct moments *, moments_free)

/*
 * Attaches the program of COLLECTOR, the files being those of O. What a process that helps takes of
 * CPU time is added to *CPU_NS_SUM (borrowed). As above.
 */
int moments_attach(struct moments *m, const struct call_options *o,
		   const struct collector_moments *collector, uint64_t *cpu_ns_sum,
		   char **reterr_text);

/* When it returns, nothing is left of the probes. M may be NULL. */
void moments_detach(struct moments *m);
