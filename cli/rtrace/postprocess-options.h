/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of `kymo postprocess` for the processing of a report.
 */
#pragma once

#include "reader/rtrace/rtrace-postprocess.h"

enum { POSTPROCESS_NAMES_MAX = 64 };

struct postprocess_options {
	struct rtrace_postprocess_options options;
	struct rtrace_select select;
	bool selects; /* some option selects records */
	bool sorts;
	const char *types[POSTPROCESS_NAMES_MAX], *contexts[POSTPROCESS_NAMES_MAX];
	struct rtrace_call_range range;
	char *range_target; /* owned, like `words` */
	char *words[2 * POSTPROCESS_NAMES_MAX];
	size_t n_words;
	uint64_t *include, *exclude;
};

void postprocess_options_deinit(struct postprocess_options *o);

/* Parsers of options. All return CLI_OK; or CLI_USAGE or CLI_FAILED after an error message. */
int postprocess_options_sort(struct postprocess_options *o, const char *word);
int postprocess_options_resource(struct postprocess_options *o, const char *words);
int postprocess_options_context(struct postprocess_options *o, const char *words);
int postprocess_options_depth(struct postprocess_options *o, const char *word);
int postprocess_options_size(struct postprocess_options *o, const char *word);
int postprocess_options_index(struct postprocess_options *o, const char *word);
int postprocess_options_call_address(struct postprocess_options *o, const char *word);

/* Read files with one index per line. */
int postprocess_options_include(struct postprocess_options *o, const char *path);
int postprocess_options_exclude(struct postprocess_options *o, const char *path);

/* Checks the combination of all options. */
int postprocess_options_finish(struct postprocess_options *o);

/* Returns true if any option of the processing is set. */
bool postprocess_options_any(const struct postprocess_options *o);
