/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo latency: shows how durations are distributed: of waits, runs, calls, interrupts and
 * requests of block devices.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/string-table.h"
#include "base/text.h"
#include "cli/common/colour.h"
#include "cli/common/json.h"
#include "cli/common/part-options.h"
#include "cli/common/read-events.h"
#include "cli/common/thread-choice.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "reader/views/latencies.h"

enum { ROWS_SHOWN = 20, BAR_COLUMNS = 40 };

/* The option that records a metric; NULL = `sched`. */
static const char *const categories[LATENCY_METRICS] = {
	[LATENCY_CALL] = "--call=SPEC",   [LATENCY_IRQ] = "-e irq",
	[LATENCY_SOFTIRQ] = "-e softirq", [LATENCY_WORK] = "-e workqueue",
	[LATENCY_BLOCK] = "-e block",
};

struct latency_options {
	struct part_options part;
	bool chosen[LATENCY_METRICS];
	bool any_chosen;
	enum latencies_by by;
	uint64_t top;
	bool json;
	char **words; /* that select threads; NULL ends the list */
};

struct latency_input {
	struct summary *summary;
	struct latencies *latencies;
	struct thread_choice *choices; /* one for each word; owned */
	size_t n_choices;
};

static void verb_latency_input_deinit(struct latency_input *in)
{
	in->latencies = latencies_free(in->latencies);
	in->summary = summary_free(in->summary);
	for (size_t i = 0; i < in->n_choices; i++)
		thread_choice_deinit(&in->choices[i]);
	free(in->choices);
}

/* Whether one of the words selects the thread. */
static bool verb_latency_wants(void *userdata, uint32_t tid)
{
	struct latency_input *in = userdata;

	for (size_t i = 0; i < in->n_choices; i++)
		if (thread_choice_wants(&in->choices[i], tid))
			return true;
	return false;
}

/* Chooses the threads, when all names are known. Returns CLI_OK, or CLI_FAILED after a message. */
static int verb_latency_choose(const struct latency_options *o, struct latency_input *in)
{
	size_t n = 0;

	while (o->words[n])
		n++;
	in->choices = calloc(n + 1, sizeof(*in->choices));
	if (!in->choices)
		return cli_failed("out of memory");
	for (; in->n_choices < n; in->n_choices++) {
		int r = thread_choice_make(&in->choices[in->n_choices], in->summary,
					   o->words[in->n_choices]);

		if (r != CLI_OK)
			return r;
	}
	return CLI_OK;
}

static int verb_latency_on_event(void *userdata, const struct event *ev)
{
	struct latency_input *in = userdata;

	return summary_add(in->summary, ev) ?: latencies_add(in->latencies, ev);
}

/* Returns true if METRIC has any durations. */
static bool verb_latency_has(const struct latency_input *in, enum latency_metric metric)
{
	const struct latencies_row *total = latencies_total(in->latencies, metric);

	return total->times.n || total->n_open;
}

/* Returns true if METRIC is shown. */
static bool verb_latency_shows(const struct latency_options *o, const struct latency_input *in,
			       enum latency_metric metric)
{
	return (!o->any_chosen || o->chosen[metric]) && verb_latency_has(in, metric);
}

/* Returns true if wakeups were not recorded for a part of the time, or not at all. */
static bool verb_latency_lacks_wakeups(const struct summary *s)
{
	for (size_t i = 0; i < s->n_sheds; i++)
		if (strcmp(s->sheds[i].what, "wakeups") == 0)
			return true;
	return s->switches > 0 && s->wakeups == 0;
}

/* ---- JSON ---- */

/* Adds the times of ROW to O. */
static struct json_object *verb_latency_json_times(struct json_object *o,
						   const struct latencies_row *row)
{
	const struct latency *t = &row->times;

	return JSON_ADD(
		o, JSON("count", t->n), JSON_OF(t, sum_ns), JSON("mean_ns", latency_mean_ns(t)),
		JSON("p50_ns", latency_percentile_ns(t, 50)),
		JSON("p90_ns", latency_percentile_ns(t, 90)),
		JSON("p99_ns", latency_percentile_ns(t, 99)),
		JSON("p99_9_ns", latency_percentile_ns(t, 99.9)), JSON_OF(t, max_ns),
		JSON("open", row->n_open),
		JSON_IF(row->n_open, "longest_open_ns", row->longest_open_ns),
		JSON("steps", JSON_LIST(step, t->steps, t->n_steps,
					JSON_OBJECT(JSON("from_ns", latency_step_ns(step->step)),
						    JSON_OF(step, count)))));
}

static struct json_object *verb_latency_json_row(enum latencies_by by,
						 const struct latencies_row *row)
{
	struct json_object *o =
		JSON_OBJECT(JSON_IF(row->tid, "tid", row->tid), JSON_IF(row->pid, "pid", row->pid),
			    JSON_IF(by == LATENCIES_BY_CPU && !*row->name, "cpu", row->cpu),
			    JSON_IF(*row->name, "name", row->name));

	return verb_latency_json_times(o, row);
}

static struct json_object *verb_latency_json_metric(const struct latency_options *o,
						    const struct latency_input *in,
						    enum latency_metric metric)
{
	_cleanup_free_ const struct latencies_row **rows = NULL;
	uint64_t keyless = latencies_n_keyless(in->latencies, metric);
	struct json_object *json;
	size_t n;

	if (latencies_rows(in->latencies, metric, &rows, &n) < 0)
		return NULL;
	json = verb_latency_json_times(json_object_new_object(),
				       latencies_total(in->latencies, metric));
	if (o->by == LATENCIES_TOTAL)
		return json;
	if (n > o->top)
		n = (size_t)o->top;
	return JSON_ADD(json, JSON_IF(keyless, "without_row", keyless),
			JSON("rows", JSON_LIST(row, rows, n, verb_latency_json_row(o->by, *row))));
}

static int verb_latency_print_json(const struct latency_options *o, const struct latency_input *in,
				   const struct open_trace *t)
{
	const struct summary *s = in->summary;
	const struct run_queues *q = latencies_run_queues(in->latencies);
	struct json_object *all = json_object_new_object(), *balance = NULL, *one;

	for (enum latency_metric i = 0; i < LATENCY_METRICS; i++) {
		if (!verb_latency_shows(o, in, i))
			continue;
		one = verb_latency_json_metric(o, in, i);
		if (!one) {
			json_object_put(all);
			return cli_failed("out of memory");
		}
		JSON_ADD(all, JSON(latency_metric_names[i], one));
	}
	if (q->known_ns && !*o->words)
		balance = JSON_OBJECT(JSON_OF(q, known_ns, idle_beside_queue_ns, queue_ns, n_cpus,
					      longest_queue, longest_cpu, longest_at_ns));
	json_print_pretty(
		JSON_OBJECT(JSON_OF(s, start_ns, end_ns, duration_ns, recorded_ns),
			    JSON("complete", json_boolean(summary_is_complete(s))),
			    JSON("damage", t->n_damages), JSON("lost", summary_lost(s)),
			    JSON("wakeups_missing", json_boolean(verb_latency_lacks_wakeups(s))),
			    JSON("by", latencies_by_names[o->by]), JSON("metrics", all),
			    JSON_IF(balance, "balance", balance)));
	return CLI_OK;
}

/* ---- text ---- */

static void verb_latency_print_head(const char *last)
{
	printf("%s   COUNT     MEAN     50 %%     90 %%     99 %%   99.9 %%      MAX   OPEN  ",
	       colour(COLOUR_HEADING));
	for (; *last; last++)
		putchar(toupper((unsigned char)*last));
	printf("%s\n", colour(COLOUR_OFF));
}

static void verb_latency_print_time(const struct latency *t, uint64_t ns)
{
	printf(" %8s", t->n ? TEXT_TIME(ns) : "-");
}

/* Prints the numbers of ROW, without its name in the last column. */
static void verb_latency_print_times(const struct latencies_row *row)
{
	static const double percents[] = { 50, 90, 99, 99.9 };
	const struct latency *t = &row->times;

	printf("%8" PRIu64, t->n);
	verb_latency_print_time(t, latency_mean_ns(t));
	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		verb_latency_print_time(t, latency_percentile_ns(t, percents[i]));
	verb_latency_print_time(t, t->max_ns);
	printf(" %6" PRIu64 "  ", row->n_open);
}

static uint64_t verb_latency_count_bit(const struct latency *t, unsigned bit)
{
	uint64_t below = bit < 63 ? latency_below(t, UINT64_C(2) << bit) : t->n;

	return below - latency_below(t, bit ? UINT64_C(1) << bit : 0);
}

/* Prints a bar for each power of two, from the shortest duration to the longest. */
static void verb_latency_print_bars(enum latency_metric metric, const struct latency *t)
{
	static const char bar[] = "########################################";
	unsigned first = 64, last = 0;
	uint64_t most = 1;

	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t n = verb_latency_count_bit(t, bit);

		if (n == 0)
			continue;
		first = bit < first ? bit : first;
		last = bit;
		most = n > most ? n : most;
	}
	if (first == 64)
		return;
	printf("\n%s: %s\n", latency_metric_names[metric], latency_metric_titles[metric]);
	for (unsigned bit = first; bit <= last; bit++) {
		uint64_t n = verb_latency_count_bit(t, bit);
		int columns = (int)((double)n * BAR_COLUMNS / (double)most + 0.5);

		printf("  %9s ... %8" PRIu64 " |%.*s\n", TEXT_TIME(bit ? UINT64_C(1) << bit : 0), n,
		       n && columns == 0 ? 1 : columns, bar);
	}
}

/* Prints the last column of a row. */
static void verb_latency_print_label(enum latencies_by by, const struct latencies_row *row)
{
	if (by == LATENCIES_BY_CPU && !*row->name)
		printf("%" PRIu32 "\n", row->cpu);
	else if (row->tid || row->pid)
		printf("%s (%" PRIu32 ")\n", row->name, row->tid ?: row->pid);
	else
		printf("%s\n", strcmp(row->name, "?") == 0 ? "not known" : row->name);
}

static int verb_latency_print_rows(const struct latency_options *o, const struct latency_input *in,
				   enum latency_metric metric)
{
	_cleanup_free_ const struct latencies_row **rows = NULL;
	uint64_t keyless = latencies_n_keyless(in->latencies, metric);
	size_t n;

	if (latencies_rows(in->latencies, metric, &rows, &n) < 0)
		return cli_failed("out of memory");
	printf("\n%s: %s\n", latency_metric_names[metric], latency_metric_titles[metric]);
	verb_latency_print_head(latencies_by_names[o->by]);
	for (size_t i = 0; i < n && i < o->top; i++) {
		verb_latency_print_times(rows[i]);
		verb_latency_print_label(o->by, rows[i]);
	}
	if (n > o->top)
		printf("    ... and %zu other%s (--top shows more)\n", n - (size_t)o->top,
		       text_s(n - (size_t)o->top));
	if (keyless)
		printf("    %" PRIu64 " without a row, since there were too many rows\n", keyless);
	return CLI_OK;
}

/* Prints a row for each metric. Returns false if it has printed no row. */
static bool verb_latency_print_metrics(const struct latency_options *o,
				       const struct latency_input *in)
{
	bool any = false, open = false;

	for (enum latency_metric i = 0; i < LATENCY_METRICS; i++) {
		const struct latencies_row *total = latencies_total(in->latencies, i);

		if (!verb_latency_shows(o, in, i))
			continue;
		if (!any)
			verb_latency_print_head("metric");
		any = true;
		open |= total->n_open > 0;
		verb_latency_print_times(total);
		printf("%-8s %s\n", latency_metric_names[i], latency_metric_titles[i]);
	}
	if (open)
		printf("OPEN: begun before the recording, not ended in it, or cut by a loss or a "
		       "pause;\nnot in the other columns\n");
	return any;
}

static void verb_latency_print_balance(const struct latency_input *in)
{
	const struct run_queues *q = latencies_run_queues(in->latencies);

	if (q->known_ns == 0)
		return;
	printf("threads waited for a CPU while another CPU was idle: %.2f%% of the time\n",
	       100.0 * (double)q->idle_beside_queue_ns / (double)q->known_ns);
	printf("running and waiting threads: %.2f for each CPU, at most %" PRIu32 " (CPU %" PRIu32
	       ", +%.6f s)%s\n",
	       (double)q->queue_ns / (double)q->known_ns / (double)q->n_cpus, q->longest_queue,
	       q->longest_cpu, (double)(q->longest_at_ns - in->summary->start_ns) / 1e9,
	       in->summary->filtered ? "; other threads were not recorded" : "");
}

static int verb_latency_print_text(const struct latency_options *o, const struct latency_input *in,
				   const struct open_trace *t)
{
	const struct summary *s = in->summary;

	printf("%s: %s", t->name, TEXT_TIME(s->duration_ns));
	if (s->recorded_ns < s->duration_ns)
		printf(", %s of it recorded", TEXT_TIME(s->recorded_ns));
	printf("\n");
	if (verb_latency_lacks_wakeups(s))
		printf("wakeups were not recorded all the time: meanwhile, waits of woken threads "
		       "for a CPU\ncount as blocked\n");
	printf("\n");
	if (!verb_latency_print_metrics(o, in)) {
		if (*o->words)
			printf("no selected thread has a duration that ends in this time\n");
		return CLI_OK;
	}
	if (!o->any_chosen && !*o->words)
		verb_latency_print_balance(in);
	for (enum latency_metric i = 0; i < LATENCY_METRICS; i++) {
		int r = CLI_OK;

		if (!verb_latency_shows(o, in, i))
			continue;
		if (o->by != LATENCIES_TOTAL)
			r = verb_latency_print_rows(o, in, i);
		else if (o->any_chosen || i == LATENCY_WAKEUP)
			verb_latency_print_bars(i, &latencies_total(in->latencies, i)->times);
		if (r != CLI_OK)
			return r;
	}
	return CLI_OK;
}

/* ---- the verb ---- */

/* Returns true if a metric of scheduling is shown. */
static bool verb_latency_needs_switches(const struct latency_options *o)
{
	return !o->any_chosen || o->chosen[LATENCY_WAKEUP] || o->chosen[LATENCY_READY] ||
	       o->chosen[LATENCY_BLOCKED] || o->chosen[LATENCY_RUN];
}

/* Reports that METRIC, which was chosen, has no durations. */
static void verb_latency_say_none(const struct latency_options *o, const struct open_trace *t,
				  enum latency_metric metric)
{
	bool all = !o->part.has_from && !o->part.has_to;

	cli_error("%s contains no durations of '%s'%s%s%s%s", t->name, latency_metric_names[metric],
		  all ? "" : " that end in the window", categories[metric] ? "; 'kymo record " : "",
		  categories[metric] ?: "", categories[metric] ? "' records them" : "");
}

/*
 * Reports the data that the archive lacks. Returns CLI_OK if a metric is shown, or if the archive
 * lacks the requested switches because there were none; otherwise CLI_FAILED.
 */
static int verb_latency_say_missing(const struct latency_options *o, const struct latency_input *in,
				    const struct open_trace *t)
{
	bool scheduled = in->summary->switches > 0, any = false;
	int r = CLI_FAILED;

	if (!scheduled && verb_latency_needs_switches(o))
		r = nothing_there_say(&t->parts, NOTHING_SWITCHES, t->name);
	for (enum latency_metric i = 0; i < LATENCY_METRICS; i++) {
		any |= verb_latency_shows(o, in, i);
		if (o->chosen[i] && !verb_latency_has(in, i) && (scheduled || i > LATENCY_RUN))
			verb_latency_say_none(o, t, i);
	}
	if (!any && scheduled && !o->any_chosen)
		cli_error("%s contains no durations%s", t->name,
			  o->part.has_from || o->part.has_to ? " that end in the window" : "");
	return any ? CLI_OK : r;
}

static int verb_latency_run(const struct latency_options *o, const char *path)
{
	_cleanup_(verb_latency_input_deinit) struct latency_input in = { 0 };
	const struct latencies_options options = {
		.by = o->by,
		.from_ns = o->part.from_ns,
		.to_ns = o->part.to_ns,
		.absolute = part_options_absolute(&o->part),
		.wants = *o->words ? verb_latency_wants : NULL,
		.userdata = &in,
	};
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	int r, status;

	if (summary_new(&in.summary) < 0 || latencies_new(&in.latencies, &options, in.summary) < 0)
		return cli_failed("out of memory");
	r = open_trace(&t, path) ?: read_events(&t, verb_latency_on_event, &in);
	if (r != CLI_OK)
		return r;
	if (summary_finish(in.summary) < 0)
		return cli_failed("out of memory");
	r = verb_latency_choose(o, &in);
	if (r != CLI_OK)
		return r;
	if (latencies_finish(in.latencies) < 0)
		return cli_failed("out of memory");
	status = verb_latency_say_missing(o, &in, &t);
	if (status != CLI_OK) {
		/*
		 * (printed here, too, since a loss can be the reason why there is nothing to show)
		 */
		read_events_finish(&t, in.summary);
		return status;
	}
	r = o->json ? verb_latency_print_json(o, &in, &t) : verb_latency_print_text(o, &in, &t);
	return r != CLI_OK ? r : read_events_finish(&t, in.summary);
}

static int verb_latency_parse_by(void *by, char *text)
{
	int i = STRING_TABLE_FIND(latencies_by_names, text);

	if (i <= LATENCIES_TOTAL)
		return cli_usage_error("--by: '%s' must be one of thread, process, cpu, unit, "
				       "cgroup and name",
				       text);
	*(enum latencies_by *)by = (enum latencies_by)i;
	return CLI_OK;
}

static int verb_latency_parse_metrics(void *options, char *text)
{
	struct latency_options *o = options;

	for (char *rest = text, *word; (word = strsep(&rest, ","));) {
		int i = STRING_TABLE_FIND(latency_metric_names, word);

		if (i < 0)
			return cli_usage_error("--metric: '%s' must be one of wakeup, ready, "
					       "blocked, run, call, irq, softirq, work and "
					       "block",
					       word);
		o->chosen[i] = o->any_chosen = true;
	}
	return CLI_OK;
}

static int verb_latency_parse_top(void *top, char *text)
{
	if (text_parse_u64(text, UINT32_MAX, top) < 0)
		return cli_usage_error("'%s' is not a number of rows", text);
	return CLI_OK;
}

static int verb_latency(int argc, char **argv)
{
	struct latency_options o = { .part = PART_OPTIONS_ALL, .top = ROWS_SHOWN };
	const struct verb_option options[] = {
		OPTION_VALUE("by", 0, verb_latency_parse_by, &o.by),
		OPTION_VALUE("from", 0, part_options_from, &o.part),
		OPTION_FLAG("json", &o.json),
		OPTION_VALUE("metric", 0, verb_latency_parse_metrics, &o),
		OPTION_VALUE("to", 0, part_options_to, &o.part),
		OPTION_VALUE("top", 'n', verb_latency_parse_top, &o.top),
		{ 0 },
	};
	int r = verb_options_parse(argc, argv, options);

	if (r != VERB_OPTIONS_GO)
		return r;
	if (argc == optind)
		return cli_usage_error("expected a FILE, and threads, processes, units or cgroups");
	o.words = argv + optind + 1;
	r = part_options_check(&o.part);
	return r != CLI_OK ? r : verb_latency_run(&o, argv[optind]);
}

const struct verb verb_latency_row = {
	.name = "latency",
	.synopsis = "[OPTION ...] FILE [WHOM ...]",
	.what = "Show the distributions of waits, runs, calls, interrupts and requests",
	.examples = "  kymo latency t.fxt\n  kymo latency --metric wakeup --by process t.fxt\n"
		    "  kymo latency t.fxt redis-server\n",
	.options =
		"      --metric=LIST  only wakeup, ready, blocked, run, call, irq, softirq, work or\n"
		"                     block, with a histogram of each\n"
		"      --by=WHAT      show a row for each thread, process, cpu, unit, cgroup or name\n"
		"                     (of functions, handlers, vectors, devices and operations;\n"
		"                     otherwise of threads)\n"
		"  -n, --top=N        show N rows (20)\n"
		"      --from=T       only durations that end after T: seconds, \"200ms\" or @NS\n"
		"      --to=T         only durations that end before T\n"
		"      --json         print everything as JSON\n"
		"  -h, --help         show this\n"
		"\nFILE is an archive; '-' is standard input. Each WHOM selects threads: a process or\n"
		"thread (an id, or a name with * and ?), a systemd unit, or a cgroup (/PATH).\n"
		"Exits with 3 if the archive is damaged or events were lost in the recording, and with 1 if\n"
		"it has nothing of what was asked for.\n",
	.run = verb_latency,
};
