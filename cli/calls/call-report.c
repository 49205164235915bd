/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/calls/call-report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/common/colour.h"
#include "cli/common/json.h"
#include "cli/common/verb.h"
#include "model/koids.h"
#include "reader/views/call-table.h"

/* ---- text ---- */

static void call_report_print_head(const struct call_lines *l, const struct call_table_process *p,
				   bool first)
{
	char total[TEXT_FORMAT_MAX];

	printf("%s%s (%" PRIu32 "): %" PRIu64 " call%s, %" PRIu64 " error%s, %s\n",
	       first ? "" : "\n", call_lines_name(l, p->pid), p->pid & FXT_KOID_TID_MASK, p->n,
	       text_s(p->n), p->failed, text_s(p->failed), text_format_time(total, p->total_ns));
	printf("%s   CALLS   ERRORS  NO RETURN      TOTAL     MEDIAN        99%%        MAX  FUNCTION%s\n",
	       colour(COLOUR_HEADING), colour(COLOUR_OFF));
}

static void call_report_print_row(const struct call_table_row *row)
{
	const struct latency *took = &row->took;

	printf("%8" PRIu64 " %8" PRIu64 " %10" PRIu64 " ", took->n, row->failed, row->unreturned);
	if (took->n > 0)
		printf("%10s %10s %10s %10s", TEXT_TIME(took->sum_ns),
		       TEXT_TIME(latency_percentile_ns(took, 50)),
		       TEXT_TIME(latency_percentile_ns(took, 99)), TEXT_TIME(took->max_ns));
	else
		printf("%10s %10s %10s %10s", "-", "-", "-", "-");
	printf("  %s\n", row->function);
}

static void call_report_print_left_out(struct call_table_left_out *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i]->function, EVENT_LEFT_OUT_32BIT) == 0)
			printf("%8" PRIu64 " system call%s of 32-bit programs %s not recorded\n",
			       list[i]->n, text_s(list[i]->n), text_was(list[i]->n));
		else
			printf("%8" PRIu64 " more call%s of %s %s omitted because of the limit\n",
			       list[i]->n, text_s(list[i]->n), list[i]->function,
			       text_was(list[i]->n));
}

/* ---- JSON ---- */

static struct json_object *call_report_json_row(const struct call_lines *l,
						const struct call_table_row *row)
{
	return JSON_OBJECT(JSON("process_id", row->process->pid),
			   JSON("process", call_lines_name(l, row->process->pid)),
			   JSON_OF(row, function), JSON("calls", row->took.n),
			   JSON("errors", row->failed), JSON("not_returned", row->unreturned),
			   JSON("total_ns", row->took.sum_ns),
			   JSON("p50_ns", latency_percentile_ns(&row->took, 50)),
			   JSON("p99_ns", latency_percentile_ns(&row->took, 99)),
			   JSON("max_ns", row->took.max_ns));
}

/* ---- all ---- */

int call_report_print(const struct call_lines *l)
{
	_cleanup_free_ struct call_table_row **rows = NULL;
	_cleanup_free_ struct call_table_left_out **left_out = NULL;
	size_t n = 0, n_left_out = 0;

	if (call_table_rows(&l->sums, &rows, &n) < 0 ||
	    call_table_all_left_out(&l->sums, &left_out, &n_left_out) < 0)
		return cli_failed("out of memory");
	if (l->json) {
		json_print_pretty(JSON_OBJECT(
			JSON("calls", JSON_LIST(row, rows, n, call_report_json_row(l, *row))),
			JSON("left_out",
			     JSON_LIST(o, left_out, n_left_out,
				       JSON_OBJECT(JSON_OF(*o, function), JSON("calls", (*o)->n)))),
			JSON("lost_records", l->n_lost)));
		return CLI_OK;
	}
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || rows[i]->process != rows[i - 1]->process)
			call_report_print_head(l, rows[i]->process, i == 0);
		call_report_print_row(rows[i]);
	}
	call_report_print_left_out(left_out, n_left_out);
	return CLI_OK;
}
