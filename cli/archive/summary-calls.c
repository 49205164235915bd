/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/archive/summary-calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/common/colour.h"

static struct json_object *summary_calls_json_sum(const struct call_sum *c)
{
	return JSON_OBJECT(JSON_OF(c, function), JSON("returned", c->took.n),
			   JSON_OF(c, failed, unwound, open, left_out),
			   JSON("total_ns", c->took.sum_ns),
			   JSON("mean_ns", latency_mean_ns(&c->took)),
			   JSON("p50_ns", latency_percentile_ns(&c->took, 50)),
			   JSON("p99_ns", latency_percentile_ns(&c->took, 99)),
			   JSON("max_ns", c->took.max_ns));
}

int summary_calls_json(struct json_object *o, const struct call_sums *s)
{
	_cleanup_free_ struct call_sum **sums = NULL;
	size_t n = 0;
	int r = call_sums_by_time(s, &sums, &n);

	if (r == 0 && n > 0)
		JSON_ADD(o, JSON("calls", JSON_LIST(c, sums, n, summary_calls_json_sum(*c))));
	return r;
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
			printf("%8" PRIu64 " more were left out by its limit\n", c->left_out);
	}
	if (n > limit)
		printf("    ... and %zu other functions (-n shows more)\n", n - limit);
	return 0;
}
