/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds the names of functions to the addresses in the call stacks of an archive, for `kymo
 * symbolize` and `kymo open`.
 */
#pragma once

#include "cli/archive/edit-trace.h"
#include "cli/common/resolver.h"
#include "cli/common/symbol-options.h"
#include "edit/edit-symbolize.h"

struct symbolize_trace {
	struct symbols *symbols; /* owned */
	struct resolver resolver;
	struct edit_symbolize_counts counts;
};

void symbolize_trace_deinit(struct symbolize_trace *s);

/* Prepares the search for names. Returns CLI_OK, or CLI_FAILED after an error message. */
int symbolize_trace_open(struct symbolize_trace *s, const struct symbol_options *options);

/* Writes all of IN with names to OUT, and finishes OUT. NO_PACKETS omits the copy of the samples
 * for Perfetto. Returns CLI_OK, or CLI_FAILED after an error message. */
int symbolize_trace(struct symbolize_trace *s, struct open_trace *in, struct edit_trace *out,
		    bool no_packets);
