/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo repair: recovers a damaged archive.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/archive/edit-trace.h"
#include "cli/common/json.h"
#include "cli/common/open-trace.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "edit/edit-repair.h"

/*
 * Repairs the whole archive. Returns CLI_OK at the end of the archive, or CLI_FAILED after an error
 * message.
 */
static int verb_repair_all(struct open_trace *in, struct edit_trace *out,
			   struct edit_repair *repair)
{
	const struct fxt_record *record;
	struct fxt_damage damage;
	int outcome, r = 0, status = CLI_OK;

	while (status == CLI_OK && (outcome = open_trace_step(in, &record, &damage)) > 0) {
		r = outcome == FXT_READER_RECORD ? edit_repair_record(repair, record)
						 : edit_repair_damage(repair, &damage);
		if (r < 0)
			return edit_trace_failed(out, r);
		status = edit_trace_flush(out, false);
	}
	if (status != CLI_OK)
		return status;
	if (outcome < 0)
		return open_trace_failed(in, outcome);
	r = edit_repair_finish(repair);
	return r < 0 ? edit_trace_failed(out, r) : edit_trace_flush(out, true);
}

/* The results of the repair, in the order of the report. */
static const struct {
	const char *key, *text;
	size_t offset;
} rows[] = {
#define ROW(key, field, text)                                                                      \
	{                                                                                          \
		key, text, offsetof(struct edit_repair_counts, field)                              \
	}
	ROW("damages", damages, "places with damage"),
	ROW("damaged_bytes", damaged_bytes, "bytes that could not be read"),
	ROW("strings_lost", copied.strings, "references to lost strings"),
	ROW("threads_lost", copied.threads, "references to lost threads"),
	ROW("texts_mended", copied.texts, "texts that were not UTF-8 or too long"),
	ROW("arguments_dropped", copied.arguments, "unreadable arguments, omitted"),
	ROW("records_refused", copied.refused, "records of unknown type, omitted"),
	ROW("records_shortened", copied.longer, "records whose additional words were omitted"),
	ROW("doubled", doubled, "duplicate records, omitted"),
	ROW("misplaced", misplaced, "records with an impossible time, omitted"),
	ROW("scheduling_dropped", scheduling_dropped,
	    "scheduling records that contradict others, omitted"),
	ROW("ends_dropped", ends_dropped, "ends of events without a start, omitted"),
	ROW("incomplete", incomplete, "incomplete snapshots of live blocks, or incomplete stacks"),
	ROW("names_lost", names_lost, "threads and processes whose names were lost"),
	ROW("modules_lost", modules_lost, "files of mappings whose names were lost"),
	ROW("odd_ticks", odd_ticks,
	    "ticks per second, which no clock has: the times are probably wrong"),
	ROW("switches_added", switches_added, "switches added in place of missing ones"),
	ROW("ends_added", ends_added, "ends added to open events"),
#undef ROW
};

static uint64_t verb_repair_count_of(const struct edit_repair_counts *counts, size_t row)
{
	return *(const uint64_t *)((const char *)counts + rows[row].offset);
}

static void verb_repair_print_json(const struct edit_repair_counts *counts,
				   const struct edit_trace *out)
{
	struct json_object *o = JSON_ADD(edit_trace_json(out), JSON_OF(&counts->copied, records));

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		JSON_ADD(o, JSON(rows[i].key, verb_repair_count_of(counts, i)));
	json_print_pretty(JSON_ADD(o, JSON("end_added", json_boolean(counts->stops_added > 0))));
}

static void verb_repair_print_text(const struct edit_repair_counts *counts,
				   const struct edit_trace *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (verb_repair_count_of(counts, i))
			fprintf(stderr, "%10" PRIu64 "  %s\n", verb_repair_count_of(counts, i),
				rows[i].text);
	if (counts->stops_added > 0)
		fprintf(stderr, "the recording was cut off: it now ends with its last record\n");
	fprintf(stderr, "%s: %s, %" PRIu64 " record%s\n", out->to.file.path,
		TEXT_SIZE(out->to.bytes), counts->copied.records, text_s(counts->copied.records));
}

static int verb_repair_run(const struct edit_trace_options *o, const char *from, const char *to)
{
	_cleanup_(open_trace_close) struct open_trace in = OPEN_TRACE_NULL;
	_cleanup_(edit_trace_close) struct edit_trace out = EDIT_TRACE_NULL;
	_cleanup_(edit_repair_freep) struct edit_repair *repair = NULL;
	struct edit_repair_counts counts;
	int r = open_trace(&in, from) ?: edit_trace_open(&out, to, o->force, &in, 1);

	if (r != CLI_OK)
		return r;
	r = edit_repair_new(&repair, &out.output);
	if (r < 0)
		return edit_trace_failed(&out, r);
	r = verb_repair_all(&in, &out, repair) ?: edit_trace_finish(&out);
	if (r != CLI_OK)
		return r;
	edit_repair_get_counts(repair, &counts);
	if (o->json && !out.to.file.standard)
		verb_repair_print_json(&counts, &out);
	else
		verb_repair_print_text(&counts, &out);
	return CLI_OK;
}

static int verb_repair(int argc, char **argv)
{
	struct edit_trace_options o = { 0 };
	const struct verb_option options[] = { EDIT_TRACE_ROWS(&o), { 0 } };
	int r = verb_options_parse_with(argc, argv, options, 2,
					"expected the damaged archive and a file for the result");

	return r != VERB_OPTIONS_GO ? r : verb_repair_run(&o, argv[optind], argv[optind + 1]);
}

const struct verb verb_repair_row = {
	.name = "repair",
	.synopsis = "[OPTION ...] FILE OUT",
	.what = "Make a valid archive of the readable parts of a damaged one",
	.examples =
		"  kymo repair broken.fxt whole.fxt\n  kymo repair --json broken.fxt whole.fxt\n",
	.options = EDIT_TRACE_HELP
	"\nFILE is an archive, OUT the result; '-' is standard input and output.\n"
	"FILE is not changed.\n",
	.run = verb_repair,
};
