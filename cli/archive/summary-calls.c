/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/archive/summary-calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/common/colour.h"

/* The bounds of the printed histogram. The last column counts longer calls. */
static const struct {
	const char *heading;
	uint64_t below_ns;
} summary_calls_bounds[] = {
	{ "<1us", 1000 },      { "<10us", 10000 },      { "<100us", 100000 },  { "<1ms", 1000000 },
	{ "<10ms", 10000000 }, { "<100ms", 100000000 }, { "<1s", 1000000000 },
};

/* Returns the number of calls that took from 2^i ns to 2^(i+1) ns, for each i with calls. */
static struct json_object *summary_calls_json_histogram(const struct latency *took)
{
	struct json_object *list = json_object_new_array();
	uint64_t before = 0;

	for (unsigned i = 0; before < took->n && i < 63; i++) {
		uint64_t below_ns = UINT64_C(2) << i, n = latency_below(took, below_ns);

		if (n > before)
			json_append_item(list, JSON_OBJECT(JSON("from_ns", i ? below_ns / 2 : 0),
							   JSON("below_ns", below_ns),
							   JSON("calls", n - before)));
		before = n;
	}
	return list;
}

static struct json_object *summary_calls_json_sum(const struct call_sum *c)
{
	return JSON_OBJECT(JSON_OF(c, function), JSON("returned", c->took.n),
			   JSON_OF(c, failed, unwound, open, left_out),
			   JSON("total_ns", c->took.sum_ns),
			   JSON("mean_ns", latency_mean_ns(&c->took)),
			   JSON("p50_ns", latency_percentile_ns(&c->took, 50)),
			   JSON("p99_ns", latency_percentile_ns(&c->took, 99)),
			   JSON("max_ns", c->took.max_ns),
			   JSON("histogram", summary_calls_json_histogram(&c->took)));
}

int summary_calls_json(struct json_object *o, const struct call_sums *s)
{
	_cleanup_free_ struct call_sum **sums = NULL;
	size_t n = 0;
	int r = call_sums_by_time(s, &sums, &n);

	if (r == 0 && n > 0)
		JSON_ADD(o, JSON("calls", JSON_LIST(c, sums, n, summary_calls_json_sum(*c))));
	if (r == 0 && s->others.n_processes)
		JSON_ADD(o, JSON("other_files", JSON_LIST(f, s->others.list, s->others.n,
							  JSON_OBJECT(JSON_OF(f, file, path),
								      JSON("processes", f->n)))));
	return r;
}

static void summary_calls_print_histogram(struct call_sum *const *sums, size_t n)
{
	printf("\n%s", colour(COLOUR_HEADING));
	for (size_t i = 0; i < ARRAY_SIZE(summary_calls_bounds); i++)
		printf("%8s ", summary_calls_bounds[i].heading);
	printf("  longer  FUNCTION, by duration of its calls%s\n", colour(COLOUR_OFF));
	for (size_t i = 0; i < n; i++) {
		uint64_t before = 0;

		for (size_t j = 0; j < ARRAY_SIZE(summary_calls_bounds); j++) {
			uint64_t all =
				latency_below(&sums[i]->took, summary_calls_bounds[j].below_ns);

			printf("%8" PRIu64 " ", all - before);
			before = all;
		}
		printf("%8" PRIu64 "  %s\n", sums[i]->took.n - before, sums[i]->function);
	}
}

/* Counts the N functions behind the last printed row, and their calls. */
static void summary_calls_print_rest(struct call_sum *const *sums, size_t n)
{
	uint64_t calls = 0, left_out = 0;

	for (size_t i = 0; i < n; i++) {
		calls += sums[i]->took.n + sums[i]->unwound + sums[i]->open;
		left_out += sums[i]->left_out;
	}
	printf("%8" PRIu64 " more, of %zu other function%s (-n shows more)\n", calls, n, text_s(n));
	if (left_out > 0)
		printf("%8" PRIu64
		       " call%s of all these functions omitted by a limit, or not recorded\n",
		       left_out, text_s(left_out));
}

int summary_calls_print(const struct call_sums *s, size_t limit)
{
	_cleanup_free_ struct call_sum **sums = NULL;
	size_t n = 0;
	int r = call_sums_by_time(s, &sums, &n);

	if (r < 0 || n == 0 || limit == 0)
		return r;
	printf("\n%s   CALLS  FAILED  UNWOUND      TOTAL     MEDIAN        99%%        MAX  FUNCTION%s\n",
	       colour(COLOUR_HEADING), colour(COLOUR_OFF));
	for (size_t i = 0; i < n && i < limit; i++) {
		const struct call_sum *c = sums[i];

		printf("%8" PRIu64 " %7" PRIu64 " %8" PRIu64 " %10s %10s %10s %10s  %s\n",
		       c->took.n + c->unwound + c->open, c->failed, c->unwound,
		       TEXT_TIME(c->took.sum_ns), TEXT_TIME(latency_percentile_ns(&c->took, 50)),
		       TEXT_TIME(latency_percentile_ns(&c->took, 99)), TEXT_TIME(c->took.max_ns),
		       c->function);
		if (c->left_out > 0)
			printf("%8" PRIu64 " %s\n", c->left_out,
			       strcmp(c->function, EVENT_LEFT_OUT_32BIT) == 0
				       ? "not recorded"
				       : "more, omitted because of the limit");
	}
	if (n > limit)
		summary_calls_print_rest(sums + limit, n - limit);
	summary_calls_print_histogram(sums, n < limit ? n : limit);
	return 0;
}
