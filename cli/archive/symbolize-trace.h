/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives the addresses in the call stacks of an archive the names of their functions, for the verbs
 * that do it: `kymo symbolize` and `kymo open`.
 */
#pragma once

#include "cli/archive/edit-trace.h"
#include "cli/common/progress.h"
#include "cli/common/resolver.h"
#include "cli/common/symbol-options.h"
#include "edit/edit-symbolize.h"

struct symbolize_trace {
	struct symbols *symbols; /* owned */
	struct resolver resolver;
	struct progress *progress; /* borrowed; NULL = none is shown */
	struct edit_symbolize_counts counts;
};

void symbolize_trace_deinit(struct symbolize_trace *s);

/* Looks whether names can be looked for. Returns CLI_OK, or CLI_FAILED when it has said why not. */
int symbolize_trace_open(struct symbolize_trace *s, const struct symbol_options *options);

/*
 * Writes all of IN with the names to OUT, which is finished then. NO_PACKETS leaves out the copy of
 * the samples for Perfetto. Returns CLI_OK, or CLI_FAILED when it has said why.
 */
int symbolize_trace(struct symbolize_trace *s, struct open_trace *in, struct edit_trace *out,
		    bool no_packets);
