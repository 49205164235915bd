/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of `kymo record`, `kymo start`, `kymo top` and `kymo leaks`. Names of processes,
 * users, units and cgroups are resolved here, so that the daemon gets numbers.
 */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"
#include "capture/options/option-table.h"
#include "cli/common/verb-options.h"

struct record_options {
	struct session_options session; /* options of the session, without its name; owned */
	const char *output;             /* NULL = not given; "-" = standard output */
	const char *bus;                /* NULL = the system bus */
	bool force;                     /* --force: replace an existing file */
	bool direct;                    /* --direct: record without the daemon */
	bool json;
	bool all_categories, list_categories; /* "-e all" and "-e help" were given */
	/* Texts of these options; the arrays and the texts are owned */
	char **calls, **moments, **static_probes;
	size_t n_calls, n_moments, n_static_probes;
	const char *collect; /* NULL = not given */
	char given[64];      /* first option of the session that was given, as typed; "" = none */
	char **rest;         /* the words after the options; ends with NULL */
	int n_rest;
	bool separated; /* "--" precedes these words */
};

enum {
	/* The result of record_options_parse() if the options are valid; other results are an enum
	 * cli_exit. */
	RECORD_OPTIONS_GO = VERB_OPTIONS_GO,
};

/*
 * Parses the options of VERB: the rows of the table of options, and its OWN rows, the last of which
 * is { 0 }. The options of `leaks` are not checked.
 */
int record_options_parse(int argc, char **argv, enum option_verb verb,
			 const struct verb_option *own, struct record_options *o);

/* Rows for verbs that write archives. O is a struct record_options *. */
#define RECORD_OPTION_ROWS(o)                                                                      \
	OPTION_VALUE("output", 'o', record_options_output, o), OPTION_FLAG("force", &(o)->force),  \
		OPTION_TEXT("bus", 0, &(o)->bus), OPTION_TEXT("collect", 0, &(o)->collect)

int record_options_output(void *options, char *value);

/* Replaces "all" by categories, and checks the combination of all options. Returns
 * RECORD_OPTIONS_GO or an enum cli_exit. */
int record_options_check(struct record_options *o);

/*
 * Adds a process to the filter. The process must exist. OPTION is the name of the option in
 * messages. Returns RECORD_OPTIONS_GO or an enum cli_exit.
 */
int record_options_add_pid(struct record_options *o, const char *option, const char *pid);

/* Prints the option lines of --help, in groups. */
void record_options_help(enum option_verb verb);

void record_options_deinit(struct record_options *o);
