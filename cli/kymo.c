/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo: finds the verb and runs it.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/value.h"
#include "cli/service/remote.h"
#include "cli/common/verb.h"

static const struct verb *current;
static int print_errno; /* why printing failed, if that is known */

/* What is said on stderr comes behind what was printed before. Returns whether that was printed. */
static bool flush_printed(void)
{
	int e = errno; /* messages have it in them */
	bool printed;

	errno = 0;
	printed = fflush(stdout) == 0 && !ferror(stdout);
	if (print_errno == 0)
		print_errno = errno;
	errno = e;
	return printed;
}

/* "kymo VERB: message" */
static void complain(const char *format, va_list ap)
{
	_cleanup_free_ char *text = NULL;
	char *rest, *line;

	flush_printed();
	fprintf(stderr, "kymo%s%s: ", current ? " " : "", current ? current->name : "");
	if (vasprintf(&text, format, ap) < 0)
		return;
	/* What others have called their things is no command to the terminal. */
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

/* Whether getopt_long() complains of a long option, which then is the word that it took last. */
static bool is_long_option(char **argv)
{
	const char *word = argv[optind - 1], *next = argv[optind];

	if (optopt == 0 || optopt >= 256)
		return true;
	/* "--help=x" has the letter of -h. A word of letters, though, is taken only with its last
	 * one, so that what was taken last may be any other option. */
	return strncmp(word, "--", 2) == 0 && strchr(word, '=') &&
	       !(next && next[0] == '-' && next[1] != '-' && strchr(next + 1, optopt));
}

/* WORD is no long option of KNOWN, or not as it stands there. */
static int bad_long_option(const char *word, const struct option *known)
{
	int n = 2 + (int)strcspn(word + 2, "=");
	_cleanup_free_ char *name = strndup(word + 2, (size_t)n - 2);
	struct value_nearest near = { .text = name, .distance = VALUE_NEAR };
	const char *begins[2] = { NULL, NULL };
	size_t n_begins = 0;

	if (!name)
		return cli_usage_error("there is no option '%.*s'", n, word);
	for (; known->name; known++) {
		if (strcmp(known->name, name) == 0)
			return cli_usage_error("option '%.*s' takes no value", n, word);
		if (*name && strncmp(known->name, name, strlen(name)) == 0 && n_begins < 2)
			begins[n_begins++] = known->name;
		value_nearest_try(&near, known->name);
	}
	if (n_begins > 1)
		return cli_usage_error("option '%.*s' is cut too short: '--%s' or '--%s'?", n, word,
				       begins[0], begins[1]);
	if (n_begins == 1)
		return cli_usage_error("option '--%s' takes no value", begins[0]);
	if (near.nearest)
		return cli_usage_error("there is no option '%.*s'; did you mean '--%s'?", n, word,
				       near.nearest);
	return cli_usage_error("there is no option '%.*s'", n, word);
}

int cli_bad_option(int answer, char **argv, const struct option *known)
{
	const char *word = argv[optind - 1];

	if (answer == ':')
		return cli_usage_error("option '%s' needs a value", word);
	if (is_long_option(argv))
		return bad_long_option(word, known);
	if (optopt <= ' ' || optopt > '~')
		return cli_usage_error("there is no option of the character 0x%02x",
				       (unsigned char)optopt);
	return cli_usage_error("there is no option '-%c'", optopt);
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
	return CLI_OK;
}

static int print_overview(FILE *to)
{
	fputs("Usage: kymo VERB [OPTION ...]\n\n"
	      "Records what a whole Linux machine did, and when, and shows it.\n\n",
	      to);
	for (const struct verb *const *v = verbs; *v; v++)
		fprintf(to, "  %-14s %s\n", (*v)->name, (*v)->what);
	fputs("\n'kymo help VERB' says more about one of them.\n"
	      "Exit status: 0 done, 1 failed, 2 wrong usage, 3 done with loss or damage.\n",
	      to);
	return CLI_OK;
}

static int unknown_verb(const char *name)
{
	static const char *const others[] = { "help", "--help", "--version", "--host",
					      "--machine" };
	struct value_nearest near = { .text = name, .distance = VALUE_NEAR };
	const char *what = name[0] == '-' ? "option" : "verb";

	for (const struct verb *const *v = verbs; *v; v++)
		value_nearest_try(&near, (*v)->name);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		value_nearest_try(&near, others[i]);
	if (near.nearest)
		return cli_usage_error("there is no %s '%s'; did you mean '%s'?", what, name,
				       near.nearest);
	return cli_usage_error("there is no %s '%s'", what, name);
}

static const struct verb *find_verb(const char *name)
{
	for (const struct verb *const *v = verbs; *v; v++)
		if (strcmp(name, (*v)->name) == 0)
			return *v;
	return NULL;
}

/* `kymo help [VERB]` */
static int print_help(int argc, char **argv)
{
	if (argc < 2)
		return print_overview(stdout);
	if (argc > 2)
		return cli_usage_error("help is for one verb");
	current = find_verb(argv[1]);
	return current ? cli_help() : unknown_verb(argv[1]);
}

/*
 * What is opened later must not become standard output, or messages would end up in it. What was
 * closed stays of no use: it is opened for the wrong direction. Returns 0 or a negative errno.
 */
static int fill_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return -errno;
	}
	return 0;
}

/* What was printed into a full disk or a closed pipe was not printed. */
static int check_printed(int r)
{
	if (flush_printed() || (r != CLI_OK && r != CLI_DAMAGE))
		return r;
	cli_error("cannot write to standard output%s%s", print_errno ? ": " : "",
		  print_errno ? strerror(print_errno) : "");
	return CLI_FAILED;
}

/* The verb, here or elsewhere. */
static int run_verb(const struct verb *verb, int argc, char **argv)
{
	struct remote remote = { 0 };
	int r;

	current = verb;
	r = remote_take(&argc, argv, &remote);
	if (r != CLI_OK)
		return r;
	r = remote.host || remote.machine ? remote_run(&remote, argc, argv) : REMOTE_GO;
	return r == REMOTE_GO ? verb->run(argc, argv) : r;
}

static int run(int argc, char **argv)
{
	const struct verb *verb;

	remote_put_behind(argc, argv);
	if (argc < 2) {
		print_overview(stderr);
		return CLI_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return print_overview(stdout);
	if (strcmp(argv[1], "help") == 0)
		return print_help(argc - 1, argv + 1);
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts("kymo " KYMO_VERSION);
		return CLI_OK;
	}
	verb = find_verb(argv[1]);
	return verb ? run_verb(verb, argc - 1, argv + 1) : unknown_verb(argv[1]);
}

int main(int argc, char **argv)
{
	if (fill_standard_descriptors() < 0)
		return CLI_FAILED; /* nobody can be told */
	/* A file that may not grow (ulimit -f) is a failure like others, with a message. */
	signal(SIGXFSZ, SIG_IGN);
	return check_printed(run(argc, argv));
}
