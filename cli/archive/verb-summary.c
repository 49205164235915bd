/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo summary: shows a recording on one screen, or all of its sums as JSON.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/value.h"
#include "cli/apitrace/apitrace-summary.h"
#include "cli/common/colour.h"
#include "cli/common/json.h"
#include "cli/common/python-text.h"
#include "cli/common/read-events.h"
#include "cli/common/resolver.h"
#include "cli/common/stacks-text.h"
#include "cli/archive/summary-activity.h"
#include "cli/archive/summary-by.h"
#include "cli/archive/summary-calls.h"
#include "cli/common/nothing-there.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "cli/tfile/tfile-summary.h"
#include "cli/tracedb/tracedb-summary.h"
#include "reader/views/call-tree.h"
#include "reader/views/summary.h"
#include "reader/views/summary-programs.h"

enum { THREADS_SHOWN = 20, MARKS_SHOWN = 20, FUNCTIONS_SHOWN = 10, FUNCTIONS_JSON_MAX = 50 };

/* The computed data. */
struct sums {
	struct summary *summary;
	struct profile *profile;
	struct resolver resolver;
	struct call_sums calls;
	/* By number of samples, descending; NULL if there are no samples. */
	struct call_function *functions;
	size_t n_functions;
};

static void verb_summary_sums_deinit(struct sums *s)
{
	summary_free(s->summary);
	profile_free(s->profile);
	resolver_deinit(&s->resolver);
	call_sums_deinit(&s->calls);
	free(s->functions);
}

static int verb_summary_on_event(void *userdata, const struct event *ev)
{
	struct sums *s = userdata;
	int r = summary_add(s->summary, ev) ?: resolver_add(&s->resolver, ev)
						?: call_sums_add(&s->calls, ev);

	return r < 0 ? r : profile_add(s->profile, ev);
}

/* Computes the functions from the samples. Their names belong to the tree in *RET. */
static int verb_summary_find_functions(struct sums *s, struct call_tree **ret)
{
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	const struct profile_names names = { .find = resolver_find, .userdata = &s->resolver };
	int r;

	if (s->profile->n_samples == 0)
		return 0;
	r = call_tree_new(&t);
	if (r == 0)
		r = call_tree_add(t, s->profile, &(struct call_tree_options){ .names = &names });
	r = r ?: call_tree_finish(t) ?: call_tree_functions(t, &s->functions, &s->n_functions);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(t);
	return 0;
}

/* ---- JSON ---- */

static struct json_object *verb_summary_json_cpu(const struct summary *s,
						 const struct summary_cpu *c)
{
	return c->seen ? JSON_OBJECT(JSON("cpu", c - s->cpus),
				     JSON_OF(c, busy_ns, idle_ns, other_ns, switches))
		       : NULL;
}

/* Returns the programs that the thread T ran before its last program. */
static struct json_object *verb_summary_json_programs(const struct summary *s,
						      const struct summary_thread *t)
{
	struct json_object *list = json_object_new_array();

	for (const struct summary_thread *e = t->earlier; e; e = e->earlier)
		json_append_item(list, JSON_OBJECT(JSON("name", summary_process_name(s, e)),
						   JSON_OF(e, until_ns, cpu_ns, runnable_ns,
							   after_wakeup_ns, until_preempted_ns,
							   blocked_ns, switches, preempted, wakeups,
							   max_wakeup_latency_ns)));
	return list;
}

static struct json_object *verb_summary_json_threads(const struct summary *s)
{
	_cleanup_free_ struct summary_thread **threads = NULL;
	size_t n = 0;

	summary_threads_by_cpu(s, &threads, &n);
	return JSON_LIST(t, threads, n,
			 JSON_OBJECT(JSON_OF(*t, pid, tid),
				     JSON("process", summary_process_name(s, *t)),
				     JSON_OF(*t, name, cpu_ns, runnable_ns, after_wakeup_ns,
					     until_preempted_ns, blocked_ns, switches, preempted,
					     wakeups, max_wakeup_latency_ns),
				     JSON_IF((*t)->earlier, "earlier_programs",
					     verb_summary_json_programs(s, *t))));
}

static struct json_object *verb_summary_json_process(const struct summary_process *p)
{
	struct json_object *o =
		JSON_OBJECT(JSON_OF(p, pid, name), JSON("parent", p->parent_pid),
			    JSON_IF(p->described && p->uid != EVENT_UID_UNKNOWN, "uid", p->uid),
			    JSON_IF(p->command_line, "command_line", p->command_line),
			    JSON_IF(p->cgroup_path, "cgroup_path", p->cgroup_path),
			    JSON_IF(p->start_ns != 0, "start_ns", p->start_ns));

	return p->exited ? JSON_ADD(o, JSON_OF(p, exit_ns, exit_code, signal)) : o;
}

static struct json_object *verb_summary_json_processes(const struct summary *s)
{
	_cleanup_free_ struct summary_process **processes = NULL;
	size_t n = 0;

	summary_processes_by_pid(s, &processes, &n);
	return JSON_LIST(p, processes, n, verb_summary_json_process(*p));
}

static struct json_object *verb_summary_json_sheds(const struct summary *s)
{
	return JSON_LIST(x, s->sheds, s->n_sheds,
			 JSON_OBJECT(JSON_OF(x, ts_ns, what, cost_ppm, limit_ppm),
				     JSON_IF(x->n_cpus, "cpus", x->n_cpus),
				     JSON_IF(x->until_ns, "until_ns", x->until_ns),
				     JSON_IF(x->session, "session", x->session)));
}

static struct json_object *verb_summary_json_profile(const struct sums *s)
{
	size_t n = s->n_functions < FUNCTIONS_JSON_MAX ? s->n_functions : FUNCTIONS_JSON_MAX;

	return JSON_OBJECT(
		JSON("samples", s->profile->n_samples), JSON_OF(s->profile, frequency),
		JSON("functions",
		     JSON_LIST(f, s->functions, n, JSON_OBJECT(JSON_OF(f, name, self, total)))));
}

static int verb_summary_print_json(const struct sums *sums, const struct open_trace *t,
				   enum summary_by by)
{
	const struct summary *s = sums->summary;
	const struct profile *p = sums->profile;
	struct json_object *o = JSON_OBJECT(JSON_OF(s, start_ns, end_ns, duration_ns, recorded_ns)),
			   *python = python_text_json(s);

	if (s->started)
		JSON_ADD(o,
			 JSON_OF(&s->recording, session, command, options, kernel, machine, host,
				 version),
			 JSON_OF(s, filtered),
			 JSON_IF(s->recording.chunk, "chunk", s->recording.chunk));
	JSON_ADD(o, JSON("complete", json_boolean(summary_is_complete(s))),
		 JSON("damage", t->n_damages),
		 JSON("events", JSON_OBJECT(JSON("switch", s->switches), JSON("wakeup", s->wakeups),
					    JSON("migrate", s->migrations), JSON("fork", s->forks),
					    JSON("exec", s->execs), JSON("exit", s->exits))),
		 JSON_OF(s, sched_slices),
		 JSON("lost", JSON_MAP(l, s->lost, s->n_lost, JSON(l->class_name, l->count))),
		 JSON_OF(s, dismissed, unreported),
		 JSON_IF(stacks_walked(s->walks), "stacks", stacks_json(s->walks)),
		 JSON_IF(s->tables.made, "unwind_tables",
			 JSON_OBJECT(JSON_OF((&s->tables), made, failed, evicted, bytes, copied))),
		 JSON_IF(python, "python", python), JSON("damages_repaired", s->n_damages),
		 JSON_IF(profile_n_unmapped(p), "mappings_without_room", profile_n_unmapped(p)),
		 JSON("cpus", JSON_LIST(c, s->cpus, s->n_cpus, verb_summary_json_cpu(s, c))),
		 JSON("threads", verb_summary_json_threads(s)),
		 JSON("processes", verb_summary_json_processes(s)),
		 JSON("marks",
		      JSON_LIST(m, s->marks, s->n_marks, JSON_OBJECT(JSON_OF(m, ts_ns, text)))),
		 JSON_IF(s->n_sheds, "shed", verb_summary_json_sheds(s)),
		 JSON_IF(s->n_triggers, "triggers",
			 JSON_LIST(x, s->triggers, s->n_triggers,
				   JSON_OBJECT(JSON_OF(x, what, count, worst, worst_ns)))),
		 JSON_IF(s->bpf_cpu_ns, "bpf_cpu_ns", s->bpf_cpu_ns),
		 JSON_IF(s->bpf_cpu_ns, "daemon_cpu_ns", s->daemon_cpu_ns),
		 JSON_IF(s->dropped_bytes, "dropped_bytes", s->dropped_bytes));
	summary_activity_json(o, s);
	if (summary_calls_json(o, &sums->calls) < 0) {
		json_object_put(o);
		return -ENOMEM;
	}
	JSON_ADD(o, JSON_IF(p->n_samples, "profile", verb_summary_json_profile(sums)));
	if (by != SUMMARY_BY_MAX && summary_by_json(o, s, by) < 0) {
		json_object_put(o);
		return -ENOMEM;
	}
	json_print_pretty(o);
	return 0;
}

/* ---- text ---- */

static double verb_summary_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static void verb_summary_print_shed(const struct summary *s, const struct summary_shed *shed)
{
	char until[TEXT_FORMAT_MAX] = "on";

	if (shed->until_ns)
		snprintf(until, sizeof(until), "to +%.6f s",
			 (double)(shed->until_ns - s->start_ns) / 1e9);
	printf("no %s", strcmp(shed->what, "session") == 0 ? "recording" : shed->what);
	if (s->many_sessions && shed->session)
		printf(" by session %s", shed->session);
	printf(" from +%.6f s %s: recording took %.2f%% of %s, the limit is %.2f%%\n",
	       (double)(shed->ts_ns - s->start_ns) / 1e9, until,
	       value_share(shed->cost_ppm, shed->n_cpus), value_share_of(shed->n_cpus),
	       value_share(shed->limit_ppm, shed->n_cpus));
	if (strcmp(shed->what, "wakeups") == 0)
		printf("  (until they return, waits of woken threads for a CPU count as blocked)\n");
}

static void verb_summary_print_python(const struct summary *s)
{
	char text[PYTHON_TEXT_MAX];

	if (*python_text_format(text, s->python))
		printf("functions of Python: %s\n", text);
	for (unsigned i = 0; i < s->n_unknown_pythons; i++)
		printf("%s\n", python_text_unknown(text, s->unknown_pythons[i]));
}

static void verb_summary_print_tables(const struct stack_tables *t)
{
	if (t->made == 0)
		return;
	printf("unwind tables: %" PRIu64 ", %s", t->made, TEXT_SIZE(t->bytes));
	if (t->failed)
		printf("; %" PRIu64 " files could not be read", t->failed);
	if (t->evicted)
		printf("; %" PRIu64 " were discarded to save memory (see "
		       "--stack-tables)",
		       t->evicted);
	if (t->copied)
		printf("; %" PRIu64 " stacks were copied before their tables were "
		       "ready",
		       t->copied);
	printf("\n");
}

/* Prints the overhead of the recording, and the parts that were stopped to reduce it. */
static void verb_summary_print_cost(const struct summary *s)
{
	if (s->bpf_cpu_ns)
		printf("recording took %s of CPU time in the kernel and %s in the recorder: "
		       "%.2f%% of a CPU\n",
		       TEXT_TIME(s->bpf_cpu_ns), TEXT_TIME(s->daemon_cpu_ns),
		       verb_summary_percent(s->bpf_cpu_ns + s->daemon_cpu_ns, s->duration_ns));
	for (size_t i = 0; i < s->n_sheds; i++)
		verb_summary_print_shed(s, &s->sheds[i]);
	if (s->recorded_ns < s->duration_ns)
		printf("recorded %s, %.1f%% of the time: CPU times, waits and percentages below "
		       "are of that part\n",
		       TEXT_TIME(s->recorded_ns),
		       verb_summary_percent(s->recorded_ns, s->duration_ns));
}

static void verb_summary_print_header(const struct summary *s, const char *name)
{
	char stacks[STACKS_TEXT_MAX];

	printf("%s: %s", name, TEXT_TIME(s->duration_ns));
	if (s->started)
		printf(" of %s (%s, Linux %s)", *s->recording.host ? s->recording.host : "?",
		       s->recording.machine, s->recording.kernel);
	if (s->recording.chunk)
		printf(", chunk %u", s->recording.chunk);
	printf("\nswitches %" PRIu64 ", wakeups %" PRIu64 ", migrations %" PRIu64 ", forks %" PRIu64
	       ", execs %" PRIu64 ", exits %" PRIu64 "\n",
	       s->switches, s->wakeups, s->migrations, s->forks, s->execs, s->exits);
	if (s->unreported)
		printf("switches that the kernel did not report: %" PRIu64 "\n", s->unreported);
	if (stacks_walked(s->walks))
		printf("stacks of programs: %s\n", stacks_text_format(stacks, s->walks));
	verb_summary_print_python(s);
	verb_summary_print_tables(&s->tables);
	if (s->n_damages)
		printf("places where the archive was damaged before it was repaired: %" PRIu64 "\n",
		       s->n_damages);
	verb_summary_print_cost(s);
	if (s->dropped_bytes)
		printf("the flight recorder had no room for %s, and discarded all data before "
		       "that: enlarge it with --keep-size\n",
		       TEXT_SIZE(s->dropped_bytes));
	if (s->started && !s->stopped)
		printf("%sThe recording was cut off%s; it ends with the last event that was saved.\n",
		       colour(COLOUR_WARNING), colour(COLOUR_OFF));
	else if (s->cut_off)
		printf("%sOne of the recordings was cut off%s; its times end with its last event "
		       "that was saved.\n",
		       colour(COLOUR_WARNING), colour(COLOUR_OFF));
}

/* Prints the CPUs. Returns false if no scheduling was recorded. */
static bool verb_summary_print_cpus(const struct summary *s)
{
	bool other = false, seen = false;

	for (size_t i = 0; i < s->n_cpus; i++) {
		other |= s->cpus[i].other_ns != 0;
		seen |= s->cpus[i].seen;
	}
	if (!seen)
		return false;
	printf("\n%s  CPU    BUSY%s     SWITCHES%s\n", colour(COLOUR_HEADING),
	       other ? "   OTHER" : "", colour(COLOUR_OFF));
	for (size_t i = 0; i < s->n_cpus; i++) {
		const struct summary_cpu *cpu = &s->cpus[i];

		if (!cpu->seen)
			continue;
		printf("%5zu %6.1f%%", i, verb_summary_percent(cpu->busy_ns, s->recorded_ns));
		if (other)
			printf(" %6.1f%%", verb_summary_percent(cpu->other_ns, s->recorded_ns));
		printf(" %12" PRIu64 "\n", cpu->switches);
	}
	return true;
}

/* Prints the last column: the thread, and its process if the process has another name. */
static void verb_summary_print_thread_name(const struct summary *s, const struct summary_thread *t)
{
	const char *process = summary_process_name(s, t),
		   *name = t->name && *t->name ? t->name : "?";

	if (process && *process && t->tid != t->pid && strcmp(process, name) != 0)
		printf("%s (%s)\n", name, process);
	else
		printf("%s\n", name);
}

/*
 * Prints the times that the kernel counts differently, if they are at least a hundredth of the CPU
 * time of all threads.
 */
static void verb_summary_print_kernel_times(const struct summary_thread *threads, size_t n)
{
	uint64_t cpu_ns = 0, woken_ns = 0, preempted_ns = 0;

	for (size_t i = 0; i < n; i++) {
		cpu_ns += threads[i].cpu_ns;
		woken_ns += threads[i].after_wakeup_ns;
		preempted_ns += threads[i].until_preempted_ns;
	}
	if ((woken_ns + preempted_ns) < cpu_ns / 100 || woken_ns == 0)
		return;
	printf("    RUNNABLE includes %s after wakeups; the kernel (schedstat) counts part of it as "
	       "CPU\n",
	       TEXT_TIME(woken_ns));
	if (preempted_ns)
		printf("    CPU includes %s before preemption by a woken thread; the kernel counts "
		       "part of it as RUNNABLE\n",
		       TEXT_TIME(preempted_ns));
}

static int verb_summary_print_threads(const struct summary *s, size_t limit)
{
	_cleanup_free_ struct summary_thread *threads = NULL;
	size_t n;
	int r = summary_programs_by_cpu(s, &threads, &n);

	if (r < 0)
		return r;
	if (n == 0)
		return 0;
	printf("\n%s    TID        CPU      %%   RUNNABLE    BLOCKED SWITCHES  MAX WAIT  THREAD%s\n",
	       colour(COLOUR_HEADING), colour(COLOUR_OFF));
	for (size_t i = 0; i < n && i < limit; i++) {
		const struct summary_thread *t = &threads[i];

		printf("%7" PRIu32 " %10s %5.1f%% %10s %10s %8" PRIu64 " %9s  ", t->tid,
		       TEXT_TIME(t->cpu_ns), verb_summary_percent(t->cpu_ns, s->recorded_ns),
		       TEXT_TIME(t->runnable_ns), TEXT_TIME(t->blocked_ns), t->switches,
		       TEXT_TIME(t->max_wakeup_latency_ns));
		verb_summary_print_thread_name(s, t);
	}
	if (n > limit)
		printf("    ... and %zu other threads (-n shows more)\n", n - limit);
	verb_summary_print_kernel_times(threads, n);
	return 0;
}

static void verb_summary_print_marks(const struct summary *s)
{
	for (size_t i = 0; i < s->n_marks && i < MARKS_SHOWN; i++)
		printf("%s  +%.6f s  %s\n", i ? "" : "\nMarks:\n",
		       (double)(s->marks[i].ts_ns - s->start_ns) / 1e9, s->marks[i].text);
	if (s->n_marks > MARKS_SHOWN)
		printf("  ... and %zu more\n", s->n_marks - MARKS_SHOWN);
}

/* Formats the value of a trigger in its unit. */
static const char *verb_summary_format_value(char text[static TEXT_FORMAT_MAX], const char *what,
					     uint64_t value)
{
	if (strcmp(what, "leak") == 0)
		return text_format_size(text, value);
	if (strncmp(what, "moment_", strlen("moment_")) == 0) {
		snprintf(text, TEXT_FORMAT_MAX, "hit %" PRIu64, value);
		return text;
	}
	if (strncmp(what, "pressure_", strlen("pressure_")) != 0)
		return text_format_time(text, value);
	snprintf(text, TEXT_FORMAT_MAX, "%.1f%%", (double)value / 1e4);
	return text;
}

static void verb_summary_print_triggers(const struct summary *s)
{
	char worst[TEXT_FORMAT_MAX];

	for (size_t i = 0; i < s->n_triggers; i++)
		printf("%s  %-16s %" PRIu64 " time%s, the worst %s at +%.6f s\n",
		       i ? "" : "\nTriggers:\n", s->triggers[i].what, s->triggers[i].count,
		       text_s(s->triggers[i].count),
		       verb_summary_format_value(worst, s->triggers[i].what, s->triggers[i].worst),
		       (double)(s->triggers[i].worst_ns - s->start_ns) / 1e9);
}

static void verb_summary_print_functions(const struct sums *s)
{
	uint64_t all = s->profile->n_samples;

	if (all == 0)
		return;
	printf("\n%s   SELF   TOTAL  FUNCTION%s, of %" PRIu64 " sample%s\n", colour(COLOUR_HEADING),
	       colour(COLOUR_OFF), all, text_s(all));
	for (size_t i = 0; i < s->n_functions && i < FUNCTIONS_SHOWN; i++)
		printf("%6.2f%% %6.2f%%  %s\n", verb_summary_percent(s->functions[i].self, all),
		       verb_summary_percent(s->functions[i].total, all), s->functions[i].name);
	if (s->n_functions > FUNCTIONS_SHOWN)
		printf("    ... and %zu other functions (kymo flame shows all)\n",
		       s->n_functions - FUNCTIONS_SHOWN);
}

/* ---- the verb ---- */

static int verb_summary_print_text(const struct sums *sums, const char *name, size_t limit,
				   enum summary_by by)
{
	const struct summary *s = sums->summary;
	int r = 0;
	bool scheduled;

	verb_summary_print_header(s, name);
	scheduled = verb_summary_print_cpus(s);
	if (by != SUMMARY_BY_MAX)
		r = summary_by_print(s, by, limit);
	else if (scheduled)
		r = verb_summary_print_threads(s, limit);
	r = r ?: summary_activity_print(s) ?: summary_calls_print(&sums->calls, limit);
	verb_summary_print_functions(sums);
	verb_summary_print_marks(s);
	verb_summary_print_triggers(s);
	nothing_there_name_files(&sums->calls.others, name);
	return r;
}

struct summary_options {
	struct symbol_options symbols;
	uint64_t limit;     /* maximum number of threads or of other rows */
	enum summary_by by; /* SUMMARY_BY_MAX = only threads */
	bool json;
};

static int verb_summary_run(const struct summary_options *o, const char *path)
{
	_cleanup_(symbols_freep) struct symbols *symbols = NULL;
	_cleanup_(verb_summary_sums_deinit) struct sums s = { 0 };
	_cleanup_(call_tree_freep) struct call_tree *tree = NULL;
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	int r;

	if (summary_new(&s.summary) < 0 ||
	    profile_new(&s.profile,
			&(struct profile_options){ .on_cpu = true, .to_ns = UINT64_MAX }) < 0)
		return cli_failed("out of memory");
	r = open_trace_of(
		&t, path,
		&(struct open_trace_kinds){ .calls = true, .frames = true, .points = true });
	if (r == CLI_OK && t.calls)
		return apitrace_summary(&t, o->json, o->limit);
	if (r == CLI_OK && t.frames)
		return tfile_summary(&t, o->json, o->limit);
	if (r == CLI_OK && t.points)
		return tracedb_summary(&t, o->json, o->limit);
	r = r ?: symbol_options_open(&o->symbols, &symbols);
	resolver_init(&s.resolver, symbols, &o->symbols);
	r = r ?: read_events(&t, verb_summary_on_event, &s);
	if (r != CLI_OK)
		return r;
	summary_finish(s.summary);
	if (profile_finish(s.profile) < 0 || verb_summary_find_functions(&s, &tree) < 0)
		return cli_failed("out of memory");
	r = o->json ? verb_summary_print_json(&s, &t, o->by)
		    : verb_summary_print_text(&s, t.name, (size_t)o->limit, o->by);
	if (r < 0)
		return cli_failed("out of memory");
	nothing_there_say_missing(&t.parts, t.name);
	r = read_events_finish(&t, s.summary);
	return read_events_unmapped(&t, profile_n_unmapped(s.profile), r);
}

static int verb_summary_parse_limit(void *limit, char *text)
{
	if (text_parse_u64(text, UINT32_MAX, limit) < 0)
		return cli_usage_error("'%s' is not a number of threads", text);
	return CLI_OK;
}

static int verb_summary(int argc, char **argv)
{
	struct summary_options o = { .limit = THREADS_SHOWN, .by = SUMMARY_BY_MAX };
	const struct verb_option options[] = {
		OPTION_FLAG("json", &o.json),
		OPTION_VALUE("by", 0, summary_by_parse, &o.by),
		OPTION_VALUE("threads", 'n', verb_summary_parse_limit, &o.limit),
		SYMBOL_NONE_ROW(&o.symbols),
		SYMBOL_PLACE_ROWS(&o.symbols),
		{ 0 },
	};
	int r = verb_options_parse_with(argc, argv, options, 1, VERB_ARGS_FILE);

	return r != VERB_OPTIONS_GO ? r : verb_summary_run(&o, argv[optind]);
}

const struct verb verb_summary_row = {
	.name = "summary",
	.synopsis = "[OPTION ...] FILE",
	.what = "Show a summary of a recording: CPUs, threads, functions, losses",
	.examples = "  kymo summary t.fxt\n  kymo summary --by unit t.fxt\n",
	.options =
		"      --by=WHAT          show a row for each unit, container, process or thread\n"
		"  -n, --threads=N        show the N threads with the most CPU time (20)\n" SYMBOL_NONE_HELP
			SYMBOL_PLACE_HELP "      --json             print everything as JSON\n"
		"  -h, --help             show this\n"
		"\nFILE is an archive, a call trace of apitrace, a GDB trace file or a trace-db file; '-'\n"
		"is standard input.\n"
		"Exits with 3 if the archive is damaged or events were lost in the recording.\n",
	.run = verb_summary,
};
