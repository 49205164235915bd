/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why threads were slow: the answer of `kymo why`.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/common/markup.h"
#include "cli/report/report.h"
#include "cli/report/report-stack.h"
#include "cli/report/report-table.h"
#include "cli/why/why-notes.h"
#include "cli/why/why-view.h"

enum { THREADS_SHOWN = 15, STEPS_SHOWN = 16, OPEN_SHOWN = 10 };

static void report_waits_add_name(const struct report *r, struct outbuf *out, uint32_t tid)
{
	char name[WHY_NAME_MAX];

	markup_add_text(out, why_thread_name(r->summary, tid, name));
}

static void report_waits_on_note(void *out, const char *text)
{
	report_note(out, text);
}

/* ---- the split ---- */

static void report_waits_add_state(struct outbuf *out, const char *what, uint64_t ns,
				   const struct why_times *all)
{
	if (ns == 0)
		return;
	report_row_begin(out);
	report_cell_name(out, what);
	report_cell(out, "%s", TEXT_TIME(ns));
	report_cell_share(out, ns, all->total_ns - all->absent_ns);
	report_row_end(out);
}

static void report_waits_add_split(const struct report *r, struct outbuf *out)
{
	const struct why_times *t = &r->why->total;
	char what[128];

	report_table_begin(out, "The time of all threads together",
			   (const char *const[]){ "State", ">Time", ">Share", NULL });
	report_waits_add_state(out, "running", t->running_ns, t);
	report_waits_add_state(out, "ready, waiting for a CPU", t->runnable_ns, t);
	report_waits_add_state(out, "of this: while another CPU was idle", t->idle_ns, t);
	for (enum wait_cause i = 0; i < WAIT_CAUSES; i++) {
		snprintf(what, sizeof(what), "waiting for %s",
			 i == WAIT_UNKNOWN ? "an unknown cause" : wait_cause_rows[i].title);
		report_waits_add_state(out, what, t->blocked_ns[i], t);
	}
	report_waits_add_state(out, "unknown, since the recording had paused", t->paused_ns, t);
	report_waits_add_state(out, "unknown", t->unknown_ns - t->paused_ns, t);
	report_table_end(out);
}

static void report_waits_add_threads(const struct report *r, struct outbuf *out)
{
	static const char *const columns[] = { "Thread", ">Running", ">Ready", ">Blocked",
					       ">Waits", ">Longest", NULL };
	const struct why *w = r->why;
	size_t n = w->n_threads < THREADS_SHOWN ? w->n_threads : THREADS_SHOWN;
	char name[WHY_NAME_MAX];

	report_table_begin(out, "The threads that lost most time", columns);
	for (size_t i = 0; i < n; i++) {
		const struct why_thread *t = &w->threads[i];

		report_row_begin(out);
		report_cell_name(out, why_thread_name(r->summary, t->tid, name));
		report_cell(out, "%s", TEXT_TIME(t->times.running_ns));
		report_cell(out, "%s", TEXT_TIME(t->times.runnable_ns));
		report_cell(out, "%s", TEXT_TIME(why_split_blocked(&t->times)));
		report_cell(out, "%" PRIu64, t->n_waits);
		report_cell(out, "%s", TEXT_TIME(t->longest_ns));
		report_row_end(out);
	}
	report_row_rest(out, w->n_threads - n, 6, "threads");
	report_table_end(out);
}

/* ---- instances ---- */

static void report_waits_add_step(const struct report *r, struct outbuf *out, uint32_t tid,
				  enum path_kind kind, uint64_t ns)
{
	outbuf_print(out, "<li>%s: ", TEXT_TIME(ns));
	report_waits_add_name(r, out, tid);
	outbuf_print(out, " %s", why_text_kinds[kind]);
}

/* Adds the thread that has the CPU in the step S, and the thread to which S leads. */
static void report_waits_add_others(const struct report *r, struct outbuf *out,
				    const struct path_step *s)
{
	const char *before, *after;
	uint32_t via = why_text_link(s, &before, &after);

	if (s->kind == PATH_RUNNABLE && s->holder != 0) {
		outbuf_print(out, "; ");
		report_waits_add_name(r, out, s->holder);
		outbuf_print(out, " has CPU %" PRIu32, s->cpu);
	}
	if (via != 0) {
		outbuf_print(out, "%s", before);
		report_waits_add_name(r, out, via);
		outbuf_print(out, "%s", after);
	}
}

/*
 * Adds the steps of a path, in order. If there are many, adds their sums instead, the longest
 * first.
 */
static void report_waits_add_path(const struct report *r, struct outbuf *out,
				  const struct why_instance *i)
{
	const struct path *p = &i->path;
	bool sums = p->n_steps > STEPS_SHOWN;
	size_t n = sums ? p->n_shares : p->n_steps;

	if (n == 0)
		return;
	outbuf_print(out, "<details><summary>%s</summary><ol class=\"steps\">",
		     sums ? "What it waited for, the longest parts first"
			  : "What happened, step by step");
	for (size_t k = 0; k < n && k < STEPS_SHOWN; k++) {
		const struct path_step *s = &p->steps[k];

		if (sums) {
			report_waits_add_step(r, out, p->shares[k].tid, p->shares[k].kind,
					      p->shares[k].ns);
		} else {
			report_waits_add_step(r, out, s->tid, s->kind, s->to_ns - s->from_ns);
			report_waits_add_others(r, out, s);
		}
		outbuf_print(out, "</li>");
	}
	if (sums)
		outbuf_print(out, "<li class=\"dim\">in %" PRIu64 " steps</li>",
			     p->n_steps + p->n_joined);
	outbuf_print(out, "</ol></details>\n");
}

static void report_waits_add_instance(const struct report *r, struct outbuf *out, size_t k)
{
	const struct why_instance *i = &r->why->worst[k];

	outbuf_print(out, "<article><h3>%zu. %s%s: ", k + 1, TEXT_TIME(i->to_ns - i->from_ns),
		     i->open ? " so far" : "");
	report_waits_add_name(r, out, i->tid);
	outbuf_print(out, ", at %+.6f\u00a0s</h3>\n<p>",
		     (double)(int64_t)(i->from_ns - r->summary->start_ns) / 1e9);
	report_text(out, i->verdict.text, REPORT_TEXT_MAX);
	outbuf_print(out, "</p>\n");
	if (i->verdict.remedy) {
		outbuf_print(out, "<p><strong>");
		report_text(out, i->verdict.remedy, REPORT_TEXT_MAX);
		outbuf_print(out, "</strong></p>\n");
	}
	if (i->verdict_of_wait.function) {
		outbuf_print(out, "<p class=\"dim\">It waited in <code>");
		report_text(out, i->verdict_of_wait.function, REPORT_NAME_MAX);
		outbuf_print(out, "()</code>.</p>\n");
	}
	report_waits_add_path(r, out, i);
	if (i->path.cut)
		report_note(out, "A limit was reached: a part of this time is not explained.");
	outbuf_print(out, "</article>\n");
}

static void report_waits_add_open(const struct report *r, struct outbuf *out)
{
	const struct why *w = r->why;
	size_t n = w->n_open_waits < OPEN_SHOWN ? w->n_open_waits : OPEN_SHOWN;
	char name[WHY_NAME_MAX];

	if (n == 0)
		return;
	report_table_begin(out, "Waits that had not ended at the end of the recording",
			   (const char *const[]){ "Thread", ">So far", "Waits for", NULL });
	for (size_t i = 0; i < n; i++) {
		const struct why_open_wait *o = &w->open_waits[i];
		const struct why_wait *wait = why_find_wait(w, o->tid, o->from_ns);

		report_row_begin(out);
		report_cell_name(out, why_thread_name(r->summary, o->tid, name));
		report_cell(out, "%s%s", o->earlier ? "over " : "", TEXT_TIME(o->ns));
		outbuf_print(out, "<td>%s", wait_cause_rows[o->verdict.cause].title);
		if (wait)
			report_stack(r, out, r->profile, wait->node, "its stack");
		outbuf_print(out, "</td>");
		report_row_end(out);
	}
	report_row_rest(out, (size_t)w->n_open_waits_all - n, 3, "waits");
	report_table_end(out);
}

int report_waits(const struct report *r, struct outbuf *out)
{
	const struct why *w = r->why;
	char text[NOTHING_TEXT_MAX];

	if (!r->has_why) {
		report_none(out, nothing_there_explain(text, r->parts, NOTHING_SWITCHES));
		return out->error;
	}
	why_notes(w, r->name, report_waits_on_note, out);
	for (size_t k = 0; k < w->n_worst; k++)
		report_waits_add_instance(r, out, k);
	if (w->n_worst == 0)
		outbuf_print(out, "<p class=\"none\">No thread waited for a CPU, and none for "
				  "anything but work.</p>\n");
	if (w->n_instances > w->n_worst)
		outbuf_print(out,
			     "<p class=\"dim\">%" PRIu64 " shorter waits are not listed; "
			     "<code>kymo why</code> shows them.</p>\n",
			     w->n_instances - w->n_worst);
	report_waits_add_split(r, out);
	report_waits_add_threads(r, out);
	report_waits_add_open(r, out);
	return out->error;
}
