/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A verb of the command line: a row here, a file cli/verb-<name>.c.
 *
 * The dispatcher in kymo.c finds the row, answers --help from it, and hands the rest to run() with
 * argv[0] being the verb. Verbs print results to stdout and everything else to stderr, and speak
 * of failures through cli_error(): what failed, on what, why, and what to do about it.
 */
#pragma once

#include <stdbool.h>

/* What the process exits with. */
enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
	CLI_DAMAGE = 3, /* done, with loss or damage worth knowing */
};

struct verb {
	const char *name;
	const char *synopsis; /* what follows the name on the usage line */
	const char *what;     /* one line for the list of verbs */
	const char *options;  /* the option lines of --help, or NULL */
	int (*run)(int argc, char **argv); /* returns an enum cli_exit */
};

int verb_capabilities(int argc, char **argv);
int verb_check(int argc, char **argv);
int verb_dump(int argc, char **argv);
int verb_list(int argc, char **argv);
int verb_mark(int argc, char **argv);
int verb_monitor(int argc, char **argv);
int verb_record(int argc, char **argv);
int verb_start(int argc, char **argv);
int verb_status(int argc, char **argv);
int verb_stop(int argc, char **argv);
int verb_summary(int argc, char **argv);

/* All rows, in the order of --help; ends with a NULL name. */
extern const struct verb verbs[];

/* Prints "kymo VERB: message" to stderr. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, then how to get help; returns CLI_USAGE. */
int cli_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the help of the verb that runs. Returns CLI_OK. For the --help option of verbs. */
int cli_help(void);
