/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of a verb: a table of their names and of the destinations of their values. Every verb
 * has --help.
 */
#pragma once

#include <getopt.h>
#include <stdbool.h>

struct verb_option {
	const char *name; /* name without the dashes */
	int letter;       /* short option; 0 = no short option */
	int argument;     /* no_argument, required_argument, optional_argument */
	/* The destinations of the value; each can be NULL. */
	bool *flag;        /* is set to true */
	const char **text; /* is set to the value, which is a part of argv; NULL without a value */
	/* Parses the value, and can modify it. Returns CLI_OK, or an enum cli_exit after an error
	 * message. */
	int (*parse)(void *userdata, char *value);
	void *userdata;
};

/* Rows of the usual kinds. A table ends with { 0 }. */
#define OPTION_FLAG(option, to)                                                                    \
	{                                                                                          \
		.name = (option), .flag = (to)                                                     \
	}
#define OPTION_TEXT(option, short_option, to)                                                      \
	{                                                                                          \
		.name = (option), .letter = (short_option), .argument = required_argument,         \
		.text = (to)                                                                       \
	}
#define OPTION_VALUE(option, short_option, function, to)                                           \
	{                                                                                          \
		.name = (option), .letter = (short_option), .argument = required_argument,         \
		.parse = (function), .userdata = (to)                                              \
	}
#define OPTION_PLAIN(option, function, to)                                                         \
	{                                                                                          \
		.name = (option), .parse = (function), .userdata = (to)                            \
	}

enum {
	VERB_OPTIONS_GO = -1, /* the options are valid */
};

/* Parses all options of ARGV with the table ROWS. Returns VERB_OPTIONS_GO, with optind at the first
 * word that is not an option, or an enum cli_exit. */
int verb_options_parse(int argc, char **argv, const struct verb_option *rows);

/* Parses ARGV like verb_options_parse(), for a verb that runs a command: all words after the first
 * one that is not an option belong to the command. */
int verb_options_parse_command(int argc, char **argv, const struct verb_option *rows);

/*
 * Returns the option that is being parsed, as typed: "-d" or "--duration". For the parse functions
 * of rows.
 */
const char *verb_options_typed(void);

/* Returns true if "--" has ended the options, after parsing ("-o --" is a file name). */
bool verb_options_separated(void);

/*
 * Parses ARGV like verb_options_parse(), for a verb that takes N words and options. WHAT is the
 * error message for another number of words.
 */
int verb_options_parse_with(int argc, char **argv, const struct verb_option *rows, int n,
			    const char *what);

/* The error message WHAT of verbs with one file. */
#define VERB_ARGS_FILE "expected one FILE, or '-' for standard input"
#define VERB_ARGS_EDIT "it takes an archive and a file for the result"
