/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo merge: combines several archives into one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/archive/edit-trace.h"
#include "cli/common/input-file.h"
#include "cli/common/json.h"
#include "cli/common/open-trace.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "edit/edit-merge.h"

/* The progress is checked once in this number of records. */
enum { PROGRESS_STEPS = 128 };

struct request {
	struct edit_trace_options edit;
	unsigned n;
	struct open_trace in[EDIT_INPUTS_MAX];
	struct progress progress; /* through all inputs */
	unsigned n_steps;
};

static void verb_merge_request_deinit(struct request *q)
{
	for (unsigned i = 0; i < q->n; i++)
		open_trace_close(&q->in[i]);
}

static struct input_file verb_merge_file(const struct open_trace *in)
{
	return (struct input_file){ .fd = in->fd };
}

/* (the size of a pipe is not known, so neither is the total) */
static void verb_merge_begin_progress(struct request *q)
{
	uint64_t total = 0, size;
	bool known = true;

	for (unsigned i = 0; i < q->n; i++) {
		const struct input_file file = verb_merge_file(&q->in[i]);

		q->in[i].shared = true;
		size = input_file_size(&file);
		known = known && size > 0;
		total += size;
	}
	progress_begin(&q->progress, total);
	q->progress.wanted = q->progress.wanted && known;
}

static void verb_merge_show_progress(struct request *q)
{
	uint64_t done = 0;

	if (++q->n_steps % PROGRESS_STEPS != 0 || !progress_is_due(&q->progress))
		return;
	for (unsigned i = 0; i < q->n; i++) {
		const struct input_file file = verb_merge_file(&q->in[i]);

		done += input_file_position(&file);
	}
	progress_show(&q->progress, done);
}

/*
 * Merges all inputs. Returns CLI_OK when all data is written, or CLI_FAILED after an error message.
 */
static int verb_merge_all(struct request *q, struct edit_trace *out, struct edit_merge *merge)
{
	const struct fxt_record *record;
	int input, r, status = CLI_OK;
	uint64_t n_damages;

	while (status == CLI_OK) {
		r = edit_merge_step(merge, &input);
		if (r < 0)
			return edit_trace_failed(out, r);
		status = edit_trace_flush(out, r == 0 && input < 0);
		if (r > 0 || status != CLI_OK)
			continue;
		if (input < 0) {
			progress_clear();
			return CLI_OK;
		}
		verb_merge_show_progress(q);
		n_damages = q->in[input].n_damages;
		r = open_trace_next(&q->in[input], &record);
		if (r < 0)
			return CLI_FAILED;
		if (q->in[input].n_damages > n_damages)
			edit_merge_damage(merge, (unsigned)input);
		if (r == 0)
			edit_merge_end(merge, (unsigned)input);
		else
			r = edit_merge_put(merge, (unsigned)input, record);
		if (r < 0)
			return edit_trace_failed(out, r);
	}
	return status;
}

static struct json_object *verb_merge_json_of(const struct open_trace *in,
					      const struct edit_merge_view *view)
{
	return JSON_OBJECT(JSON("input", in->name), JSON_OF(view, machine, has_clock, shift_ns),
			   JSON("first_cpu", view->shift_cpu), EDIT_TRACE_COPIED(&view->copied),
			   JSON_OF(view, doubled, repeated, unknown, koids_moved, koids_shared,
				   koids_cut, points_moved),
			   JSON_IF(view->halves, "halves", view->halves),
			   JSON_IF(view->clock_far, "clock_far", view->clock_far),
			   JSON_IF(view->too_large, "too_large", view->too_large));
}

static void verb_merge_print_json(const struct request *q, const struct edit_trace *out,
				  const struct edit_merge *merge)
{
	struct json_object *o = edit_trace_json(out), *list = json_object_new_array();
	struct edit_merge_view view;

	for (unsigned i = 0; i < q->n; i++) {
		edit_merge_get_view(merge, i, &view);
		json_append_item(list, verb_merge_json_of(&q->in[i], &view));
	}
	json_print_pretty(JSON_ADD(o, JSON("inputs", list)));
}

/* Reports that WHAT was done with N NOUNs (NOUN is in the singular). */
static void verb_merge_report_count(uint64_t n, const char *noun, const char *what)
{
	if (n > 0)
		fprintf(stderr, "; %" PRIu64 " %s%s %s", n, noun, text_s(n), what);
}

static void verb_merge_print_input(const struct open_trace *in, const struct edit_merge_view *view)
{
	uint64_t shifted = (uint64_t)view->shift_ns,
		 apart = view->shift_ns < 0 ? 0 - shifted : shifted;

	fprintf(stderr, "%s: %" PRIu64 " record%s", in->name, view->copied.records,
		text_s(view->copied.records));
	if (view->machine > 0)
		fprintf(stderr,
			", from another machine or boot: times moved by %s%s, CPUs numbered from %" PRIu32,
			view->shift_ns < 0 ? "-" : "", TEXT_TIME(apart), view->shift_cpu);
	else if (!view->has_clock)
		fprintf(stderr, ", %s: assumed to have the clock and machine of the first archive",
			view->clock_far ? "clock snapshot missing, or too far behind its start"
					: "no clock snapshot");
	if (view->too_large)
		fprintf(stderr, "; not joined with the part before it, because the end of that "
				"part, or the state of this one, is too large");
	verb_merge_report_count(view->doubled, "record",
				"omitted, because another archive covers the same CPUs at the same "
				"time");
	verb_merge_report_count(view->repeated, "record",
				"omitted, because another archive is a part of the same recording");
	verb_merge_report_count(view->halves, "event",
				"cut off at its end: the next part lacks the rest, or there are "
				"too many");
	verb_merge_report_count(view->koids_moved, "id",
				"replaced, because an earlier archive has another owner");
	verb_merge_report_count(view->koids_shared, "id",
				"not replaced, although an earlier archive has another owner: all "
				"owners of such an id are shown as one");
	verb_merge_report_count(view->points_moved, "point number",
				"replaced, because an earlier archive has another point with it");
	verb_merge_report_count(view->koids_cut, "id", "too large to be moved completely");
	fputc('\n', stderr);
}

static void verb_merge_print_text(const struct request *q, const struct edit_trace *out,
				  const struct edit_merge *merge)
{
	struct edit_merge_view view;

	for (unsigned i = 0; i < q->n; i++) {
		edit_merge_get_view(merge, i, &view);
		verb_merge_print_input(&q->in[i], &view);
		edit_trace_report_unknown(q->in[i].name, &view.copied);
	}
	fprintf(stderr, "%s: %s\n", out->to.file.path, TEXT_SIZE(out->to.bytes));
}

static int verb_merge_run(struct request *q, char **paths, const char *to)
{
	_cleanup_(edit_trace_close) struct edit_trace out = EDIT_TRACE_NULL;
	_cleanup_(edit_merge_freep) struct edit_merge *merge = NULL;
	int r = CLI_OK, damage = CLI_OK;
	unsigned n = q->n;

	for (q->n = 0; r == CLI_OK && q->n < n; q->n++)
		r = open_trace(&q->in[q->n], paths[q->n]);
	if (r != CLI_OK)
		return r;
	verb_merge_begin_progress(q);
	r = edit_trace_open(&out, to, q->edit.force, q->in, q->n);
	if (r != CLI_OK)
		return r;
	r = edit_merge_new(&merge, &out.output, q->n, NULL);
	r = r < 0 ? edit_trace_failed(&out, r) : verb_merge_all(q, &out, merge);
	r = r ?: edit_trace_finish(&out);
	if (r != CLI_OK)
		return r;
	if (q->edit.json && !out.to.file.standard)
		verb_merge_print_json(q, &out, merge);
	else
		verb_merge_print_text(q, &out, merge);
	for (unsigned i = 0; i < q->n; i++)
		if (open_trace_finish(&q->in[i]) != CLI_OK)
			damage = CLI_DAMAGE;
	return damage;
}

static int verb_merge(int argc, char **argv)
{
	_cleanup_(verb_merge_request_deinit) struct request q = { 0 };
	const struct verb_option options[] = { EDIT_TRACE_ROWS(&q.edit), { 0 } };
	int n, r = verb_options_parse(argc, argv, options);
	unsigned n_standard = 0;

	if (r != VERB_OPTIONS_GO)
		return r;
	n = argc - optind;
	if (n < 3)
		return cli_usage_error("expected two or more archives, and a file for the result");
	if (n - 1 > EDIT_INPUTS_MAX)
		return cli_usage_error("at most %d archives are possible", EDIT_INPUTS_MAX);
	q.n = (unsigned)n - 1;
	for (unsigned i = 0; i < q.n; i++)
		n_standard += strcmp(argv[optind + (int)i], "-") == 0;
	if (n_standard > 1)
		return cli_usage_error("standard input is one archive: '-' can be given only "
				       "once");
	return verb_merge_run(&q, argv + optind, argv[argc - 1]);
}

const struct verb verb_merge_row = {
	.name = "merge",
	.synopsis = "[OPTION ...] FILE FILE ... OUT",
	.what = "Make one archive of several, on one time line",
	.examples = "  kymo merge a.fxt b.fxt both.fxt\n  kymo merge --force *.fxt all.fxt.zst\n",
	.options = EDIT_TRACE_HELP
	"\nEach FILE is an archive, OUT the result; '-' is standard input and\n"
	"output. Archives of one machine share its processes and CPUs. Other\n"
	"archives have separate ones, and are aligned by their clock snapshots.\n",
	.run = verb_merge,
};
