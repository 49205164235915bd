/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo symbolize: writes an archive whose call stacks have names on every machine.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/archive/edit-trace.h"
#include "cli/common/json.h"
#include "cli/common/open-trace.h"
#include "cli/common/read-events.h"
#include "cli/archive/symbolize-trace.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"

struct request {
	struct symbol_options symbols;
	struct edit_trace_options edit;
	bool no_packets;
};

static void verb_symbolize_report(const struct edit_symbolize_counts *counts,
				  const struct edit_trace *out, const struct resolver *resolver)
{
	fprintf(stderr,
		"%s: %s, %" PRIu64 " backtrace%s with %" PRIu64 " address%s: %" PRIu64 " got "
		"names, %" PRIu64 " already had names, %" PRIu64 " have none\n",
		out->to.file.path, TEXT_SIZE(out->to.bytes), counts->backtraces,
		text_s(counts->backtraces), counts->addresses, counts->addresses == 1 ? "" : "es",
		counts->named, counts->known, counts->unnamed);
	edit_trace_report_unknown(out->to.file.path, &counts->copied);
	if (counts->not_inspected)
		cli_error("at most %d addresses are looked up: %" PRIu64 " frames in backtraces "
			  "have no names for this reason",
			  EDIT_SYMBOLIZE_PLACES_MAX, counts->not_inspected);
	resolver_print_missing(resolver);
}

static void verb_symbolize_report_json(const struct edit_symbolize_counts *counts,
				       const struct edit_trace *out,
				       const struct resolver *resolver)
{
	json_print_pretty(JSON_ADD(
		edit_trace_json(out), EDIT_TRACE_COPIED(&counts->copied),
		JSON_OF(counts, backtraces, addresses, named), JSON("known_before", counts->known),
		JSON_OF(counts, unnamed, frames), JSON("not_looked_for", counts->not_inspected),
		JSON_IF(counts->unmapped, "mappings_without_room", counts->unmapped),
		JSON("modules", resolver_json_modules(resolver)),
		JSON("problems", resolver_json_problems(resolver))));
}

static int verb_symbolize_run(const struct request *q, const char *from, const char *to)
{
	_cleanup_(open_trace_close) struct open_trace in = OPEN_TRACE_NULL;
	_cleanup_(edit_trace_close) struct edit_trace out = EDIT_TRACE_NULL;
	_cleanup_(symbolize_trace_deinit) struct symbolize_trace s = { 0 };
	int r = open_trace(&in, from) ?: symbolize_trace_open(&s, &q->symbols)
			?: edit_trace_open(&out, to, q->edit.force, &in, 1)
			?: symbolize_trace(&s, &in, &out, q->no_packets);

	if (r != CLI_OK)
		return r;
	if (q->edit.json && !out.to.file.standard)
		verb_symbolize_report_json(&s.counts, &out, &s.resolver);
	else
		verb_symbolize_report(&s.counts, &out, &s.resolver);
	return read_events_unmapped(&in, s.counts.unmapped, open_trace_finish(&in));
}

static int verb_symbolize(int argc, char **argv)
{
	struct request q = { 0 };
	const struct verb_option options[] = {
		EDIT_TRACE_ROWS(&q.edit),
		OPTION_FLAG("no-perfetto-blobs", &q.no_packets),
		SYMBOL_PLACE_ROWS(&q.symbols),
		{ 0 },
	};
	int r = verb_options_parse_with(argc, argv, options, 2, VERB_ARGS_EDIT);

	return r != VERB_OPTIONS_GO ? r : verb_symbolize_run(&q, argv[optind], argv[optind + 1]);
}

const struct verb verb_symbolize_row = {
	.name = "symbolize",
	.synopsis = "[OPTION ...] FILE OUT",
	.what = "Make an archive with the names of the functions in its call stacks",
	.examples =
		"  kymo symbolize t.fxt named.fxt\n  kymo symbolize --debuginfod t.fxt named.fxt\n",
	.options = SYMBOL_PLACE_HELP
	"      --no-perfetto-blobs\n"
	"                         omit the second form of samples, for Perfetto\n"
	"      --force            replace an existing file\n"
	"      --json             print a report as JSON\n"
	"  -h, --help             show this\n"
	"\nFILE is an archive, OUT the result; '-' is standard input and output.\n"
	"Names come from the programs and libraries of this machine; names in the\n"
	"archive remain. Missing names are reported, but are no failure.\n",
	.run = verb_symbolize,
};
