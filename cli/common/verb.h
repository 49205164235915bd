/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A verb of the command line: a file cli/ROOM/verb-<name>.c that defines its row, and a line in
 * verbs.c.
 *
 * The dispatcher in dispatch.c finds the row, answers --help from it, and calls run() with the verb
 * as argv[0]. Verbs print results to stdout and everything else to stderr. They report errors with
 * cli_error(): the failed operation, its object, the reason, and a remedy.
 */
#pragma once

/* The exit status of the process. */
enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
	CLI_DAMAGE = 3, /* complete, but with loss or damage */
	CLI_FOUND = 4,  /* something was found that counts as a failure (--fail-over) */
	/* The exit status of a verb that runs a COMMAND, if kymo or the start of the command
	 * failed. Otherwise, it is the command's exit status (record_job_exit()). */
	CLI_COMMAND_FAILED = 125, /* kymo itself failed */
	CLI_NOT_EXECUTABLE = 126,
	CLI_NOT_FOUND = 127,
	CLI_SIGNALLED = 128, /* 128 plus the number of the signal */
};

struct verb {
	const char *name;
	const char *synopsis;              /* usage line after the name */
	const char *what;                  /* one line for the list of verbs */
	const char *options;               /* the option lines of --help, or NULL */
	void (*more_options)(void);        /* prints the options of a table, or NULL */
	const char *notes;                 /* text after the options, or NULL */
	const char *examples;              /* two lines, the last part of --help */
	int (*run)(int argc, char **argv); /* returns an enum cli_exit */
};

/* Each row is defined in its verb's file. */
extern const struct verb verb_calls_row;
extern const struct verb verb_moments_row;
extern const struct verb verb_query_row;
extern const struct verb verb_capabilities_row;
extern const struct verb verb_check_row;
extern const struct verb verb_collect_row;
extern const struct verb verb_cut_row;
extern const struct verb verb_diff_row;
extern const struct verb verb_dump_row;
extern const struct verb verb_export_row;
extern const struct verb verb_flame_row;
extern const struct verb verb_latency_row;
extern const struct verb verb_leaks_row;
extern const struct verb verb_list_row;
extern const struct verb verb_mark_row;
extern const struct verb verb_snapshot_row;
extern const struct verb verb_rotate_row;
extern const struct verb verb_context_row;
extern const struct verb verb_merge_row;
extern const struct verb verb_monitor_row;
extern const struct verb verb_open_row;
extern const struct verb verb_postprocess_row;
extern const struct verb verb_providers_row;
extern const struct verb verb_record_row;
extern const struct verb verb_redact_row;
extern const struct verb verb_repair_row;
extern const struct verb verb_report_row;
extern const struct verb verb_ship_row;
extern const struct verb verb_start_row;
extern const struct verb verb_status_row;
extern const struct verb verb_stop_row;
extern const struct verb verb_summary_row;
extern const struct verb verb_symbolize_row;
extern const struct verb verb_top_row;
extern const struct verb verb_verify_profile_row;
extern const struct verb verb_why_row;

/* All rows, in the order of --help; ends with NULL. */
extern const struct verb *const verbs[];

/* Prints "kymo VERB: message" to stderr. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints an error like cli_error(). Returns CLI_FAILED. */
#define cli_failed(...) (cli_error(__VA_ARGS__), CLI_FAILED)

/* Prints an error like cli_error(), followed by a reference to --help. Returns CLI_USAGE. */
int cli_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reports that getopt_long() returned '?' or ':' (the short options start with ':', which silences
 * getopt itself). Names the nearest of the long options in KNOWN. Returns CLI_USAGE. */
struct option;
int cli_bad_option(int answer, char **argv, const struct option *known);

/* Prints the help of the running verb, for its option --help. Returns CLI_OK. */
int cli_help(void);

/* Sets the verb for messages and for cli_help(). */
void cli_set_verb(const struct verb *verb);

/* Returns R, or CLI_FAILED after an error message if standard output could not be written, because
 * of a full disk or a closed pipe. */
int cli_check_printed(int r);
