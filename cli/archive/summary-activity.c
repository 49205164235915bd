/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/archive/summary-activity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/string-table.h"
#include "base/text.h"

enum { ROWS_SHOWN = 15, CPUS_SHOWN = 8 };

static const struct {
	enum interval_kind kind;
	const char *member; /* name of the member in JSON */
	const char *title;
} kinds[] = {
	{ INTERVAL_IRQ, "irq", "INTERRUPT" },
	{ INTERVAL_SOFTIRQ, "softirq", "SOFTIRQ" },
	{ INTERVAL_WORK, "workqueue", "WORK ITEM" },
	{ INTERVAL_IDLE, "idle", "IDLE STATE" },
};

/* ---- JSON ---- */

static struct json_object *summary_activity_json_sum(const struct activity_sum *a)
{
	bool numbered = a->kind == INTERVAL_IRQ || a->kind == INTERVAL_IDLE;

	return JSON_OBJECT(JSON_OF(a, name), JSON_IF(numbered, "number", a->number),
			   JSON_OF(a, count, total_ns, max_ns),
			   JSON_IF(a->kind != INTERVAL_WORK, "cpu_ns",
				   JSON_LIST(ns, a->cpu_ns, a->n_cpus, *ns)));
}

static struct json_object *summary_activity_json_kind(const struct summary *s,
						      enum interval_kind kind)
{
	_cleanup_free_ struct activity_sum **sums = NULL;
	size_t n = 0;

	activity_sums_by_time(&s->activity, kind, &sums, &n);
	return JSON_LIST(a, sums, n, summary_activity_json_sum(*a));
}

static struct json_object *summary_activity_json_counter(const struct counter_sum *c)
{
	return JSON_OBJECT(JSON_OF(c, category, name, value, id, count),
			   JSON("min", json_real(c->min)),
			   JSON("avg", json_real(c->sum / (double)c->count)),
			   JSON("max", json_real(c->max)));
}

static struct json_object *summary_activity_json_counters(const struct summary *s)
{
	_cleanup_free_ struct counter_sum **sums = NULL;
	size_t n = 0;

	activity_sums_counters(&s->activity, &sums, &n);
	return JSON_LIST(c, sums, n, summary_activity_json_counter(*c));
}

static struct json_object *summary_activity_json_requests(const struct summary *s)
{
	_cleanup_free_ struct request_sum **sums = NULL;
	size_t n = 0;

	activity_sums_requests(&s->activity, &sums, &n);
	return JSON_LIST(
		q, sums, n,
		JSON_OBJECT(JSON_OF(*q, disk, op, count, bytes, total_ns, max_ns, n_errors)));
}

static struct json_object *summary_activity_json_names(const struct table *of)
{
	_cleanup_free_ struct name_sum **sums = NULL;
	size_t n = 0;

	activity_sums_by_count(of, &sums, &n);
	return JSON_LIST(t, sums, n, JSON_OBJECT(JSON_OF(*t, name, count)));
}

void summary_activity_json(struct json_object *o, const struct summary *s)
{
	JSON_ADD(o,
		 JSON("activity",
		      JSON_MAP(k, kinds, ARRAY_SIZE(kinds),
			       JSON(k->member, summary_activity_json_kind(s, k->kind)))),
		 JSON_IF(s->activity.requests.n_used > 0, "block",
			 summary_activity_json_requests(s)),
		 JSON_IF(s->activity.tracepoints.n_used > 0, "tracepoints",
			 summary_activity_json_names(&s->activity.tracepoints)),
		 JSON_IF(s->activity.moments.n_used > 0, "moments",
			 summary_activity_json_names(&s->activity.moments)),
		 JSON("counters", summary_activity_json_counters(s)));
}

/* ---- text ---- */

static double summary_activity_share(const struct summary *s, const struct activity_sum *a,
				     size_t cpu)
{
	uint64_t ns = cpu < a->n_cpus ? a->cpu_ns[cpu] : 0;

	return s->recorded_ns ? 100.0 * (double)ns / (double)s->recorded_ns : 0;
}

/* Returns the number of CPUs whose share is shown. */
static size_t summary_activity_cpus_of(const struct summary *s, struct activity_sum *const *sums,
				       size_t n)
{
	size_t n_cpus = s->recording.n_cpus;

	for (size_t i = 0; i < n; i++)
		if (sums[i]->n_cpus > n_cpus)
			n_cpus = sums[i]->n_cpus;
	return n_cpus;
}

/* Prints the share of each CPU, or the smallest and the largest share. */
static void summary_activity_print_shares(const struct summary *s, const struct activity_sum *a,
					  size_t n_cpus)
{
	double low = 100, high = 0;

	for (size_t cpu = 0; cpu < n_cpus; cpu++) {
		double percent = summary_activity_share(s, a, cpu);

		if (n_cpus <= CPUS_SHOWN)
			printf(" %5.1f%%", percent);
		low = percent < low ? percent : low;
		high = percent > high ? percent : high;
	}
	if (n_cpus > CPUS_SHOWN)
		printf(" %5.1f%% %5.1f%%", low, high);
}

static void summary_activity_print_share_titles(size_t n_cpus)
{
	for (size_t cpu = 0; cpu < n_cpus && n_cpus <= CPUS_SHOWN; cpu++)
		printf(" CPU %2zu", cpu);
	if (n_cpus > CPUS_SHOWN)
		printf(" LEAST  MOST  ");
}

static int summary_activity_print_kind(const struct summary *s, size_t kind)
{
	_cleanup_free_ struct activity_sum **sums = NULL;
	bool per_cpu = kinds[kind].kind != INTERVAL_WORK;
	size_t n, n_cpus;
	int r = activity_sums_by_time(&s->activity, kinds[kind].kind, &sums, &n);

	if (r < 0 || n == 0)
		return r;
	n_cpus = per_cpu ? summary_activity_cpus_of(s, sums, n) : 0;
	printf("\n    COUNT      TOTAL        MAX");
	summary_activity_print_share_titles(n_cpus);
	printf("  %s\n", kinds[kind].title);
	for (size_t i = 0; i < n && i < ROWS_SHOWN; i++) {
		const struct activity_sum *a = sums[i];

		printf("%9" PRIu64 " %10s %10s", a->count, TEXT_TIME(a->total_ns),
		       TEXT_TIME(a->max_ns));
		summary_activity_print_shares(s, a, n_cpus);
		if (a->kind == INTERVAL_IRQ)
			printf("  %s (%" PRIi32 ")\n", a->name, a->number);
		else
			printf("  %s\n", a->name);
	}
	if (n > ROWS_SHOWN)
		printf("      ... and %zu others\n", n - ROWS_SHOWN);
	return 0;
}

static bool summary_activity_ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* Formats a value in the unit at the end of its NAME: "free (bytes)". */
static const char *summary_activity_format_value(char *to, const char *name, double value)
{
	bool whole = value > -1e15 && value < 1e15 && value == (double)(int64_t)value;

	if (summary_activity_ends_in(name, "(bytes)") && value >= 0 && value < 1e18)
		return text_format_size(to, (uint64_t)value);
	if (summary_activity_ends_in(name, "(%)"))
		snprintf(to, TEXT_FORMAT_MAX, "%.4g%%", value);
	else if (strcmp(name, "kHz") == 0)
		snprintf(to, TEXT_FORMAT_MAX, "%.4g MHz", value / 1000);
	else
		snprintf(to, TEXT_FORMAT_MAX, "%.*g", whole ? 15 : 4, value);
	return to;
}

/* Returns true if the text shows the counter C; --json has all counters. */
static bool summary_activity_is_main(const struct counter_sum *c)
{
	static const char *const values[] = {
		"free (bytes)",      "available (bytes)", "cached (bytes)", "dirty (bytes)",
		"swap free (bytes)", "1 minute",          "runnable",       "kHz",
	};

	return summary_activity_ends_in(c->value, " some (%)") ||
	       summary_activity_ends_in(c->value, "IRQ full (%)") ||
	       STRING_TABLE_FIND(values, c->value) >= 0;
}

/* Adds the sum of another id of the same counter to TO. */
static void summary_activity_add_sum(struct counter_sum *to, const struct counter_sum *from)
{
	to->min = from->min < to->min ? from->min : to->min;
	to->max = from->max > to->max ? from->max : to->max;
	to->sum += from->sum;
	to->count += from->count;
}

static int summary_activity_print_counters(const struct summary *s)
{
	_cleanup_free_ struct counter_sum **sums = NULL;
	char min[TEXT_FORMAT_MAX], avg[TEXT_FORMAT_MAX], max[TEXT_FORMAT_MAX];
	size_t n;
	int r = activity_sums_counters(&s->activity, &sums, &n);

	if (r < 0 || n == 0)
		return r;
	printf("\n       MIN        AVG        MAX  COUNTER\n");
	for (size_t i = 0; i < n; i++) {
		struct counter_sum sum = *sums[i];
		const char *unit = strstr(sum.value, " (");

		if (!summary_activity_is_main(&sum))
			continue;
		/* One row for all CPUs of a counter: their sums are adjacent in the array. */
		while (i + 1 < n && strcmp(sums[i + 1]->category, sum.category) == 0 &&
		       strcmp(sums[i + 1]->name, sum.name) == 0 &&
		       strcmp(sums[i + 1]->value, sum.value) == 0)
			summary_activity_add_sum(&sum, sums[++i]);
		printf("%10s %10s %10s  %s %.*s\n",
		       summary_activity_format_value(min, sum.value, sum.min),
		       summary_activity_format_value(avg, sum.value, sum.sum / (double)sum.count),
		       summary_activity_format_value(max, sum.value, sum.max), sum.name,
		       unit ? (int)(unit - sum.value) : -1, sum.value);
	}
	return 0;
}

static int summary_activity_print_requests(const struct summary *s)
{
	_cleanup_free_ struct request_sum **sums = NULL;
	size_t n = 0;
	int r = activity_sums_requests(&s->activity, &sums, &n);

	if (r < 0 || n == 0)
		return r;
	printf("\n    COUNT      TOTAL        MAX       SIZE    ERRORS  REQUESTS\n");
	for (size_t i = 0; i < n && i < ROWS_SHOWN; i++)
		printf("%9" PRIu64 " %10s %10s %10s %9" PRIu64 "  %s %s\n", sums[i]->count,
		       TEXT_TIME(sums[i]->total_ns), TEXT_TIME(sums[i]->max_ns),
		       TEXT_SIZE(sums[i]->bytes), sums[i]->n_errors,
		       *sums[i]->disk ? sums[i]->disk : "?", sums[i]->op);
	if (n > ROWS_SHOWN)
		printf("      ... and %zu others\n", n - ROWS_SHOWN);
	return 0;
}

static int summary_activity_print_names(const struct table *of, const char *title)
{
	_cleanup_free_ struct name_sum **sums = NULL;
	size_t n = 0;
	int r = activity_sums_by_count(of, &sums, &n);

	if (r < 0 || n == 0)
		return r;
	printf("\n    COUNT  %s\n", title);
	for (size_t i = 0; i < n && i < ROWS_SHOWN; i++)
		printf("%9" PRIu64 "  %s\n", sums[i]->count, sums[i]->name);
	if (n > ROWS_SHOWN)
		printf("      ... and %zu others\n", n - ROWS_SHOWN);
	return 0;
}

int summary_activity_print(const struct summary *s)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(kinds); i++)
		r = summary_activity_print_kind(s, i);
	r = r
		    ?: summary_activity_print_requests(s)
		    ?: summary_activity_print_names(&s->activity.tracepoints, "TRACEPOINT")
		    ?: summary_activity_print_names(&s->activity.moments, "POINT");
	return r < 0 ? r : summary_activity_print_counters(s);
}
