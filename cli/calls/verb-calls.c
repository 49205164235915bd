/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo calls: prints the calls of functions of an archive or of a new recording, one per line; or
 * lists the functions that match specifications.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/calls/call-line.h"
#include "cli/calls/call-report.h"
#include "cli/calls/calls-live.h"
#include "cli/common/nothing-there.h"
#include "cli/common/read-events.h"
#include "cli/common/stacks-text.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "cli/places/call-list.h"
#include "cli/places/call-resolve.h"

/* A live recording writes its data at this interval. */
#define LIVE_FLUSH_NS UINT64_C(50000000)

static int verb_calls_parse_min(void *to, char *value)
{
	return text_parse_time(value, to) < 0
		       ? cli_usage_error("--min takes a time (10us, 5ms), not '%s'", value)
		       : CLI_OK;
}

/* The representation of calls. */
struct verb_calls_view {
	struct call_lines lines;
	struct call_stacks stacks;
	bool wants_stacks;
};

static void verb_calls_view_deinit(struct verb_calls_view *v)
{
	call_lines_deinit(&v->lines);
	call_stacks_deinit(&v->stacks);
}

/* Prepares the view, when all options are known. */
static int verb_calls_view_begin(struct verb_calls_view *v)
{
	const struct symbol_options symbols = { 0 };

	if (!v->wants_stacks)
		return CLI_OK;
	if (v->lines.only_sums)
		return cli_usage_error(
			"--summary prints no calls, so --stack-trace is not possible "
			"with it");
	v->lines.stacks = &v->stacks;
	return call_stacks_init(&v->stacks, &symbols);
}

#define VERB_CALLS_ROWS(v)                                                                         \
	OPTION_FLAG("failed", &(v)->lines.only_failed),                                            \
		OPTION_TEXT("function", 0, &(v)->lines.function.pattern),                          \
		OPTION_FLAG("json", &(v)->lines.json),                                             \
		OPTION_VALUE("min", 0, verb_calls_parse_min, &(v)->lines.min_ns),                  \
		OPTION_TEXT("process", 0, &(v)->lines.process.pattern),                            \
		OPTION_VALUE("thread", 0, part_options_tids, &(v)->lines.tids),                    \
		OPTION_FLAG("stack-trace", &(v)->wants_stacks),                                    \
		OPTION_FLAG("summary", &(v)->lines.only_sums)

/* ---- archives ---- */

/* Explains why LINES has shown no call of the archive T. Returns an enum cli_exit. */
static int verb_calls_explain_none(const struct call_lines *lines, const struct open_trace *t)
{
	/* (a live recording has reported this itself) */
	if (lines->n_calls == 0 && !lines->function.has_matched)
		return lines->is_live ? CLI_OK
				      : nothing_there_say(&t->parts, NOTHING_CALLS, t->name);
	if (name_filter_complain(&lines->function, t->name, "call of a function") ||
	    name_filter_complain(&lines->process, t->name, "call of a process"))
		return lines->is_live ? CLI_OK : CLI_DAMAGE;
	if (lines->n_calls > 0 &&
	    (lines->process.pattern || lines->pids.n || lines->tids.n || lines->only_failed))
		cli_error("%s contains %" PRIu64 " call%s, but the options select none of them",
			  t->name, lines->n_calls, text_s(lines->n_calls));
	else if (lines->n_calls > 0 && lines->min_ns > 0)
		cli_error("%s contains %" PRIu64 " call%s, but no selected one took %s (--min)",
			  t->name, lines->n_calls, text_s(lines->n_calls),
			  TEXT_TIME(lines->min_ns));
	return CLI_OK;
}

/* Prints the sums, and says whether calls are missing in them. Returns an enum cli_exit. */
static int verb_calls_print_sums(const struct call_lines *lines, const struct open_trace *t)
{
	int r = call_report_print(lines);

	/* (a live recording has reported this itself) */
	if (lines->n_lost == 0 || lines->is_live)
		return r;
	cli_error("%s: %" PRIu64 " record%s of calls %s lost while it was recorded, so the numbers "
		  "are too low; a larger buffer (-b) loses less",
		  t->name, lines->n_lost, text_s(lines->n_lost), text_was(lines->n_lost));
	return r == CLI_OK ? CLI_DAMAGE : r;
}

/* Prints the calls in the archive at PATH. */
static int verb_calls_print(struct call_lines *lines, const char *path)
{
	struct open_trace t = OPEN_TRACE_NULL;
	int r = open_trace(&t, path);

	t.prints = true;
	t.name = lines->is_live ? "the recording" : path;
	r = r ?: read_events(&t, call_lines_on_event, lines) ?: open_trace_finish(&t);
	if (r == CLI_OK && lines->stacks && lines->n_printed > 0)
		stacks_report_incomplete(lines->walks, 0);
	if (r == CLI_OK && lines->n_printed == 0)
		r = verb_calls_explain_none(lines, &t);
	if (r == CLI_OK && lines->only_sums)
		r = verb_calls_print_sums(lines, &t);
	/* (a live recording has named these files itself) */
	if (!lines->is_live)
		nothing_there_name_files(&lines->others, t.name);
	open_trace_close(&t);
	return r;
}

static int verb_calls_of_file(int argc, char **argv)
{
	_cleanup_(verb_calls_view_deinit) struct verb_calls_view view = { 0 };
	const struct verb_option options[] = {
		VERB_CALLS_ROWS(&view),
		/* (with a new recording, --pid selects what is recorded) */
		OPTION_VALUE("pid", 'p', part_options_pids, &view.lines.pids),
		{ 0 },
	};
	int r = verb_options_parse_with(argc, argv, options, 1,
					"expected one FILE, or --call=SPEC to record now");

	if (r != VERB_OPTIONS_GO)
		return r;
	return verb_calls_view_begin(&view) ?: verb_calls_print(&view.lines, argv[optind]);
}

/* ---- live recordings ---- */

/* Returns true if ARGV requests a live recording. */
static bool verb_calls_is_live(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--call") == 0 || strncmp(argv[i], "--call=", 7) == 0)
			return true;
	return false;
}

static int verb_calls_check(const struct record_options *o)
{
	if (o->n_rest && !o->separated)
		return cli_usage_error("unexpected argument '%s'; a command comes after '--'",
				       o->rest[0]);
	if (o->output)
		return cli_usage_error("'-o' is not possible, because calls are printed; 'kymo "
				       "record' writes an archive");
	return CLI_OK;
}

/* Returns true if data arrives from FD. If not, the recording has printed the error. */
static bool verb_calls_has_begun(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	return p.revents & POLLIN;
}

static int verb_calls_record(struct record_options *o, struct call_lines *lines)
{
	char path[32];
	pid_t pid = 0;
	int fd = -1, r, status;

	snprintf(o->session.name, sizeof(o->session.name), "calls_%d", getpid());
	o->session.flush_ns = o->session.flush_ns ?: LIVE_FLUSH_NS;
	r = calls_live_begin(o, &pid, &fd);
	if (r != CLI_OK)
		return r;
	lines->is_live = true;
	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (verb_calls_has_begun(fd))
		r = verb_calls_print(lines, path);
	close(fd);
	status = calls_live_end(pid);
	return status != CLI_OK ? status : r;
}

static int verb_calls_live(int argc, char **argv)
{
	_cleanup_(verb_calls_view_deinit) struct verb_calls_view view = { 0 };
	_cleanup_(record_options_deinit) struct record_options o = { 0 };
	const struct verb_option own[] = {
		RECORD_OPTION_ROWS(&o),
		OPTION_FLAG("direct", &o.direct),
		VERB_CALLS_ROWS(&view),
		{ 0 },
	};
	int r;

	o.session.categories = CATEGORY_CALLS;
	r = record_options_parse(argc, argv, OPTION_OF_RECORD, own, &o);
	if (r != RECORD_OPTIONS_GO)
		return r;
	r = verb_calls_check(&o) ?: verb_calls_view_begin(&view);
	if (view.wants_stacks)
		o.session.categories |= CATEGORY_CALL_STACKS;
	return r == CLI_OK ? verb_calls_record(&o, &view.lines) : r;
}

/* ---- specifications ---- */

static bool verb_calls_is_list(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--list") == 0)
			return true;
	return false;
}

static void verb_calls_list_function(const char *spec, void *userdata)
{
	(void)userdata;
	printf("%s\n", spec);
}

/* Prints what is recorded for TEXT: each function or place on one line. */
static int verb_calls_list_one(const char *text)
{
	const struct capture_filter none = { 0 };
	struct call_resolved resolved = { 0 };
	char why[PLACES_WHY_MAX];
	int r = call_resolve(text, &none, &resolved, why);

	if (r < 0)
		return cli_failed("%s", *why ? why : strerror(-r));
	for (size_t i = 0; r == 0 && i < resolved.n; i++) {
		r = call_list_each(resolved.list[i].spec, &none, verb_calls_list_function, NULL,
				   why);
		if (r == 0 && *resolved.list[i].source)
			printf("        at %s\n", resolved.list[i].source);
	}
	if (resolved.left_out)
		cli_error("%s", resolved.left_out);
	if (resolved.refused)
		cli_error("%s", resolved.refused);
	if (resolved.clipped)
		cli_error("%s", resolved.clipped);
	if (resolved.untyped)
		cli_error("%s", resolved.untyped);
	call_resolved_deinit(&resolved);
	return r < 0 ? cli_failed("%s", why) : CLI_OK;
}

static int verb_calls_list(int argc, char **argv)
{
	bool list = false;
	const struct verb_option options[] = { OPTION_FLAG("list", &list), { 0 } };
	int r = verb_options_parse(argc, argv, options);

	if (r != VERB_OPTIONS_GO)
		return r;
	if (optind == argc)
		return cli_usage_error("--list needs one SPEC or more");
	for (r = CLI_OK; r == CLI_OK && optind < argc; optind++)
		r = verb_calls_list_one(argv[optind]);
	return r;
}

static int verb_calls_run(int argc, char **argv)
{
	if (verb_calls_is_list(argc, argv))
		return verb_calls_list(argc, argv);
	return verb_calls_is_live(argc, argv) ? verb_calls_live(argc, argv)
					      : verb_calls_of_file(argc, argv);
}

static void verb_calls_print_options(void)
{
	record_options_help(OPTION_OF_RECORD);
}

const struct verb verb_calls_row = {
	.name = "calls",
	.synopsis =
		"[OPTION ...] FILE | --call=SPEC ... [-- COMMAND [ARGUMENT ...]] | --list SPEC ...",
	.what = "Print calls of functions, from an archive or live",
	.examples =
		"  kymo calls t.fxt --min 10ms\n  kymo calls --call 'libc.so.6:open*' -p 4711\n",
	.options =
		"      --function=NAME        only calls of functions of this name, with * and ?\n"
		"      --min=TIME             only calls that took at least this long\n"
		"      --failed               only calls that returned an error\n"
		"  -p, --pid=PID,...          only calls of these processes\n"
		"      --process=NAME         only calls of processes of this name, with * and ?\n"
		"      --thread=TID,...       only calls of these threads\n"
		"      --stack-trace          print the call stack of each\n"
		"      --summary              print only sums, by process and function\n"
		"      --json                 print one JSON object per line\n"
		"      --list                 print the functions and places of each SPEC\n"
		"Recording, without FILE:\n"
		"      --direct               record in this process, without the service\n"
		"      --socket[=PATH]        as root, the private socket of the service, without the\n"
		"                             bus\n"
		"      --bus=ADDRESS          the bus of the service (the system bus)\n"
		"  -h, --help                 show this\n",
	.more_options = verb_calls_print_options,
	.notes =
		"\nFILE is an archive; '-' is standard input. Calls are printed in the order of their ends.\n"
		"Exits with 3 if FILE is damaged, or no function or process has the name; with COMMAND, as\n"
		"'kymo record' does.\n",
	.run = verb_calls_run,
};
