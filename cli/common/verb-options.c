/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/verb-options.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "cli/common/verb.h"

/* What getopt_long() answers for the long option of row 0; letters are below. */
enum { LONG_FIRST = 256 };

/* The two tables that getopt_long() takes. */
static void verb_options_make_tables(const struct verb_option *rows, size_t n,
				     struct option *options, char *letters)
{
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

static const struct verb_option *find_row(const struct verb_option *rows, size_t n, int answer)
{
	if (answer >= LONG_FIRST)
		return &rows[answer - LONG_FIRST];
	for (size_t i = 0; i < n; i++)
		if (rows[i].letter == answer)
			return &rows[i];
	return NULL;
}

static int verb_options_take(const struct verb_option *row, char *value)
{
	if (row->flag)
		*row->flag = true;
	if (row->text)
		*row->text = value;
	return row->take ? row->take(row->userdata, value) : CLI_OK;
}

int verb_options_parse(int argc, char **argv, const struct verb_option *rows)
{
	_cleanup_free_ struct option *options = NULL;
	_cleanup_free_ char *letters = NULL;
	size_t n = 0;
	int c;

	while (rows[n].name)
		n++;
	options = calloc(n + 2, sizeof(*options));
	letters = calloc(2 * n + 3, 1);
	if (!options || !letters) {
		cli_error("out of memory");
		return CLI_FAILED;
	}
	verb_options_make_tables(rows, n, options, letters);
	while ((c = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		const struct verb_option *row = find_row(rows, n, c);
		int r;

		if (c == 'h')
			return cli_help();
		if (!row)
			return cli_bad_option(c, argv, options);
		r = verb_options_take(row, optarg);
		if (r != CLI_OK)
			return r;
	}
	return VERB_OPTIONS_GO;
}

int verb_options_parse_with(int argc, char **argv, const struct verb_option *rows, int n,
			    const char *what)
{
	int r = verb_options_parse(argc, argv, rows);

	return r == VERB_OPTIONS_GO && argc - optind != n ? cli_usage_error("%s", what) : r;
}
