/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The distributions of durations, as `kymo latency` and the sums of `kymo summary` have them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/common/markup.h"
#include "cli/report/report.h"
#include "cli/report/report-table.h"

enum { CALLS_SHOWN = 30 };

/* Adds the cells of T: the number, the mean, the percentiles and the maximum. */
static void report_latencies_add_times(struct outbuf *out, const struct latency *t)
{
	static const double percents[] = { 50, 90, 99 };

	report_cell(out, "%" PRIu64, t->n);
	report_cell(out, "%s", t->n ? TEXT_TIME(latency_mean_ns(t)) : "-");
	for (size_t i = 0; i < ARRAY_SIZE(percents); i++)
		report_cell(out, "%s",
			    t->n ? TEXT_TIME(latency_percentile_ns(t, percents[i])) : "-");
	report_cell(out, "%s", t->n ? TEXT_TIME(t->max_ns) : "-");
}

int report_latencies(const struct report *r, struct outbuf *out)
{
	static const char *const columns[] = { "What",       ">Count",     ">Mean",
					       ">50\u00a0%", ">90\u00a0%", ">99\u00a0%",
					       ">Longest",   ">Open",      NULL };
	char text[NOTHING_TEXT_MAX];
	bool any = false;

	for (enum latency_metric i = 0; i < LATENCY_METRICS; i++) {
		const struct latencies_row *row = latencies_total(r->latencies, i);

		if (row->times.n == 0 && row->n_open == 0)
			continue;
		if (!any)
			report_table_begin(
				out,
				"50\u00a0% of the durations were at most as long as the "
				"column says. \u201cOpen\u201d ones have no known begin or end.",
				columns);
		any = true;
		report_row_begin(out);
		report_cell_name(out, latency_metric_titles[i]);
		report_latencies_add_times(out, &row->times);
		report_cell(out, "%" PRIu64, row->n_open);
		report_row_end(out);
	}
	if (any)
		report_table_end(out);
	else
		report_none(out, nothing_there_explain(text, r->parts, NOTHING_SWITCHES));
	return out->error;
}

static void report_latencies_add_call(struct outbuf *out, const struct call_sum *c)
{
	report_row_begin(out);
	report_cell_name(out, c->function);
	report_cell(out, "%s", TEXT_TIME(c->took.sum_ns));
	report_latencies_add_times(out, &c->took);
	report_cell(out, "%" PRIu64, c->failed);
	report_cell(out, "%" PRIu64, c->unwound + c->open);
	report_row_end(out);
}

/* Adds the number of calls that are not in the archive because of a limit. */
static void report_latencies_add_left_out(struct outbuf *out, struct call_sum *const *sums,
					  size_t n)
{
	uint64_t left_out = 0;

	for (size_t i = 0; i < n; i++)
		left_out += sums[i]->left_out;
	if (left_out > 0)
		outbuf_print(out,
			     "<p class=\"note\">%" PRIu64 " further calls were not recorded, "
			     "because of a limit.</p>\n",
			     left_out);
}

int report_calls(const struct report *r, struct outbuf *out)
{
	static const char *const columns[] = { "Function",        ">Total",     ">Returned",
					       ">Mean",           ">50\u00a0%", ">90\u00a0%",
					       ">99\u00a0%",      ">Longest",   ">Failed",
					       ">Did not return", NULL };
	_cleanup_free_ struct call_sum **sums = NULL;
	_cleanup_free_ char *files = other_files_text(&r->calls.others);
	char text[NOTHING_TEXT_MAX];
	size_t n = 0, shown;

	if (call_sums_by_time(&r->calls, &sums, &n) < 0)
		return -ENOMEM;
	if (n == 0) {
		report_none(out, nothing_there_explain(text, r->parts, NOTHING_CALLS));
		return out->error;
	}
	shown = n < CALLS_SHOWN ? n : CALLS_SHOWN;
	report_table_begin(out, "The calls of each function, those with most time first", columns);
	for (size_t i = 0; i < shown; i++)
		report_latencies_add_call(out, sums[i]);
	report_row_rest(out, n - shown, 10, "functions");
	report_table_end(out);
	report_latencies_add_left_out(out, sums, n);
	if (files)
		report_note(out, files);
	return out->error;
}
