/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of a verb: a table of what they are called and where what they say goes. --help is
 * one of every verb.
 */
#pragma once

#include <getopt.h>
#include <stdbool.h>

struct verb_option {
	const char *name; /* without the dashes */
	int letter;       /* 0 = it has none */
	int argument;     /* no_argument, required_argument, optional_argument */
	/* What is set, of these three what is not NULL. */
	bool *flag;        /* to true */
	const char **text; /* to the value, a part of argv; NULL where there is none */
	/*
	 * Is called with the value, which it may take apart. Returns CLI_OK, or an enum cli_exit
	 * when it has said what is wrong.
	 */
	int (*take)(void *userdata, char *value);
	void *userdata;
};

/* Rows of the usual kinds; a table ends with { 0 }. */
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
		.take = (function), .userdata = (to)                                               \
	}
#define OPTION_PLAIN(option, function, to)                                                         \
	{                                                                                          \
		.name = (option), .take = (function), .userdata = (to)                             \
	}

enum {
	VERB_OPTIONS_GO = -1, /* there is something to do */
};

/*
 * Takes all options of ARGV by the table ROWS. Returns VERB_OPTIONS_GO, with optind at the first
 * word that is none, or the enum cli_exit to end with.
 */
int verb_options_parse(int argc, char **argv, const struct verb_option *rows);

/*
 * The same for a verb that runs a command: what stands behind the first word that is no option is
 * the command's.
 */
int verb_options_parse_command(int argc, char **argv, const struct verb_option *rows);

/* In a row's take(): the option as it was typed, "-d" or "--duration". */
const char *verb_options_typed(void);

/* After parsing: whether "--" ended the options ("-o --" names a file). */
bool verb_options_separated(void);

/* The same for a verb that takes N words beside its options; WHAT says which, for the complaint
 * about another number: "it takes ...". */
int verb_options_parse_with(int argc, char **argv, const struct verb_option *rows, int n,
			    const char *what);

/* What that is for many. */
#define VERB_TAKES_FILE "expected one FILE, or '-' for standard input"
#define VERB_TAKES_EDIT "it takes an archive and a file for the result"
