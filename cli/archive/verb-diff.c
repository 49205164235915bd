/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo diff: shows the differences between two recordings.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "cli/common/json.h"
#include "cli/common/read-events.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "reader/views/summary-diff.h"

enum { ROWS_SHOWN = 20, CPUS_SHOWN = 16, LABEL_MAX = 60 };

static const char side_names[DIFF_SIDES] = { 'A', 'B' };

/* The unit of a value. */
enum unit {
	UNIT_SHARE, /* a share of time, as a percentage */
	UNIT_RATE,  /* per second */
	UNIT_TIME,  /* nanoseconds */
};

static const struct {
	const char *name; /* value of --by */
	const char *what;
	enum unit unit;
} metrics[DIFF_METRIC_MAX] = {
	[DIFF_CPU] = { "cpu", "CPU time", UNIT_SHARE },
	[DIFF_SWITCHES] = { "switches", "switches", UNIT_RATE },
	[DIFF_LATENCY] = { "latency", "mean latency from wakeup to running", UNIT_TIME },
	[DIFF_P50] = { "p50", "median latency from wakeup to running", UNIT_TIME },
	[DIFF_P99] = { "p99", "99th percentile of the latency from wakeup to running", UNIT_TIME },
	[DIFF_P99_9] = { "p99.9", "99.9th percentile of the latency from wakeup to running",
			 UNIT_TIME },
	[DIFF_WAIT] = { "wait", "time on a run queue", UNIT_SHARE },
};

struct diff_options {
	enum diff_metric by;
	uint64_t top;
	bool all; /* show all rows, without the limit of --top */
	bool by_thread, json;
};

struct recording_pair {
	struct open_trace trace[DIFF_SIDES];
	struct diff_input input[DIFF_SIDES];
	struct summary_diff *diff;
};

static void verb_diff_pair_deinit(struct recording_pair *p)
{
	summary_diff_free(p->diff);
	for (enum diff_side_index i = 0; i < DIFF_SIDES; i++) {
		diff_input_deinit(&p->input[i]);
		open_trace_close(&p->trace[i]);
	}
}

static const struct summary *verb_diff_summary_of(const struct recording_pair *p,
						  enum diff_side_index i)
{
	return p->input[i].summary;
}

static double verb_diff_per_second(const struct recording_pair *p, enum diff_side_index i,
				   uint64_t n)
{
	uint64_t ns = verb_diff_summary_of(p, i)->recorded_ns;

	return ns ? (double)n * 1e9 / (double)ns : 0;
}

/* Returns the busy share of CPU, from 0 to 1; negative if the CPU is not in the archive. */
static double verb_diff_cpu_busy(const struct recording_pair *p, enum diff_side_index i, size_t cpu)
{
	const struct summary *s = verb_diff_summary_of(p, i);

	if (cpu >= s->n_cpus || !s->cpus[cpu].seen)
		return -1;
	return s->recorded_ns ? (double)s->cpus[cpu].busy_ns / (double)s->recorded_ns : 0;
}

/* Returns the busy share of all CPUs in the archive. */
static double verb_diff_all_busy(const struct recording_pair *p, enum diff_side_index i)
{
	double sum = 0;
	size_t n = 0;

	for (size_t cpu = 0; cpu < verb_diff_summary_of(p, i)->n_cpus; cpu++) {
		double busy = verb_diff_cpu_busy(p, i, cpu);

		if (busy < 0)
			continue;
		sum += busy;
		n++;
	}
	return n ? sum / (double)n : 0;
}

/* ---- text ---- */

/* Formats a value in UNIT. NAN is a missing value. */
static const char *verb_diff_format_value(char *to, enum unit unit, double value)
{
	if (isnan(value))
		strcpy(to, "-");
	else if (unit == UNIT_SHARE)
		snprintf(to, TEXT_FORMAT_MAX, "%.2f%%", 100 * value);
	else if (unit == UNIT_RATE)
		snprintf(to, TEXT_FORMAT_MAX, value < 100 ? "%.1f/s" : "%.0f/s", value);
	else
		text_format_time(to, (uint64_t)value);
	return to;
}

static const char *verb_diff_format_change(char *to, enum unit unit, double a, double b)
{
	char value[TEXT_FORMAT_MAX];

	if (isnan(a) || isnan(b))
		return strcpy(to, "");
	if (unit == UNIT_SHARE)
		snprintf(value, sizeof(value), "%.2f pp", 100 * fabs(b - a));
	else
		verb_diff_format_value(value, unit, fabs(b - a));
	snprintf(to, TEXT_FORMAT_MAX, "%c%.*s", b < a ? '-' : '+', TEXT_FORMAT_MAX - 2, value);
	return to;
}

static const char *verb_diff_format_relative(char *to, double a, double b)
{
	if (isnan(a) || isnan(b))
		return strcpy(to, isnan(a) && isnan(b) ? "" : isnan(a) ? "only B" : "only A");
	if (a == b)
		return strcpy(to, "=");
	if (a <= 0)
		return strcpy(to, "new");
	if (b > 10 * a)
		snprintf(to, TEXT_FORMAT_MAX, "x%.1f", b / a);
	else
		snprintf(to, TEXT_FORMAT_MAX, "%+.1f%%", 100 * (b - a) / a);
	return to;
}

static void verb_diff_print_recording(const struct recording_pair *p, enum diff_side_index i)
{
	const struct summary *s = verb_diff_summary_of(p, i);

	printf("%c: %s, %s", side_names[i], p->trace[i].name, TEXT_TIME(s->duration_ns));
	if (s->started)
		printf(" of %s (%s, Linux %s)", *s->recording.host ? s->recording.host : "?",
		       s->recording.machine, s->recording.kernel);
	if (s->started && !summary_is_complete(s))
		printf(", cut off");
	if (s->recorded_ns < s->duration_ns)
		printf(", %.1f%% of it recorded",
		       100.0 * (double)s->recorded_ns / (double)s->duration_ns);
	putchar('\n');
}

/* Prints the reasons why the recordings are hard to compare. */
static void verb_diff_print_notes(const struct recording_pair *p)
{
	const struct summary *a = verb_diff_summary_of(p, DIFF_A),
			     *b = verb_diff_summary_of(p, DIFF_B);

	if (a->started && b->started && a->filtered != b->filtered)
		printf("Only %c was recorded with a filter, so it contains less.\n",
		       side_names[a->filtered ? DIFF_A : DIFF_B]);
	else if (a->filtered && b->filtered &&
		 strcmp(a->recording.options, b->recording.options) != 0)
		printf("They were recorded with different options: A: %s; B: %s\n",
		       a->recording.options, b->recording.options);
	for (enum diff_side_index i = 0; i < DIFF_SIDES; i++)
		if (summary_lost(verb_diff_summary_of(p, i)) != 0)
			printf("%c lost %" PRIu64 " events during its recording: its numbers are "
			       "too low.\n",
			       side_names[i], summary_lost(verb_diff_summary_of(p, i)));
}

/* Prints a line that ends with MARK. */
static void verb_diff_print_marked(const char *what, enum unit unit, double a, double b,
				   const char *mark)
{
	char from[TEXT_FORMAT_MAX], to[TEXT_FORMAT_MAX], change[TEXT_FORMAT_MAX],
		relative[TEXT_FORMAT_MAX];

	printf("%-22s %12s %12s %12s %9s%s\n", what, verb_diff_format_value(from, unit, a),
	       verb_diff_format_value(to, unit, b), verb_diff_format_change(change, unit, a, b),
	       verb_diff_format_relative(relative, a, b), mark);
}

static void verb_diff_print_line(const char *what, enum unit unit, double a, double b)
{
	verb_diff_print_marked(what, unit, a, b, "");
}

struct cpu_change {
	size_t cpu;
	double busy[DIFF_SIDES];
};

static double verb_diff_size_of_change(const struct cpu_change *c)
{
	return fabs(c->busy[DIFF_B] - c->busy[DIFF_A]);
}

DEFINE_ORDER(compare_cpus, struct cpu_change, COMPARE(x->cpu, y->cpu))

DEFINE_ORDER(compare_cpu_changes, struct cpu_change,
	     COMPARE(verb_diff_size_of_change(y), verb_diff_size_of_change(x))
		     ?: compare_cpus(x, y))

/* Prints the CPUs that are in both recordings. If there are many, only those that changed most. */
static int verb_diff_print_cpus(const struct recording_pair *p)
{
	size_t n = 0, most = verb_diff_summary_of(p, DIFF_A)->n_cpus;
	_cleanup_free_ struct cpu_change *cpus = calloc(most + 1, sizeof(*cpus));

	if (!cpus)
		return -ENOMEM;
	for (size_t cpu = 0; cpu < most; cpu++) {
		struct cpu_change c = { cpu,
					{ verb_diff_cpu_busy(p, DIFF_A, cpu),
					  verb_diff_cpu_busy(p, DIFF_B, cpu) } };

		if (c.busy[DIFF_A] >= 0 && c.busy[DIFF_B] >= 0)
			cpus[n++] = c;
	}
	if (n > CPUS_SHOWN) {
		SORT(cpus, n, compare_cpu_changes);
		SORT(cpus, CPUS_SHOWN, compare_cpus);
	}
	for (size_t i = 0; i < n && i < CPUS_SHOWN; i++) {
		char what[32];

		snprintf(what, sizeof(what), "  CPU %zu", cpus[i].cpu);
		verb_diff_print_line(what, UNIT_SHARE, cpus[i].busy[DIFF_A], cpus[i].busy[DIFF_B]);
	}
	if (n > CPUS_SHOWN)
		printf("  ... and %zu CPUs that changed less\n", n - CPUS_SHOWN);
	return 0;
}

static double verb_diff_some(const struct latency *l, uint64_t ns)
{
	return l->n ? (double)ns : NAN;
}

/* Prints the percentile PERCENT of the wakeup latencies. Returns whether it is significant. */
static bool verb_diff_print_percentile(const char *what, const struct recording_pair *p,
				       double percent)
{
	const struct latency *a = &p->diff->total[DIFF_A].latency,
			     *b = &p->diff->total[DIFF_B].latency;
	bool small = (a->n && diff_is_percentile_small(a, percent)) ||
		     (b->n && diff_is_percentile_small(b, percent));

	verb_diff_print_marked(what, UNIT_TIME,
			       verb_diff_some(a, latency_percentile_ns(a, percent)),
			       verb_diff_some(b, latency_percentile_ns(b, percent)),
			       small ? "~" : "");
	return !small;
}

static int verb_diff_print_totals(const struct recording_pair *p)
{
	const struct summary *a = verb_diff_summary_of(p, DIFF_A),
			     *b = verb_diff_summary_of(p, DIFF_B);
	const struct diff_sums *x = &p->diff->total[DIFF_A], *y = &p->diff->total[DIFF_B];
	const struct latency *la = &x->latency, *lb = &y->latency;
	bool all;

	printf("\n%-22s %12s %12s %12s %9s\n", "", "A", "B", "CHANGE", "RELATIVE");
	verb_diff_print_line("CPUs busy", UNIT_SHARE, verb_diff_all_busy(p, DIFF_A),
			     verb_diff_all_busy(p, DIFF_B));
	if (verb_diff_print_cpus(p) < 0)
		return -ENOMEM;
	verb_diff_print_line("switches", UNIT_RATE, verb_diff_per_second(p, DIFF_A, a->switches),
			     verb_diff_per_second(p, DIFF_B, b->switches));
	verb_diff_print_line("wakeups", UNIT_RATE, verb_diff_per_second(p, DIFF_A, a->wakeups),
			     verb_diff_per_second(p, DIFF_B, b->wakeups));
	verb_diff_print_line("migrations", UNIT_RATE,
			     verb_diff_per_second(p, DIFF_A, a->migrations),
			     verb_diff_per_second(p, DIFF_B, b->migrations));
	verb_diff_print_line("forks", UNIT_RATE, verb_diff_per_second(p, DIFF_A, a->forks),
			     verb_diff_per_second(p, DIFF_B, b->forks));
	verb_diff_print_line("waiting for a CPU", UNIT_SHARE,
			     summary_diff_value(p->diff, DIFF_A, x, DIFF_WAIT),
			     summary_diff_value(p->diff, DIFF_B, y, DIFF_WAIT));
	verb_diff_print_line("wakeup latency, mean", UNIT_TIME,
			     verb_diff_some(la, latency_mean_ns(la)),
			     verb_diff_some(lb, latency_mean_ns(lb)));
	all = verb_diff_print_percentile("                median", p, 50);
	all &= verb_diff_print_percentile("                99 %", p, 99);
	all &= verb_diff_print_percentile("                99.9 %", p, 99.9);
	verb_diff_print_line("                most", UNIT_TIME, verb_diff_some(la, la->max_ns),
			     verb_diff_some(lb, lb->max_ns));
	if (!all)
		printf("~ fewer than %d latencies in A or B are beyond the percentile: not significant\n",
		       DIFF_SAMPLES_FEW);
	return 0;
}

/* Prints the cells of one side in a row. */
static void verb_diff_print_cells(const struct summary_diff *d, const struct diff_row *row,
				  enum diff_side_index i, enum diff_metric by)
{
	const struct diff_sums *s = &row->side[i];
	char sum[TEXT_FORMAT_MAX], value[TEXT_FORMAT_MAX];

	if (!diff_row_has(row, i, by)) {
		printf(" %9s %9s", "-", "-");
		return;
	}
	switch (by) {
	case DIFF_CPU:
		text_format_time(sum, s->cpu_ns);
		break;
	case DIFF_WAIT:
		text_format_time(sum, s->wait_ns);
		break;
	case DIFF_SWITCHES:
		snprintf(sum, sizeof(sum), "%" PRIu64, s->switches);
		break;
	case DIFF_LATENCY:
		text_format_time(sum, latency_percentile_ns(&s->latency, 99));
		break;
	default:
		snprintf(sum, sizeof(sum), "%" PRIu64, s->latency.n);
		break;
	}
	printf(" %9s %9s", sum,
	       verb_diff_format_value(value, metrics[by].unit, summary_diff_value(d, i, s, by)));
}

/*
 * Prints the name of the row, and its command line if that distinguishes it from other rows with
 * the same name.
 */
static void verb_diff_print_label(const struct diff_row *row)
{
	uint64_t a = row->side[DIFF_A].n_processes, b = row->side[DIFF_B].n_processes;

	if (row->thread) {
		printf("%s", row->thread);
		if (strcmp(row->thread, row->name) != 0)
			printf(" (%s)", row->name);
	} else if (row->several && row->command_line) {
		printf("%.*s%s", LABEL_MAX, row->command_line,
		       strlen(row->command_line) > LABEL_MAX ? "..." : "");
	} else {
		printf("%s%s", row->name, row->others ? ", others" : "");
	}
	if (a > 1 || b > 1)
		printf(" [%" PRIu64 ", %" PRIu64 "]", a, b);
	putchar('\n');
}

static double verb_diff_row_value(const struct summary_diff *d, const struct diff_row *row,
				  enum diff_side_index i, enum diff_metric by)
{
	return diff_row_has(row, i, by) ? summary_diff_value(d, i, &row->side[i], by) : NAN;
}

static void verb_diff_print_row(const struct summary_diff *d, const struct diff_row *row,
				enum diff_metric by)
{
	double a = verb_diff_row_value(d, row, DIFF_A, by),
	       b = verb_diff_row_value(d, row, DIFF_B, by);
	char change[TEXT_FORMAT_MAX], relative[TEXT_FORMAT_MAX];

	verb_diff_print_cells(d, row, DIFF_A, by);
	verb_diff_print_cells(d, row, DIFF_B, by);
	verb_diff_format_relative(relative, a, b);
	/*
	 * A task that one recording does not have used no resources there, but its latency is not
	 * 0.
	 */
	if (diff_metric_is_latency(by))
		verb_diff_format_change(change, metrics[by].unit, a, b);
	else
		verb_diff_format_change(change, metrics[by].unit, isnan(a) ? 0 : a,
					isnan(b) ? 0 : b);
	printf(" %10s %9s%c ", change, relative, diff_row_is_small(row, by) ? '~' : ' ');
	verb_diff_print_label(row);
}

static void verb_diff_print_rows(const struct recording_pair *p, const struct diff_options *o)
{
	static const char *const sums[DIFF_METRIC_MAX] = {
		[DIFF_CPU] = "CPU",       [DIFF_SWITCHES] = "SWITCHES", [DIFF_LATENCY] = "99 %",
		[DIFF_P50] = "WAKEUPS",   [DIFF_P99] = "WAKEUPS",       [DIFF_WAIT] = "WAIT",
		[DIFF_P99_9] = "WAKEUPS",
	};
	static const char *const values[DIFF_METRIC_MAX] = {
		[DIFF_CPU] = "%",        [DIFF_SWITCHES] = "RATE", [DIFF_LATENCY] = "MEAN",
		[DIFF_P50] = "50 %",     [DIFF_P99] = "99 %",      [DIFF_WAIT] = "%",
		[DIFF_P99_9] = "99.9 %",
	};
	const struct summary_diff *d = p->diff;
	bool small = false;
	size_t i;

	if (d->n_rows == 0)
		return;
	printf("\nBy change of %s, A and then B:\n", metrics[o->by].what);
	printf(" %9s %9s %9s %9s %10s %9s  %s\n", sums[o->by], values[o->by], sums[o->by],
	       values[o->by], "CHANGE", "RELATIVE", o->by_thread ? "THREAD" : "PROCESS");
	for (i = 0; i < d->n_rows && i < o->top; i++) {
		verb_diff_print_row(d, &d->rows[i], o->by);
		small |= diff_row_is_small(&d->rows[i], o->by);
	}
	if (i < d->n_rows)
		printf("  ... and %zu that changed less (--top shows more)\n", d->n_rows - i);
	if (small)
		printf("~ fewer than %d events in A or B%s: not significant\n", DIFF_SAMPLES_FEW,
		       diff_metric_is_latency(o->by) && o->by != DIFF_LATENCY
			       ? " are beyond this percentile"
			       : "");
}

static int verb_diff_print_text(const struct recording_pair *p, const struct diff_options *o)
{
	verb_diff_print_recording(p, DIFF_A);
	verb_diff_print_recording(p, DIFF_B);
	verb_diff_print_notes(p);
	if (verb_diff_print_totals(p) < 0)
		return cli_failed("out of memory");
	verb_diff_print_rows(p, o);
	return CLI_OK;
}

/* ---- JSON ---- */

static struct json_object *verb_diff_json_latency(const struct latency *l)
{
	return JSON_OBJECT(JSON("count", l->n), JSON("mean_ns", latency_mean_ns(l)),
			   JSON("p50_ns", latency_percentile_ns(l, 50)),
			   JSON("p90_ns", latency_percentile_ns(l, 90)),
			   JSON("p99_ns", latency_percentile_ns(l, 99)),
			   JSON("p99_9_ns", latency_percentile_ns(l, 99.9)), JSON_OF(l, max_ns));
}

static struct json_object *verb_diff_json_sums(const struct recording_pair *p,
					       enum diff_side_index i, const struct diff_sums *s)
{
	return JSON_OBJECT(JSON("count", s->n_processes), JSON_OF(s, cpu_ns),
			   JSON("cpu", summary_diff_value(p->diff, i, s, DIFF_CPU)),
			   JSON_OF(s, wait_ns),
			   JSON("wait", summary_diff_value(p->diff, i, s, DIFF_WAIT)),
			   JSON_OF(s, switches),
			   JSON("switches_per_s", verb_diff_per_second(p, i, s->switches)),
			   JSON_OF(s, preempted, wakeups),
			   JSON("wakeups_per_s", verb_diff_per_second(p, i, s->wakeups)),
			   JSON("wakeup_latency", verb_diff_json_latency(&s->latency)));
}

static struct json_object *verb_diff_json_recording(const struct recording_pair *p,
						    enum diff_side_index i)
{
	const struct summary *s = verb_diff_summary_of(p, i);
	struct json_object *o = JSON_OBJECT(JSON("file", json_from_text(p->trace[i].name)),
					    JSON_OF(s, duration_ns, recorded_ns));

	if (s->started)
		JSON_ADD(o, JSON_OF(&s->recording, host, machine, kernel, options),
			 JSON_OF(s, filtered));
	return JSON_ADD(o, JSON("complete", json_boolean(summary_is_complete(s))),
			JSON("damage", p->trace[i].n_damages), JSON("lost", summary_lost(s)),
			JSON("busy", verb_diff_all_busy(p, i)),
			JSON_OF(s, switches, wakeups, migrations, forks),
			JSON("total", verb_diff_json_sums(p, i, &p->diff->total[i])));
}

static struct json_object *verb_diff_json_cpus(const struct recording_pair *p)
{
	struct json_object *list = json_object_new_array();
	size_t n_a = verb_diff_summary_of(p, DIFF_A)->n_cpus,
	       n_b = verb_diff_summary_of(p, DIFF_B)->n_cpus;

	for (size_t cpu = 0; cpu < (n_a > n_b ? n_a : n_b); cpu++) {
		double a = verb_diff_cpu_busy(p, DIFF_A, cpu),
		       b = verb_diff_cpu_busy(p, DIFF_B, cpu);

		if (a >= 0 || b >= 0)
			json_append_item(list,
					 JSON_OBJECT(JSON("cpu", cpu), JSON_IF(a >= 0, "busy_a", a),
						     JSON_IF(b >= 0, "busy_b", b)));
	}
	return list;
}

static struct json_object *verb_diff_json_row(const struct recording_pair *p,
					      const struct diff_row *row, enum diff_metric by)
{
	const struct diff_sums *a = &row->side[DIFF_A], *b = &row->side[DIFF_B];

	return JSON_OBJECT(JSON_OF(row, name), JSON_IF(row->thread, "thread", row->thread),
			   JSON_IF(row->command_line, "command_line", row->command_line),
			   JSON_IF(row->others, "others", json_boolean(true)),
			   JSON("small", json_boolean(diff_row_is_small(row, by))),
			   JSON("a", a->n_processes ? verb_diff_json_sums(p, DIFF_A, a) : NULL),
			   JSON("b", b->n_processes ? verb_diff_json_sums(p, DIFF_B, b) : NULL));
}

static void verb_diff_print_json(const struct recording_pair *p, const struct diff_options *o)
{
	size_t n = o->all || o->top > p->diff->n_rows ? p->diff->n_rows : o->top;

	json_print_pretty(JSON_OBJECT(
		JSON("a", verb_diff_json_recording(p, DIFF_A)),
		JSON("b", verb_diff_json_recording(p, DIFF_B)),
		JSON("cpus", verb_diff_json_cpus(p)), JSON("by", metrics[o->by].name),
		JSON(o->by_thread ? "threads" : "processes",
		     JSON_LIST(row, p->diff->rows, n, verb_diff_json_row(p, row, o->by)))));
}

/* ---- the verb ---- */

static int verb_diff_on_event(void *userdata, const struct event *ev)
{
	return diff_input_add(userdata, ev);
}

static int verb_diff_read_side(struct recording_pair *p, enum diff_side_index i, const char *path)
{
	int r;

	if (diff_input_init(&p->input[i]) < 0)
		return cli_failed("out of memory");
	r = open_trace(&p->trace[i], path)
		    ?: read_events(&p->trace[i], verb_diff_on_event, &p->input[i]);
	if (r == CLI_OK)
		summary_finish(p->input[i].summary);
	return r;
}

/* Reports the data that the archives lack: data that was requested, and the times of threads. */
static void verb_diff_say_missing(const struct recording_pair *p)
{
	for (enum diff_side_index i = 0; i < DIFF_SIDES; i++) {
		const struct nothing_there *parts = &p->trace[i].parts;

		nothing_there_say_missing(parts, p->trace[i].name);
		if (!((parts->recording_request | parts->seen) & 1u << NOTHING_SWITCHES))
			nothing_there_say(parts, NOTHING_SWITCHES, p->trace[i].name);
	}
}

static int verb_diff_finish(struct recording_pair *p)
{
	int a = read_events_finish(&p->trace[DIFF_A], verb_diff_summary_of(p, DIFF_A));
	int b = read_events_finish(&p->trace[DIFF_B], verb_diff_summary_of(p, DIFF_B));

	verb_diff_say_missing(p);
	return a != CLI_OK ? a : b;
}

static int verb_diff_run_diff(const struct diff_options *o, char **paths)
{
	_cleanup_(verb_diff_pair_deinit) struct recording_pair p = { .trace = { OPEN_TRACE_NULL,
										OPEN_TRACE_NULL } };
	int r = CLI_OK;

	for (enum diff_side_index i = 0; r == CLI_OK && i < DIFF_SIDES; i++)
		r = verb_diff_read_side(&p, i, paths[i]);
	if (r != CLI_OK)
		return r;
	if (summary_diff_new(&p.input[DIFF_A], &p.input[DIFF_B], o->by_thread, &p.diff) < 0)
		return cli_failed("out of memory");
	summary_diff_sort(p.diff, o->by);
	if (o->json)
		verb_diff_print_json(&p, o);
	else if (verb_diff_print_text(&p, o) != CLI_OK)
		return CLI_FAILED;
	return verb_diff_finish(&p);
}

static int verb_diff_parse_metric(void *options, char *text)
{
	struct diff_options *o = options;

	for (enum diff_metric m = 0; m < DIFF_METRIC_MAX; m++) {
		if (strcmp(metrics[m].name, text) == 0) {
			o->by = m;
			return CLI_OK;
		}
	}
	return cli_usage_error("--by: '%s' must be one of cpu, switches, latency, p50, p99, "
			       "p99.9 and wait",
			       text);
}

static int verb_diff_parse_top(void *options, char *text)
{
	struct diff_options *o = options;

	o->all = false;
	if (text_parse_u64(text, UINT32_MAX, &o->top) < 0)
		return cli_usage_error("'%s' is not a number of rows", text);
	return CLI_OK;
}

static int verb_diff(int argc, char **argv)
{
	struct diff_options o = { .top = ROWS_SHOWN, .all = true };
	const struct verb_option options[] = {
		OPTION_VALUE("by", 0, verb_diff_parse_metric, &o),
		OPTION_FLAG("json", &o.json),
		OPTION_FLAG("threads", &o.by_thread),
		OPTION_VALUE("top", 'n', verb_diff_parse_top, &o),
		{ 0 },
	};
	int r = verb_options_parse_with(
		argc, argv, options, 2,
		"expected two files, A and B; one can be '-' for standard input");

	if (r != VERB_OPTIONS_GO)
		return r;
	if (strcmp(argv[optind], "-") == 0 && strcmp(argv[optind + 1], "-") == 0)
		return cli_usage_error("only one of the two can be standard input");
	return verb_diff_run_diff(&o, argv + optind);
}

const struct verb verb_diff_row = {
	.name = "diff",
	.synopsis = "[OPTION ...] A B",
	.what = "Compare two recordings",
	.examples =
		"  kymo diff before.fxt after.fxt\n  kymo diff --by latency before.fxt after.fxt\n",
	.options =
		"  -n, --top=N      show the N rows that changed most (20)\n"
		"      --by=WHAT    cpu (the default), switches, latency (mean from wakeup to running),\n"
		"                   p50, p99 or p99.9 (percentiles of it), or wait (time on a run queue)\n"
		"      --threads    a row for each thread name, not each process\n"
		"      --json       print everything as JSON\n"
		"  -h, --help       show this\n"
		"\nA and B are archives; one of them may be '-', standard input.\n"
		"Exits with 3 if one is damaged or events were lost in its recording.\n",
	.run = verb_diff,
};
