/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that were not freed, as `kymo leaks` has them, with the strongest evidence first.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/common/markup.h"
#include "cli/report/report.h"
#include "cli/report/report-stack.h"
#include "cli/report/report-table.h"

enum { PROCESSES_SHOWN = 10, GROUPS_SHOWN = 10 };

static const char *report_leaks_process(const struct leak_watch *w)
{
	return *w->name ? w->name : *w->program ? profile_names_base(w->program) : "?";
}

static void report_leaks_add_group(const struct report *r, struct outbuf *out,
				   const struct leak_watch *w, const struct leak_group *g)
{
	uint64_t age_ns = g->first_ns && w->end_ns > g->first_ns ? w->end_ns - g->first_ns : 0;

	report_row_begin(out);
	report_cell_name(out, leak_verdict_names[g->verdict]);
	report_cell(out, "%.0f", g->all.blocks);
	if (g->resource == RESOURCE_FD)
		report_cell(out, "-");
	else
		report_cell(out, "%s", TEXT_SIZE((uint64_t)llround(g->all.bytes)));
	report_cell(out, "%s", age_ns ? TEXT_TIME(age_ns) : "-");
	outbuf_print(out, "<td class=\"text\">%s", resource_names[g->resource]);
	for (size_t i = 0; i < LEAK_TEXTS_MAX && g->functions[i]; i++) {
		outbuf_print(out, i ? ", " : " by ");
		report_text(out, g->functions[i], REPORT_NAME_MAX);
	}
	if (g->node != 0)
		report_stack(r, out, r->leaks->profile, g->node, "its stack");
	else
		outbuf_print(out, " (the stack is unknown)");
	outbuf_print(out, "</td>");
	report_row_end(out);
}

/* Adds the limits of the watch. */
static void report_leaks_add_limits(struct outbuf *out, const struct leak_watch *w)
{
	char text[1024];

	if (*w->unwatched || *w->gap) {
		snprintf(text, sizeof(text), "%s: %s",
			 *w->unwatched ? "Not watched" : "Not complete",
			 *w->unwatched ? w->unwatched : w->gap);
		report_note(out, text);
	}
	if (!*w->unwatched && !*w->gap && !w->complete)
		report_note(out, "Its earlier allocations are unknown.");
	if (w->lost || w->full)
		report_note(out, "Events were lost, or the table of blocks was full: some blocks "
				 "may have been freed, and some are missing.");
	if (leak_watch_is_sampled(w))
		report_note(out, "Blocks were sampled at random: the numbers are estimates.");
}

static void report_leaks_add_watch(const struct report *r, struct outbuf *out,
				   const struct leak_watch *w)
{
	static const char *const columns[] = { "Verdict", ">Blocks", ">Size",
					       ">Oldest", "What",    NULL };
	size_t n = w->n_groups < GROUPS_SHOWN ? w->n_groups : GROUPS_SHOWN;
	double bytes = 0;

	for (size_t i = 0; i < w->n_groups; i++)
		bytes += w->groups[i]->all.bytes;
	outbuf_print(out, "<h3>");
	report_text(out, report_leaks_process(w), REPORT_NAME_MAX);
	outbuf_print(out, " (%" PRIu32 "), watched for %s: %s in %zu stack%s</h3>\n", w->real_pid,
		     TEXT_TIME(w->end_ns - w->begin_ns), TEXT_SIZE((uint64_t)llround(bytes)),
		     w->n_groups, text_s(w->n_groups));
	report_leaks_add_limits(out, w);
	report_table_begin(out, "Blocks that were not freed, the strongest evidence first",
			   columns);
	for (size_t i = 0; i < n; i++)
		report_leaks_add_group(r, out, w, w->groups[i]);
	report_row_rest(out, w->n_groups - n, 5, "stacks");
	report_table_end(out);
}

int report_leaks(const struct report *r, struct outbuf *out)
{
	const struct leaks *l = r->leaks;
	uint64_t n_unknown = 0, n_rest = 0, n_free = 0;
	char text[NOTHING_TEXT_MAX];
	size_t shown = 0;

	if (l->n_watches == 0) {
		report_none(out, nothing_there_explain(text, r->parts, NOTHING_ALLOCATIONS));
		return out->error;
	}
	for (size_t i = 0; i < l->n_watches; i++) {
		const struct leak_watch *w = l->watches[i];

		n_unknown += *w->unwatched || *w->gap;
		if (w->n_groups == 0)
			n_free += !*w->unwatched && !*w->gap;
		else if (shown == PROCESSES_SHOWN)
			n_rest++;
		else
			report_leaks_add_watch(r, out, w);
		shown += w->n_groups > 0 && shown < PROCESSES_SHOWN;
	}
	if (n_rest)
		outbuf_print(out,
			     "<p>%" PRIu64 " further program%s with such blocks: <code>kymo "
			     "leaks</code> shows them.</p>\n",
			     n_rest, text_s(n_rest));
	if (n_free)
		outbuf_print(out, "<p>%" PRIu64 " program%s without such blocks.</p>\n", n_free,
			     text_s(n_free));
	if (n_unknown)
		outbuf_print(out,
			     "<p>%" PRIu64 " program%s %s not watched, or not all the time: "
			     "%s leaks are unknown.</p>\n",
			     n_unknown, text_s(n_unknown), text_was(n_unknown),
			     n_unknown == 1 ? "its" : "their");
	return out->error;
}
