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
#include "cli/tables/table-symbolize.h"

struct request {
	struct symbol_options symbols;
	struct edit_trace_options edit;
	bool no_packets, from_table;
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

/* ---- tables ---- */

static void verb_symbolize_report_tables(const struct table_symbolize *s)
{
	const struct symbol_problem *problem;
	size_t pos = 0;

	fprintf(stderr,
		"%" PRIu64 " of %" PRIu64 " table%s changed: of %" PRIu64 " frame%s, %" PRIu64
		" got names, %" PRIu64 " already had names, %" PRIu64
		" have no build id, and %" PRIu64 " were not found\n",
		s->n_changed, s->n_tables, text_s(s->n_tables), s->n_frames, text_s(s->n_frames),
		s->n_named, s->n_known, s->n_no_id, s->n_unnamed);
	while ((problem = symbols_next_problem(s->symbols, &pos)))
		cli_error("%s: %s", problem->file, problem->what);
}

static void verb_symbolize_report_tables_json(const struct table_symbolize *s)
{
	const struct symbol_problem *problem;
	struct json_object *problems = json_object_new_array();
	size_t pos = 0;

	while ((problem = symbols_next_problem(s->symbols, &pos)))
		json_append_item(problems, JSON_OBJECT(JSON_OF(problem, file),
						       JSON("problem", problem->what)));
	json_print_pretty(JSON_OBJECT(JSON("tables", s->n_tables), JSON("changed", s->n_changed),
				      JSON("frames", s->n_frames), JSON("named", s->n_named),
				      JSON("known_before", s->n_known),
				      JSON("without_build_id", s->n_no_id),
				      JSON("unnamed", s->n_unnamed), JSON("problems", problems)));
}

static int verb_symbolize_tables(const struct request *q, char **paths)
{
	_cleanup_(symbols_freep) struct symbols *symbols = NULL;
	struct table_symbolize s = { .has_sysroot = q->symbols.sysroot != NULL };
	int status = symbol_options_open(&q->symbols, &symbols), r;

	if (status != CLI_OK)
		return status;
	if (q->no_packets || q->edit.force)
		return cli_usage_error("--from-table changes the tables themselves, so that %s has "
				       "no effect",
				       q->edit.force ? "--force" : "--no-perfetto-blobs");
	if (!*paths)
		return cli_usage_error("expected tables of frames, or directories with them");
	s.symbols = symbols;
	for (; *paths; paths++) {
		r = table_symbolize(&s, *paths);
		status = status ?: r;
	}
	if (status == CLI_OK && s.n_tables == 0)
		return cli_failed("there is no frames.parquet in these directories");
	if (q->edit.json)
		verb_symbolize_report_tables_json(&s);
	else
		verb_symbolize_report_tables(&s);
	return status;
}

static int verb_symbolize(int argc, char **argv)
{
	struct request q = { 0 };
	const struct verb_option options[] = {
		EDIT_TRACE_ROWS(&q.edit),
		OPTION_FLAG("from-table", &q.from_table),
		OPTION_FLAG("no-perfetto-blobs", &q.no_packets),
		SYMBOL_PLACE_ROWS(&q.symbols),
		{ 0 },
	};
	int r = verb_options_parse(argc, argv, options);

	if (r != VERB_OPTIONS_GO)
		return r;
	if (q.from_table)
		return verb_symbolize_tables(&q, argv + optind);
	if (argc - optind != 2)
		return cli_usage_error(VERB_ARGS_EDIT);
	return verb_symbolize_run(&q, argv[optind], argv[optind + 1]);
}

const struct verb verb_symbolize_row = {
	.name = "symbolize",
	.synopsis = "[OPTION ...] FILE OUT | --from-table TABLE ...",
	.what = "Make an archive with the names of the functions in its call stacks",
	.examples =
		"  kymo symbolize t.fxt named.fxt\n  kymo symbolize --debuginfod t.fxt named.fxt\n",
	.options = SYMBOL_PLACE_HELP
	"      --from-table       add names to tables (export --format parquet): each TABLE is a\n"
	"                         frames.parquet, or a directory with such files\n"
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
