/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine, the recording, and what is missing in it.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/value.h"
#include "cli/common/markup.h"
#include "cli/common/python-text.h"
#include "cli/common/stacks-text.h"
#include "cli/report/report.h"
#include "cli/report/report-table.h"

enum { MARKS_SHOWN = 50 };

/* ---- the machine ---- */

static void report_machine_add_fact(struct outbuf *out, const char *what, const char *text)
{
	if (!text || !*text)
		return;
	outbuf_print(out, "<dt>%s</dt><dd>", what);
	report_text(out, text, REPORT_TEXT_MAX);
	outbuf_print(out, "</dd>\n");
}

static void report_machine_add_code(struct outbuf *out, const char *what, const char *text)
{
	if (!text || !*text)
		return;
	outbuf_print(out, "<dt>%s</dt><dd><code>", what);
	report_text(out, text, REPORT_TEXT_MAX);
	outbuf_print(out, "</code></dd>\n");
}

static void report_machine_add_counts(const struct summary *s, struct outbuf *out)
{
	outbuf_print(out,
		     "<dt>Events</dt><dd>%" PRIu64 " switches, %" PRIu64 " wakeups, %" PRIu64
		     " forks, %" PRIu64 " execs, %" PRIu64 " exits</dd>\n",
		     s->switches, s->wakeups, s->forks, s->execs, s->exits);
	if (s->bpf_cpu_ns)
		outbuf_print(out,
			     "<dt>Cost</dt><dd>%s of CPU time in the kernel, %s in the recorder: "
			     "%.2f\u00a0%% of a CPU</dd>\n",
			     TEXT_TIME(s->bpf_cpu_ns), TEXT_TIME(s->daemon_cpu_ns),
			     report_percent(s->bpf_cpu_ns + s->daemon_cpu_ns, s->duration_ns));
}

/* Adds the marks: texts that users put into the recording. */
static void report_machine_add_marks(const struct summary *s, struct outbuf *out)
{
	size_t n = s->n_marks < MARKS_SHOWN ? s->n_marks : MARKS_SHOWN;

	if (s->n_marks == 0)
		return;
	report_table_begin(out, "Marks of the users",
			   (const char *const[]){ ">Time", "Mark", NULL });
	for (size_t i = 0; i < n; i++) {
		report_row_begin(out);
		report_cell(out, "%+.6f s",
			    (double)(int64_t)(s->marks[i].ts_ns - s->start_ns) / 1e9);
		report_cell_text(out, s->marks[i].text);
		report_row_end(out);
	}
	report_row_rest(out, s->n_marks - n, 2, "marks");
	report_table_end(out);
}

int report_machine(const struct report *r, struct outbuf *out)
{
	const struct summary *s = r->summary;

	outbuf_print(out, "<dl>\n");
	report_machine_add_fact(out, "Archive", r->name);
	if (s->started) {
		report_machine_add_fact(out, "Host", s->recording.host);
		report_machine_add_fact(out, "Kernel", s->recording.kernel);
		report_machine_add_fact(out, "Machine", s->recording.machine);
		if (s->recording.n_cpus)
			outbuf_print(out, "<dt>CPUs</dt><dd>%" PRIu32 "</dd>\n",
				     s->recording.n_cpus);
	}
	outbuf_print(out, "<dt>Duration</dt><dd>%s</dd>\n", TEXT_TIME(s->duration_ns));
	if (s->started) {
		report_machine_add_code(out, "Command", s->recording.command);
		report_machine_add_code(out, "Options", s->recording.options);
		report_machine_add_fact(out, "Version of kymo", s->recording.version);
	}
	report_machine_add_counts(s, out);
	outbuf_print(out, "</dl>\n");
	if (s->filtered)
		report_note(out, "Only selected threads were recorded. The time of the others is "
				 "known only as a sum.");
	report_machine_add_marks(s, out);
	return out->error;
}

/* ---- what is missing ---- */

/* Adds an item; the arguments are escaped. */
static void __attribute__((format(printf, 2, 3)))
report_machine_add_loss(struct outbuf *out, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	outbuf_print(out, "<li>");
	markup_add_text(out, text);
	outbuf_print(out, "</li>\n");
}

static void report_machine_add_sheds(const struct summary *s, struct outbuf *out)
{
	for (size_t i = 0; i < s->n_sheds; i++) {
		const struct summary_shed *x = &s->sheds[i];

		report_machine_add_loss(
			out,
			"From %+.3f s on, %.200s%s not recorded, since the recording took %.2f%% of "
			"%s; the limit is %.2f%% (--max-overhead).",
			(double)(int64_t)(x->ts_ns - s->start_ns) / 1e9,
			strcmp(x->what, "session") == 0 ? "everything" : x->what,
			strcmp(x->what, "session") == 0 ? " was" : " were",
			value_share(x->cost_ppm, x->n_cpus), value_share_of(x->n_cpus),
			value_share(x->limit_ppm, x->n_cpus));
	}
}

static bool report_machine_is_cut_off(const struct summary *s)
{
	return (s->started && !s->stopped) || s->cut_off;
}

bool report_has_losses(const struct report *r)
{
	const struct summary *s = r->summary;

	return summary_lost(s) || r->n_damages || s->n_damages || report_machine_is_cut_off(s) ||
	       s->n_sheds || s->dropped_bytes || s->recorded_ns < s->duration_ns ||
	       profile_n_unmapped(r->profile) || r->profile->n_cut;
}

static void report_machine_add_names(const struct report *r, struct outbuf *out)
{
	uint64_t n = r->resolver.n_asked - r->resolver.n_named;

	if (n > 0)
		report_machine_add_loss(
			out,
			"%" PRIu64 " of %" PRIu64 " addresses without a name in the "
			"archive have no name here, either; \u201ckymo symbolize\u201d on the "
			"machine of the recording adds names.",
			n, r->resolver.n_asked);
	if (profile_n_unmapped(r->profile))
		report_machine_add_loss(out,
					"%" PRIu64
					" mappings of files were ignored, since there are "
					"too many: some names are missing or wrong.",
					profile_n_unmapped(r->profile));
	if (r->profile->n_cut)
		report_machine_add_loss(out,
					"%" PRIu64 " stacks are truncated: there are too many "
					"different stacks.",
					r->profile->n_cut);
}

static void report_machine_add_lost(const struct report *r, struct outbuf *out)
{
	const struct summary *s = r->summary;

	for (size_t i = 0; i < s->n_lost; i++)
		if (s->lost[i].count)
			report_machine_add_loss(
				out,
				"%" PRIu64 " event%s of class \u201c%.200s\u201d %s lost in the "
				"recording; a larger buffer (-b) loses less.",
				s->lost[i].count, text_s(s->lost[i].count), s->lost[i].class_name,
				text_was(s->lost[i].count));
	if (r->n_damages)
		report_machine_add_loss(out, "The archive is damaged in %" PRIu64 " place%s.",
					r->n_damages, text_s(r->n_damages));
	if (s->n_damages)
		report_machine_add_loss(out,
					"The archive was damaged in %" PRIu64
					" place%s before it was repaired.",
					s->n_damages, text_s(s->n_damages));
	if (report_machine_is_cut_off(s))
		report_machine_add_loss(out, "The recording was cut off: it ends with the last "
					     "event that was saved.");
	if (s->dropped_bytes)
		report_machine_add_loss(out,
					"The flight recorder had no room for %s, and discarded all "
					"data before that (--keep-size).",
					TEXT_SIZE(s->dropped_bytes));
}

static void report_machine_add_python(const struct summary *s, struct outbuf *out)
{
	char text[PYTHON_TEXT_MAX];

	if (*python_text_format(text, s->python))
		report_machine_add_loss(out, "Functions of Python: %s.", text);
	for (unsigned i = 0; i < s->n_unknown_pythons; i++)
		report_machine_add_loss(out, "In this recording, %s.",
					python_text_unknown(text, s->unknown_pythons[i]));
}

int report_losses(const struct report *r, struct outbuf *out)
{
	_cleanup_(outbuf_deinit) struct outbuf items = { 0 };
	const struct summary *s = r->summary;
	char stacks[STACKS_TEXT_MAX];

	report_machine_add_lost(r, &items);
	report_machine_add_sheds(s, &items);
	if (s->recorded_ns < s->duration_ns)
		report_machine_add_loss(
			&items,
			"%s were recorded, %.1f%% of the time: all times and shares "
			"are of that part.",
			TEXT_TIME(s->recorded_ns), report_percent(s->recorded_ns, s->duration_ns));
	if (s->unreported)
		report_machine_add_loss(&items,
					"%" PRIu64 " switches were not reported by the kernel.",
					s->unreported);
	report_machine_add_names(r, &items);
	if (stacks_walked(s->walks))
		report_machine_add_loss(&items, "Stacks of programs: %s.",
					stacks_text_format(stacks, s->walks));
	report_machine_add_python(s, &items);
	if (!report_has_losses(r))
		outbuf_print(out, "<p>No event was lost, and the archive is complete.</p>\n");
	if (items.size > 0) {
		outbuf_print(out, "<ul class=\"plain\">\n");
		outbuf_append(out, items.data, items.size);
		outbuf_print(out, "</ul>\n");
	}
	return items.error ?: out->error;
}
