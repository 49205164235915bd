/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo report: writes one page that shows a recording to people who do not have kymo.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/common/packed-output.h"
#include "cli/common/read-events.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "cli/report/report.h"

struct request {
	const char *input, *output, *title;
	struct symbol_options symbols;
	bool force;
};

static int verb_report_on_event(void *report, const struct event *ev)
{
	return report_add(report, ev);
}

static int verb_report_write(const struct request *q, const struct report *r,
			     const struct open_trace *t)
{
	_cleanup_(outbuf_deinit) struct outbuf page = { 0 };
	const struct packed_output_args args = {
		.path = q->output,
		.force = q->force,
		.whole = packed_output_any_bytes,
		.inputs = &t->fd,
		.n_inputs = 1,
	};

	if (report_page(r, &page) < 0)
		return cli_failed("out of memory");
	if (packed_output_put(&args, page.data, page.size) < 0)
		return CLI_FAILED;
	if (strcmp(q->output, "-") != 0)
		cli_error("%s: a page of %s", q->output, TEXT_SIZE(page.size));
	return CLI_OK;
}

static void verb_report_make_title(char *to, size_t room, const struct request *q,
				   const struct report *r)
{
	const char *host = r->summary->started ? r->summary->recording.host : "";

	snprintf(to, room, "%.300s%s%.200s", profile_names_base(q->input), *host ? " \u2013 " : "",
		 host);
}

static int verb_report_run(const struct request *q)
{
	_cleanup_(symbols_freep) struct symbols *symbols = NULL;
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	_cleanup_(report_deinit) struct report report = { 0 };
	char title[600];
	int r = open_trace(&t, q->input) ?: symbol_options_open(&q->symbols, &symbols);

	resolver_init(&report.resolver, symbols, &q->symbols);
	if (r == CLI_OK && report_init(&report) < 0)
		r = cli_failed("out of memory");
	r = r ?: read_events(&t, verb_report_on_event, &report);
	if (r == CLI_OK && report_finish(&report) < 0)
		r = cli_failed("out of memory");
	if (r != CLI_OK)
		return r;
	verb_report_make_title(title, sizeof(title), q, &report);
	report.name = profile_names_base(t.name);
	report.title = q->title ?: title;
	report.parts = &t.parts;
	report.n_damages = t.n_damages;
	r = verb_report_write(q, &report, &t);
	if (r != CLI_OK)
		return r;
	/* (limits of a view are in the page) */
	r = read_events_finish(&t, report.summary);
	return read_events_unmapped(&t, profile_n_unmapped(report.profile), r);
}

static int verb_report(int argc, char **argv)
{
	_cleanup_free_ char *output = NULL;
	struct request q = { 0 };
	const struct verb_option options[] = {
		OPTION_FLAG("force", &q.force),    OPTION_TEXT("output", 'o', &q.output),
		OPTION_TEXT("title", 0, &q.title), SYMBOL_NONE_ROW(&q.symbols),
		SYMBOL_PLACE_ROWS(&q.symbols),     { 0 },
	};
	int r = verb_options_parse_with(argc, argv, options, 1, VERB_ARGS_FILE);

	if (r != VERB_OPTIONS_GO)
		return r;
	q.input = argv[optind];
	if (q.output ? !*q.output : strcmp(q.input, "-") == 0)
		return cli_usage_error("no output: use -o OUT");
	if (!q.output) {
		if (asprintf(&output, "%s.html", q.input) < 0) {
			output = NULL;
			return cli_failed("out of memory");
		}
		q.output = output;
	}
	return verb_report_run(&q);
}

const struct verb verb_report_row = {
	.name = "report",
	.synopsis = "[OPTION ...] FILE",
	.what = "Write one HTML page that shows a recording to others",
	.examples = "  kymo report t.fxt\n  kymo report -o slow.html --title 'Slow start' t.fxt\n",
	.options =
		"  -o, --output=OUT       the page to write; '-' is standard output (FILE.html)\n"
		"      --title=TEXT       the title\n" SYMBOL_NONE_HELP SYMBOL_PLACE_HELP
		"      --force            replace an existing file\n"
		"  -h, --help             show this\n"
		"\nFILE is an archive; '-' is standard input. The page needs no other file and no network.\n"
		"It contains names of processes, functions and files: see kymo redact.\n"
		"Exits with 3 if the archive is damaged or events were lost in the recording.\n",
	.run = verb_report,
};
