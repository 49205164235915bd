/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo cut: writes a part of an archive to another archive.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "cli/archive/edit-trace.h"
#include "cli/common/json.h"
#include "cli/common/open-trace.h"
#include "cli/common/part-options.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "cli/tfile/tfile-cut.h"
#include "edit/edit-cut.h"
#include "edit/edit-find.h"

struct request {
	struct part_options part;
	struct tfile_cut_options only;
	struct edit_trace_options edit;
};

/* A cut, and whether each of the selected processes is in the archive. */
struct cutting {
	struct edit_cut *cut;
	const struct part_ids *pids;
	bool *seen; /* owned */
};

static void verb_cut_deinit(struct cutting *c)
{
	edit_cut_free(c->cut);
	free(c->seen);
}

static void verb_cut_see_process(struct cutting *c, uint64_t koid)
{
	for (size_t i = 0; i < c->pids->n; i++)
		c->seen[i] |= c->pids->list[i] == koid;
}

static int verb_cut_on_record(void *userdata, const struct fxt_record *record)
{
	struct cutting *c = userdata;

	if (record->type == FXT_RECORD_KERNEL_OBJECT &&
	    record->kernel_object.type == FXT_OBJECT_PROCESS) {
		verb_cut_see_process(c, record->kernel_object.koid);
		/*
		 * (a selected process also counts as found if only its children are in the archive)
		 */
		verb_cut_see_process(c, edit_find_koid(record, FXT_NAME_PARENT));
	} else if (record->type == FXT_RECORD_KERNEL_OBJECT &&
		   record->kernel_object.type == FXT_OBJECT_THREAD)
		verb_cut_see_process(c, edit_find_koid(record, FXT_NAME_PROCESS));
	else if (record->type == FXT_RECORD_EVENT && record->thread.defined)
		verb_cut_see_process(c, record->thread.pid);
	return edit_cut_record(c->cut, record);
}

/*
 * Names the selected processes that are not in the archive IN. Returns CLI_FAILED if IN has none of
 * the selected processes, otherwise CLI_OK.
 */
static int verb_cut_check_processes(const struct cutting *c, const struct open_trace *in)
{
	size_t n_seen = 0;

	for (size_t i = 0; i < c->pids->n; i++) {
		n_seen += c->seen[i];
		if (!c->seen[i])
			cli_error("%s: --pid: it contains no process %" PRIu32, in->name,
				  c->pids->list[i]);
	}
	return c->pids->n > 0 && n_seen == 0 ? CLI_FAILED : CLI_OK;
}

/* Cuts the whole archive. Returns CLI_OK at its end, or CLI_FAILED after an error message. */
static int verb_cut_all(struct open_trace *in, struct edit_trace *out, struct cutting *cutting)
{
	int r = edit_trace_process_all(out, in, verb_cut_on_record, cutting);

	if (r != CLI_OK)
		return r;
	r = edit_cut_finish(cutting->cut);
	return r < 0 ? edit_trace_failed(out, r) : CLI_OK;
}

static void verb_cut_explain_empty(const struct open_trace *in,
				   const struct edit_cut_counts *counts)
{
	const char *why = counts->paused ? "the recording paused" : "no session recorded";

	if (counts->last_ns == 0)
		cli_error("%s: no record has a time", in->name);
	else if (counts->quiet_ns && counts->resumed_ns)
		cli_error("%s: no records between these times: %s from @%" PRIu64 " to @%" PRIu64,
			  in->name, why, counts->quiet_ns, counts->resumed_ns);
	else if (counts->quiet_ns && counts->quiet_ns < counts->last_ns)
		cli_error("%s: no records between these times: %s from @%" PRIu64 " on", in->name,
			  why, counts->quiet_ns);
	else
		cli_error("%s: no records between these times; the archive lasts %s, from @%" PRIu64
			  " to @%" PRIu64,
			  in->name, TEXT_TIME(counts->last_ns - counts->first_ns), counts->first_ns,
			  counts->last_ns);
	if (in->n_damages > 0)
		cli_error("%s: the archive is damaged, and its times may be wrong; run 'kymo "
			  "repair' first",
			  in->name);
}

static void verb_cut_report(const struct edit_cut_counts *counts, const struct edit_trace *out,
			    bool json)
{
	if (!json || out->to.file.standard) {
		fprintf(stderr, "%s: %s, %" PRIu64 " record%s; %" PRIu64 " %s omitted\n",
			out->to.file.path, TEXT_SIZE(out->to.bytes), counts->copied.records,
			text_s(counts->copied.records), counts->left_out,
			text_was(counts->left_out));
		edit_trace_report_unknown(out->to.file.path, &counts->copied);
		if (counts->no_room)
			fprintf(stderr,
				"%s: %" PRIu64 " record%s of the state at its start %s missing: "
				"the state is too large\n",
				out->to.file.path, counts->no_room, text_s(counts->no_room),
				text_is(counts->no_room));
		if (counts->no_room_across)
			fprintf(stderr,
				"%s: %" PRIu64 " event%s that began before its start %s missing: "
				"there are too many\n",
				out->to.file.path, counts->no_room_across,
				text_s(counts->no_room_across), text_is(counts->no_room_across));
		return;
	}
	json_print_pretty(JSON_ADD(
		edit_trace_json(out), JSON_OF(&counts->copied, records), JSON_OF(counts, left_out),
		JSON_IF(counts->no_room, "no_room", counts->no_room),
		JSON_IF(counts->no_room_across, "no_room_across", counts->no_room_across),
		EDIT_TRACE_UNKNOWN(&counts->copied)));
}

static int verb_cut_run(const struct request *q, const char *from, const char *to)
{
	_cleanup_(open_trace_close) struct open_trace in = OPEN_TRACE_NULL;
	_cleanup_(edit_trace_close) struct edit_trace out = EDIT_TRACE_NULL;
	_cleanup_(verb_cut_deinit) struct cutting cutting = { .pids = &q->part.pids };
	struct edit_cut_options options = {
		.from_ns = q->part.from_ns,
		.to_ns = q->part.to_ns,
		.absolute = part_options_absolute(&q->part),
		.pids = q->part.pids.list,
		.n_pids = q->part.pids.n,
		.cpus = q->part.cpus,
		.n_cpus = q->part.n_cpus,
	};
	struct edit_cut_counts counts;
	_cleanup_(tfile_copy_deinit) struct tfile_copy copy = { 0 };
	const struct open_trace_kinds kinds = {
		.frames = true,
		.frame_finding = tfile_copy_found,
		.frame_userdata = &copy,
	};
	int r = open_trace_of(&in, from, &kinds);

	if (r == CLI_OK && in.frames)
		return tfile_cut(&(struct tfile_cut){ &q->part, &q->only, &copy, q->edit.force,
						      q->edit.json },
				 &in, to);
	if (r == CLI_OK && tfile_cut_is_requested(&q->only))
		return cli_failed("%s is not a GDB trace file; --frames, --tid and --tracepoint "
				  "need one",
				  in.name);
	r = r ?: edit_trace_open(&out, to, q->edit.force, &in, 1);
	if (r != CLI_OK)
		return r;
	cutting.seen = calloc(q->part.pids.n + 1, sizeof(*cutting.seen));
	r = cutting.seen ? edit_cut_new(&cutting.cut, &out.output, &options) : -ENOMEM;
	r = r < 0 ? edit_trace_failed(&out, r) : verb_cut_all(&in, &out, &cutting);
	r = r ?: verb_cut_check_processes(&cutting, &in);
	if (r == CLI_OK) {
		edit_cut_get_counts(cutting.cut, &counts);
		if (!counts.any) {
			verb_cut_explain_empty(&in, &counts);
			r = CLI_FAILED;
		}
	}
	r = r ?: edit_trace_finish(&out);
	if (r != CLI_OK)
		return r;
	verb_cut_report(&counts, &out, q->edit.json);
	return open_trace_finish(&in);
}

static int verb_cut(int argc, char **argv)
{
	struct request q = { .part = PART_OPTIONS_ALL };
	const struct verb_option options[] = {
		PART_OPTION_ROWS(&q.part, 0),
		TFILE_CUT_ROWS(&q.only),
		EDIT_TRACE_ROWS(&q.edit),
		{ 0 },
	};
	int r = verb_options_parse_with(argc, argv, options, 2, VERB_ARGS_EDIT);

	if (r != VERB_OPTIONS_GO)
		return r;
	r = part_options_check(&q.part);
	if (r != CLI_OK)
		return r;
	if (!q.part.has_from && !q.part.has_to && !q.part.pids.n && !q.part.n_cpus &&
	    !tfile_cut_is_requested(&q.only))
		return cli_usage_error("nothing is selected: use --from, --to, --pid or --cpu");
	return verb_cut_run(&q, argv[optind], argv[optind + 1]);
}

const struct verb verb_cut_row = {
	.name = "cut",
	.synopsis = "[OPTION ...] FILE OUT",
	.what = "Make a self-contained archive of a part of another one",
	.examples =
		"  kymo cut --from 1s --to 2s t.fxt part.fxt\n  kymo cut --pid 4711 t.fxt one.fxt\n",
	.options =
		"      --from=TIME    start TIME after the start (1.5, 200ms), or at @NANOSECONDS\n"
		"      --to=TIME      end there\n"
		"      --pid=PID,...  only these processes, with their children\n"
		"      --cpu=CPU,...  only these CPUs (0,2-3)\n" EDIT_TRACE_HELP TFILE_CUT_HELP
		"\nFILE is an archive, or a GDB trace file, OUT the result; '-' is\n"
		"standard input and output.\n"
		"The result contains the names, running threads and open events at its start.\n",
	.run = verb_cut,
};
