/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the verb and runs it.
 */
#include "cli/dispatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/value.h"
#include "cli/common/verb.h"
#include "cli/service/remote.h"

static int dispatch_print_overview(FILE *to)
{
	fputs("Usage: kymo VERB [OPTION ...]\n\n"
	      "Records a whole Linux machine, and shows the recording.\n\n",
	      to);
	for (const struct verb *const *v = verbs; *v; v++)
		fprintf(to, "  %-14s %s\n", (*v)->name, (*v)->what);
	fputs("\n'kymo VERB --help' lists the options of a verb; 'kymo help VERB' shows its manual.\n"
	      "Exit status: 0 done, 1 failed, 2 wrong usage, 3 done with loss or damage.\n",
	      to);
	return CLI_OK;
}

/* Reports that the user gave the file NAME instead of a verb. */
static int dispatch_is_file(const char *name, const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		return cli_usage_error("'%s' is a directory, not a verb", name);
	if (access(name, X_OK) == 0)
		return cli_usage_error("unknown verb '%s'; to record this program, use 'kymo "
				       "record -- %s%s'",
				       name, strchr(name, '/') ? "" : "./", name);
	return cli_usage_error("unknown verb '%s'; to see what is in this file, use 'kymo summary "
			       "%s' or 'kymo open %s'",
			       name, name, name);
}

static int dispatch_unknown_verb(const char *name)
{
	static const char *const others[] = { "help", "--help", "--version", "--host",
					      "--machine" };
	struct value_nearest near = { .text = name, .distance = VALUE_NEAR };
	const char *what = name[0] == '-' ? "option" : "verb";
	struct stat st;

	for (const struct verb *const *v = verbs; *v; v++)
		value_nearest_try(&near, (*v)->name);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		value_nearest_try(&near, others[i]);
	/* (no verb has one of these characters) */
	if (strpbrk(name, "/.") && stat(name, &st) == 0)
		return dispatch_is_file(name, &st);
	if (near.nearest)
		return cli_usage_error("unknown %s '%s'; did you mean '%s'?", what, name,
				       near.nearest);
	if (name[0] != '-' && stat(name, &st) == 0)
		return dispatch_is_file(name, &st);
	return cli_usage_error("unknown %s '%s'", what, name);
}

static const struct verb *dispatch_find_verb(const char *name)
{
	for (const struct verb *const *v = verbs; *v; v++)
		if (strcmp(name, (*v)->name) == 0)
			return *v;
	return NULL;
}

/* Shows the manual page from the section of VERB on, if standard output is a terminal and the page
 * is installed. Returns only if the page cannot be shown. */
static void dispatch_show_manual(const struct verb *verb)
{
	char pager[128];

	if (!isatty(STDOUT_FILENO))
		return;
	/* (man(1) would print an error of several lines if the page is missing) */
	if (system("{ man --where kymo && command -v less; } >/dev/null 2>&1") != 0)
		return;
	snprintf(pager, sizeof(pager), "less '+/^ *kymo %s$'", verb->name);
	execlp("man", "man", "-P", pager, "kymo", NULL);
}

/* Runs `kymo help [VERB]`. */
static int dispatch_print_help(int argc, char **argv)
{
	const struct verb *verb;

	if (argc < 2)
		return dispatch_print_overview(stdout);
	if (argc > 2)
		return cli_usage_error("expected one VERB");
	verb = dispatch_find_verb(argv[1]);
	if (!verb)
		return dispatch_unknown_verb(argv[1]);
	dispatch_show_manual(verb);
	cli_set_verb(verb);
	return cli_help();
}

/* Runs the verb on this machine or on another one. */
static int dispatch_run_verb(const struct verb *verb, int argc, char **argv)
{
	struct remote remote = { 0 };
	int r;

	cli_set_verb(verb);
	r = remote_parse_options(&argc, argv, &remote);
	if (r != CLI_OK)
		return r;
	r = remote_is_set(&remote) ? remote_run(&remote, argc, argv) : REMOTE_GO;
	return r == REMOTE_GO ? verb->run(argc, argv) : r;
}

int dispatch(int argc, char **argv)
{
	const struct verb *verb;

	remote_append(argc, argv);
	if (argc < 2) {
		dispatch_print_overview(stderr);
		fputs("\nTo begin:\n"
		      "  kymo record -d 5 -o t.fxt    record the machine for 5 seconds\n"
		      "  kymo summary t.fxt           see what it did\n"
		      "  kymo open t.fxt              see it in a browser\n",
		      stderr);
		return CLI_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return dispatch_print_overview(stdout);
	if (strcmp(argv[1], "help") == 0)
		return dispatch_print_help(argc - 1, argv + 1);
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts("kymo " KYMO_VERSION);
		return CLI_OK;
	}
	verb = dispatch_find_verb(argv[1]);
	return verb ? dispatch_run_verb(verb, argc - 1, argv + 1) : dispatch_unknown_verb(argv[1]);
}
