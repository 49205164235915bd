/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo dump of a call trace, with the output and the options of `apitrace dump`.
 */
#pragma once

#include <regex.h>

#include "cli/apitrace/apitrace-numbers.h"
#include "cli/common/open-trace.h"
#include "cli/common/verb-options.h"
#include "reader/apitrace/apitrace-text.h"

struct apitrace_dump_options {
	struct apitrace_text_options text;
	struct apitrace_numbers set;
	regex_t grep;
	bool json, verbose, has_grep, blobs;
	const char *used; /* an option that was given, but is only for call traces; borrowed */
};

void apitrace_dump_options_deinit(struct apitrace_dump_options *o);

/* The parsers of the options below (verb-options.h). */
int apitrace_dump_take_set(void *userdata, char *value);
int apitrace_dump_take_grep(void *userdata, char *value);
int apitrace_dump_take_threads(void *userdata, char *value);
int apitrace_dump_take_numbers(void *userdata, char *value);
int apitrace_dump_take_names(void *userdata, char *value);
int apitrace_dump_take_lines(void *userdata, char *value);
int apitrace_dump_take_verbose(void *userdata, char *value);
int apitrace_dump_take_blobs(void *userdata, char *value);

#define CALLS_DUMP_SWITCH(option, function, to)                                                    \
	{                                                                                          \
		.name = (option), .argument = optional_argument, .parse = (function),              \
		.userdata = (to)                                                                   \
	}

/* The rows of the options, for verb_options_parse(). */
#define CALLS_DUMP_ROWS(o)                                                                         \
	OPTION_VALUE("calls", 0, apitrace_dump_take_set, o),                                       \
		OPTION_VALUE("grep", 0, apitrace_dump_take_grep, o),                               \
		OPTION_PLAIN("blobs", apitrace_dump_take_blobs, o),                                \
		CALLS_DUMP_SWITCH("thread-ids", apitrace_dump_take_threads, o),                    \
		CALLS_DUMP_SWITCH("call-nos", apitrace_dump_take_numbers, o),                      \
		CALLS_DUMP_SWITCH("arg-names", apitrace_dump_take_names, o),                       \
		CALLS_DUMP_SWITCH("multiline", apitrace_dump_take_lines, o),                       \
	{                                                                                          \
		.name = "verbose", .letter = 'v', .parse = apitrace_dump_take_verbose,             \
		.userdata = (o)                                                                    \
	}

#define CALLS_DUMP_HELP                                                                            \
	"\nFor call traces (apitrace) only:\n"                                                     \
	"      --calls=SET         only these calls: 5, 2-4, 10-, */frame, 0-9/2, ...\n"           \
	"      --grep=REGEX        only calls of functions whose names match\n"                    \
	"      --thread-ids[=YES]  threads, in hexadecimal (no)\n"                                 \
	"      --call-nos[=YES]    numbers of calls (yes)\n"                                       \
	"      --arg-names[=YES]   names of arguments (yes)\n"                                     \
	"      --multiline[=YES]   stacks, and unescaped line feeds in strings (yes)\n"            \
	"      --blobs             write blobs to files blob_callN.bin in this directory\n"        \
	"  -v, --verbose           also print calls of graphics libraries that query state\n"

/* Prints all calls of T. Returns an enum cli_exit. */
int apitrace_dump(struct open_trace *t, const struct apitrace_dump_options *o);
