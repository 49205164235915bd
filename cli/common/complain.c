/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shared texts of all verbs: messages, complaints about options, and --help; and the check that
 * standard output was written.
 */
#include "cli/common/verb.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/value.h"
#include "cli/common/progress.h"

static const struct verb *current;
static int print_errno; /* why printing failed; 0 = not known */

void cli_set_verb(const struct verb *verb)
{
	current = verb;
}

/* Flushes standard output, so that messages on stderr follow it. Returns false if that failed. */
static bool complain_flush_printed(void)
{
	int e = errno; /* messages can contain errno */
	bool printed;

	errno = 0;
	printed = fflush(stdout) == 0 && !ferror(stdout);
	if (print_errno == 0)
		print_errno = errno;
	errno = e;
	return printed;
}

/* Prints "kymo VERB: message". */
static void complain(const char *format, va_list ap)
{
	_cleanup_free_ char *text = NULL;
	char *rest, *line;

	complain_flush_printed();
	progress_clear();
	fprintf(stderr, "kymo%s%s: ", current ? " " : "", current ? current->name : "");
	if (vasprintf(&text, format, ap) < 0)
		return;
	/* Names from outside could contain commands to the terminal. */
	for (rest = text; (line = strsep(&rest, "\n"));) {
		size_t room = 3 * strlen(line) + 1;
		_cleanup_free_ char *clean = malloc(room);

		if (!clean)
			return;
		text_clean(clean, room, line, strlen(line));
		fprintf(stderr, "%s\n", clean);
	}
}

void cli_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	complain(format, ap);
	va_end(ap);
}

int cli_usage_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	complain(format, ap);
	va_end(ap);
	fprintf(stderr, "Try 'kymo%s%s --help'.\n", current ? " " : "",
		current ? current->name : "");
	return CLI_USAGE;
}

/*
 * Returns true if getopt_long() complains about a long option. The last word that getopt_long()
 * parsed is then that option.
 */
static bool complain_is_long_option(char **argv)
{
	const char *word = argv[optind - 1], *next = argv[optind];

	if (optopt == 0 || optopt >= 256)
		return true;
	/* For "--help=x", optopt is the letter of -h. But the invalid letter can also be in the
	 * next word: optind moves past a word of letters only after its last letter. */
	return strncmp(word, "--", 2) == 0 && strchr(word, '=') &&
	       !(next && next[0] == '-' && next[1] != '-' && strchr(next + 1, optopt));
}

/* Reports that WORD is not a long option in KNOWN, or is not valid in this form. */
static int complain_bad_long_option(const char *word, const struct option *known)
{
	int n = 2 + (int)strcspn(word + 2, "=");
	_cleanup_free_ char *name = strndup(word + 2, (size_t)n - 2);
	struct value_nearest near = { .text = name, .distance = VALUE_NEAR };
	const char *begins[2] = { NULL, NULL };
	size_t n_begins = 0;

	if (!name)
		return cli_usage_error("unknown option '%.*s'", n, word);
	for (; known->name; known++) {
		if (strcmp(known->name, name) == 0)
			return cli_usage_error("option '%.*s' takes no value", n, word);
		if (*name && strncmp(known->name, name, strlen(name)) == 0 && n_begins < 2)
			begins[n_begins++] = known->name;
		value_nearest_try(&near, known->name);
	}
	if (n_begins > 1)
		return cli_usage_error("option '%.*s' is ambiguous: '--%s' or '--%s'?", n, word,
				       begins[0], begins[1]);
	if (n_begins == 1)
		return cli_usage_error("option '--%s' takes no value", begins[0]);
	if (near.nearest)
		return cli_usage_error("unknown option '%.*s'; did you mean '--%s'?", n, word,
				       near.nearest);
	return cli_usage_error("unknown option '%.*s'", n, word);
}

int cli_bad_option(int answer, char **argv, const struct option *known)
{
	const char *word = argv[optind - 1];

	if (answer == ':')
		return cli_usage_error("option '%s' needs a value", word);
	if (complain_is_long_option(argv))
		return complain_bad_long_option(word, known);
	if (optopt <= ' ' || optopt > '~')
		return cli_usage_error("unknown option with the character 0x%02x",
				       (unsigned char)optopt);
	return cli_usage_error("unknown option '-%c'", optopt);
}

int cli_help(void)
{
	printf("Usage: kymo %s%s%s\n\n%s.\n", current->name, *current->synopsis ? " " : "",
	       current->synopsis, current->what);
	if (current->options)
		printf("\n%s", current->options);
	if (current->more_options)
		current->more_options();
	if (current->notes)
		fputs(current->notes, stdout);
	printf("\nExamples:\n%s", current->examples);
	return CLI_OK;
}

int cli_check_printed(int r)
{
	if (complain_flush_printed() || (r != CLI_OK && r != CLI_DAMAGE))
		return r;
	return cli_failed("cannot write to standard output%s%s", print_errno ? ": " : "",
			  print_errno ? strerror(print_errno) : "");
}
