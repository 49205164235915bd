/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/verb-options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/common/verb.h"

/* The option that is being parsed, as typed. */
static char typed[64];
static bool separated;

const char *verb_options_typed(void)
{
	return typed;
}

bool verb_options_separated(void)
{
	return separated;
}

/*
 * The result of getopt_long() for the long option of row 0. It is above the codes of all letters.
 */
enum { LONG_FIRST = 256 };

/* Makes the two tables for getopt_long(). */
static void verb_options_make_tables(const struct verb_option *rows, size_t n, bool command,
				     struct option *options, char *letters)
{
	if (command)
		*letters++ = '+';
	*letters++ = ':';
	*letters++ = 'h';
	for (size_t i = 0; i < n; i++) {
		options[i] = (struct option){ rows[i].name, rows[i].argument, NULL,
					      LONG_FIRST + (int)i };
		if (!rows[i].letter)
			continue;
		*letters++ = (char)rows[i].letter;
		if (rows[i].argument == required_argument)
			*letters++ = ':';
	}
	options[n] = (struct option){ "help", no_argument, NULL, 'h' };
}

static const struct verb_option *verb_options_find_row(const struct verb_option *rows, size_t n,
						       int answer)
{
	if (answer >= LONG_FIRST)
		return &rows[answer - LONG_FIRST];
	for (size_t i = 0; i < n; i++)
		if (rows[i].letter == answer)
			return &rows[i];
	return NULL;
}

static int verb_options_apply(const struct verb_option *row, int answer, char *value)
{
	if (answer >= LONG_FIRST)
		snprintf(typed, sizeof(typed), "--%s", row->name);
	else
		snprintf(typed, sizeof(typed), "-%c", answer);
	if (row->flag)
		*row->flag = true;
	if (row->text)
		*row->text = value;
	return row->parse ? row->parse(row->userdata, value) : CLI_OK;
}

static int verb_options_parse_(int argc, char **argv, const struct verb_option *rows, bool command)
{
	_cleanup_free_ struct option *options = NULL;
	_cleanup_free_ char *letters = NULL;
	int c, behind = 1;
	size_t n = 0;

	while (rows[n].name)
		n++;
	options = calloc(n + 2, sizeof(*options));
	letters = calloc(2 * n + 4, 1);
	if (!options || !letters)
		return cli_failed("out of memory");
	verb_options_make_tables(rows, n, command, options, letters);
	while ((c = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		const struct verb_option *row = verb_options_find_row(rows, n, c);
		int r;

		if (c == 'h')
			return cli_help();
		if (!row)
			return cli_bad_option(c, argv, options);
		behind = optind;
		r = verb_options_apply(row, c, optarg);
		if (r != CLI_OK)
			return r;
	}
	separated = optind > behind && strcmp(argv[optind - 1], "--") == 0;
	return VERB_OPTIONS_GO;
}

int verb_options_parse(int argc, char **argv, const struct verb_option *rows)
{
	return verb_options_parse_(argc, argv, rows, false);
}

int verb_options_parse_command(int argc, char **argv, const struct verb_option *rows)
{
	return verb_options_parse_(argc, argv, rows, true);
}

int verb_options_parse_with(int argc, char **argv, const struct verb_option *rows, int n,
			    const char *what)
{
	int r = verb_options_parse(argc, argv, rows);

	return r == VERB_OPTIONS_GO && argc - optind != n ? cli_usage_error("%s", what) : r;
}
