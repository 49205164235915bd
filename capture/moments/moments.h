/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The points at which a session records moments: the settings of the eBPF programs, and the probes.
 * Plans are already compiled (model/moments/moment-plan.h). This module checks, in the sandbox,
 * that each point is at the beginning of an instruction.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/moments/moment-plan.h"
#include "capture/options/options.h"
#include "capture/probes/code-boundary.h"
#include "capture/programs/collector.h"

struct probe_attacher;

struct moment_place {
	char *text; /* the plan, as the user wrote it; owned */
	struct moment_plan plan;
	struct code_boundary at;
	uint8_t counters[MOMENT_PLAN_TSVS_MAX]; /* the number of each trace state variable */
};

struct moments {
	struct moment_place *places; /* indexed by the point numbers in records; owned */
	size_t n;
	const char *counters[MOMENT_COUNTERS_MAX]; /* names, in the texts of plans */
	bool counted[MOMENT_COUNTERS_MAX];         /* whether a point increments the variable */
	uint32_t n_counters;
	struct probe_attacher *attacher; /* NULL = there are no probes */
};

/*
 * Checks the moments of O. A user who can trace only their own processes can name only their own
 * files, since probes slow down every user of the file. Returns 0, or a negative errno with a
 * sentence in *RETERR_TEXT (owned by the caller, may be NULL).
 */
int moments_new(const struct session_options *o, struct moments **ret, char **reterr_text);
struct moments *moments_free(struct moments *m);
DEFINE_CLEANUP(struct moments *, moments_free)

/*
 * Attaches the program of COLLECTOR to the files of O. The CPU time of the probe attacher's process
 * is added to *CPU_NS_SUM (borrowed). Returns like moments_new().
 */
int moments_attach(struct moments *m, const struct call_options *o,
		   const struct collector_moments *collector, uint64_t *cpu_ns_sum,
		   char **reterr_text);

/* Detaches all probes of M. They are removed when this function returns. M may be NULL. */
void moments_detach(struct moments *m);
