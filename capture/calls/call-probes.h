/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes on the functions whose calls are recorded. The probes are on the files, so they apply
 * to all processes that map the files, now or later. The filter of the session selects the recorded
 * processes.
 */
#pragma once

#include <stdint.h>

#include "base/cleanup.h"
#include "capture/calls/call-targets.h"
#include "capture/programs/collector.h"

struct call_probes;

/*
 * Attaches the programs of COLLECTOR to TARGETS (both borrowed until this function returns) in the
 * files of O. The CPU time of the process that attaches probes is added to *CPU_NS_SUM (borrowed).
 * Returns 0, or a negative errno with a sentence in *RETERR_TEXT (owned by the caller, may be
 * NULL).
 */
int call_probes_new(const struct call_targets *targets, const struct call_options *o,
		    const struct collector_calls *collector, uint64_t *cpu_ns_sum,
		    struct call_probes **ret, char **reterr_text);

/* Frees P. All its probes are removed when this function returns. Returns NULL. */
struct call_probes *call_probes_free(struct call_probes *p);

DEFINE_CLEANUP(struct call_probes *, call_probes_free)
