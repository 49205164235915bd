/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo leaks: reports blocks that programs allocated and did not free, from an archive, or from a
 * new recording.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/string-table.h"
#include "base/text.h"
#include "cli/leaks/leaks-view.h"
#include "cli/common/part-options.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"

enum { TOP_SHOWN = 20 };

/* (tracing system calls would slow down all processes) */
#define CATEGORIES_OF_GROWING (CATEGORIES_MEMORY & ~CATEGORIES_SYSCALLS)

struct request {
	struct leaks_request leaks;
	struct part_ids pids;  /* processes in the archive, or of the recording */
	struct record_job job; /* the new recording, if no archive is given */
	bool has_top;
};

/* ---- options of the report ---- */

/* Reports that WORD is invalid, and lists the valid words. */
static int verb_leaks_complain_word(const char *option, const char *word, const char *const *names,
				    unsigned n)
{
	char list[128] = "";

	for (unsigned i = 0; i < n; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
			 names[i]);
	return cli_usage_error("--%s: '%s' must be one of: %s", option, word, list);
}

/* Sets a bit for each word of VALUE that is one of N NAMES. A space can be written as '-'. */
static int verb_leaks_parse_words(const char *option, char *value, const char *const *names,
				  unsigned n, uint32_t *to)
{
	char *word;

	while ((word = strsep(&value, ","))) {
		int i;

		for (char *c = word; *c; c++)
			*c = *c == '-' ? ' ' : *c;
		i = string_table_find(names, n, word);
		if (i < 0)
			return verb_leaks_complain_word(option, word, names, n);
		*to |= 1u << i;
	}
	return CLI_OK;
}

static int verb_leaks_parse_resources(void *to, char *value)
{
	return verb_leaks_parse_words("resource", value, resource_names, RESOURCE_MAX, to);
}

static int verb_leaks_parse_verdicts(void *to, char *value)
{
	return verb_leaks_parse_words("verdict", value, leak_verdict_names, LEAK_VERDICT_MAX, to);
}

static int verb_leaks_parse_size(const char *option, const char *value, uint64_t *to)
{
	return text_parse_size(value, to) < 0
		       ? cli_usage_error("--%s takes a size (4096, 64K, 1M), not '%s'", option,
					 value)
		       : CLI_OK;
}

static int verb_leaks_parse_min_bytes(void *to, char *value)
{
	return verb_leaks_parse_size("min-bytes", value, to);
}

static int verb_leaks_parse_fail_over(void *request, char *value)
{
	struct request *q = request;

	q->leaks.has_fail_over = true;
	return verb_leaks_parse_size("fail-over", value, &q->leaks.fail_over);
}

static int verb_leaks_parse_min_blocks(void *to, char *value)
{
	return text_parse_u64(value, UINT64_MAX, to) < 0
		       ? cli_usage_error("--min-blocks takes a number, not '%s'", value)
		       : CLI_OK;
}

static int verb_leaks_parse_min_age(void *to, char *value)
{
	return text_parse_time(value, to) < 0
		       ? cli_usage_error("--min-age takes a time (10s, 5m), not '%s'", value)
		       : CLI_OK;
}

static int verb_leaks_parse_top(void *request, char *value)
{
	struct request *q = request;

	q->has_top = true;
	return text_parse_u64(value, UINT32_MAX, &q->leaks.top) < 0
		       ? cli_usage_error("--top takes a number, not '%s'", value)
		       : CLI_OK;
}

static int verb_leaks_read_suppressions(void *suppressions, char *value)
{
	return suppressions_read(suppressions, value);
}

/* ---- the work ---- */

/* Returns true if W has no data and ended with an exec. Such watches are not reported. */
static bool verb_leaks_is_passing(const struct leak_watch *w)
{
	return !w->complete && !*w->unwatched && !*w->gap && strcmp(w->reason, "exec") == 0 &&
	       w->n_groups == 0 && w->lost == 0 && w->full == 0;
}

static void verb_leaks_leave_out_passing(struct leaks *l)
{
	size_t n = 0, left = 0;

	for (size_t i = 0; i < l->n_watches; i++)
		left += !verb_leaks_is_passing(l->watches[i]);
	for (size_t i = 0; left > 0 && i < l->n_watches; i++) {
		if (verb_leaks_is_passing(l->watches[i]))
			leak_watch_free(l->watches[i]);
		else
			l->watches[n++] = l->watches[i];
	}
	l->n_watches = left > 0 ? n : l->n_watches;
}

/* Returns the size of all shown blocks. */
static double verb_leaks_bytes_shown(const struct leaks *l)
{
	double bytes = 0;

	for (size_t i = 0; i < l->n_watches; i++)
		for (size_t j = 0; j < l->watches[i]->n_groups; j++)
			bytes += l->watches[i]->groups[j]->all.bytes;
	return bytes;
}

static int verb_leaks_write_files(struct request *q, struct leaks_input *in, int fd)
{
	const struct leaks_request *o = &q->leaks;
	int r = CLI_OK;

	if (o->rtrace)
		r = leaks_write_rtrace(in,
				       &(struct leaks_rtrace_args){ .directory = o->rtrace,
								    .force = o->force,
								    .spec_time = o->spec_time });
	if (r == CLI_OK && o->pprof)
		r = leaks_write_pprof(in, o, fd);
	if (r == CLI_OK && o->folded)
		r = leaks_write_folded(in, o, fd);
	return r;
}

/* Reports programs that were not recorded, or not completely: they may have leaks. */
static int verb_leaks_check_unwatched(const struct leaks_request *o, const struct leaks_input *in)
{
	const struct leak_watch *first = NULL;
	uint64_t n = 0, n_gaps = 0;

	for (size_t i = 0; i < in->leaks->n_watches; i++) {
		const struct leak_watch *w = in->leaks->watches[i];

		if (!leaks_misses(o, w))
			continue;
		if (!first || (*w->unwatched && !*first->unwatched))
			first = w;
		n_gaps += !*w->unwatched;
		n++;
	}
	if (n == 0)
		return CLI_OK;
	cli_error("%" PRIu64 " program%s not watched%s, and %s leaks are unknown%s %s (%" PRIu32
		  "): %s%s",
		  n, n == 1 ? " was" : "s were",
		  n_gaps == 0  ? ""
		  : n_gaps < n ? ", or not all the time"
			       : " all the time",
		  n == 1 ? "its" : "their", n == 1 ? ":" : ", such as", leaks_process(first),
		  first->real_pid, *first->unwatched ? first->unwatched : first->gap,
		  o->allow_unwatched ? "" : " (--allow-unwatched accepts that)");
	if (o->allow_unwatched)
		return CLI_OK;
	return o->has_fail_over ? CLI_FOUND : CLI_DAMAGE;
}

/*
 * Reports children of fork whose first allocations are unknown, since --fail-over also judges these
 * allocations.
 */
static int verb_leaks_check_forked(const struct leaks_request *o, const struct leaks_input *in)
{
	const struct leak_watch *first = NULL;
	bool allowed = o->allow_unwatched || o->allow_forked;
	uint64_t n = 0;

	for (size_t i = 0; i < in->leaks->n_watches; i++) {
		const struct leak_watch *w = in->leaks->watches[i];

		if (!leaks_misses_begin(o, w))
			continue;
		first = first ?: w;
		n++;
	}
	if (n == 0)
		return CLI_OK;
	cli_error("--fail-over: the first allocations of %" PRIu64 " child%s of fork are unknown%s "
		  "%s (%" PRIu32 "), watched %s after its fork%s",
		  n, n == 1 ? "" : "ren", n == 1 ? ":" : ", such as", leaks_process(first),
		  first->real_pid, TEXT_TIME(first->begin_ns - first->forked_ns),
		  allowed ? "" : " (--allow-forked accepts that)");
	return allowed ? CLI_OK : CLI_FOUND;
}

/*
 * Reports for how many programs --fail-over judges only later allocations, since they were already
 * running when the recording began. A program that executed another one is not judged: its exec
 * freed the blocks. (The watch of such a program, for example env(1), can be incomplete even if the
 * program began in the recording.)
 */
static void verb_leaks_report_judged(const struct leaks_request *o, const struct leaks_input *in)
{
	uint64_t n = 0, n_late = 0;

	for (size_t i = 0; i < in->leaks->n_watches; i++) {
		const struct leak_watch *w = in->leaks->watches[i];

		n += !leaks_misses(o, w);
		n_late += !*w->unwatched && !*w->gap && !w->complete && !w->forked_ns &&
			  !leaks_ran_another(w);
	}
	if (n_late > 0)
		cli_error("--fail-over: %" PRIu64 " of %" PRIu64
			  " watched program%s %s already running: "
			  "only later allocations are judged",
			  n_late, n, text_s(n), text_was(n_late));
}

static int verb_leaks_check_limit(const struct leaks_request *o, const struct leaks_input *in)
{
	double bytes = verb_leaks_bytes_shown(in->leaks);
	int r = verb_leaks_check_unwatched(o, in), r_forked;

	if (o->has_fail_over) {
		r_forked = verb_leaks_check_forked(o, in);
		r = r ?: r_forked;
		verb_leaks_report_judged(o, in);
	}
	if (!o->has_fail_over || bytes <= (double)o->fail_over)
		return r;
	cli_error("%s are not freed, more than %s (--fail-over)",
		  TEXT_SIZE((uint64_t)llround(bytes)), TEXT_SIZE(o->fail_over));
	return CLI_FOUND;
}

static bool verb_leaks_is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

static bool verb_leaks_writes_to_stdout(const struct leaks_request *o)
{
	return verb_leaks_is_stdout(o->pprof) || verb_leaks_is_stdout(o->folded);
}

static int verb_leaks_show(struct request *q, struct leaks_input *in, struct leaks_input *old,
			   int fd)
{
	struct leaks_diff diff = { 0 };
	int r = old ? leaks_diff_init(&diff, old) : 0, status;

	/* If a report is written to standard output, no other text is printed there. */
	if (r == 0 && !verb_leaks_writes_to_stdout(&q->leaks))
		r = q->leaks.json ? leaks_print_json(in, &q->leaks, old ? &diff : NULL)
				  : leaks_print(in, &q->leaks, old ? &diff : NULL);
	leaks_diff_deinit(&diff);
	if (r < 0)
		return cli_failed("out of memory");
	status = verb_leaks_write_files(q, in, fd);
	return status == CLI_OK ? verb_leaks_check_limit(&q->leaks, in) : status;
}

static int verb_leaks_read_input(struct request *q, struct leaks_input *in, struct open_trace *t,
				 struct symbols *symbols)
{
	struct suppressions *s = &q->leaks.suppressions;
	int r;

	/* (suppressions in the other archive are not counted) */
	for (size_t i = 0; i < s->n; i++)
		s->list[i].n_groups = s->list[i].n_blocks = s->list[i].n_bytes = 0;
	r = leaks_input_read(in, &q->leaks, t, symbols);
	if (r == CLI_OK)
		verb_leaks_leave_out_passing(in->leaks);
	return r;
}

static int verb_leaks_report(struct request *q, const char *path, const char *name)
{
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL, old_t = OPEN_TRACE_NULL;
	_cleanup_(symbols_freep) struct symbols *symbols = NULL;
	_cleanup_(leaks_input_deinit) struct leaks_input in = { 0 }, old = { 0 };
	int r = open_trace(&t, path);

	t.name = name;
	if (r == CLI_OK && q->leaks.old)
		r = open_trace(&old_t, q->leaks.old);
	r = r ?: symbol_options_open(&q->leaks.symbols, &symbols);
	if (r == CLI_OK && q->leaks.old)
		r = verb_leaks_read_input(q, &old, &old_t, symbols);
	r = r ?: verb_leaks_read_input(q, &in, &t, symbols)
		    ?: verb_leaks_show(q, &in, q->leaks.old ? &old : NULL, t.fd);
	return r == CLI_OK && (in.damaged || old.damaged || in.is_unknown || old.is_unknown)
		       ? CLI_DAMAGE
		       : r;
}

/*
 * Returns the exit status of `kymo leaks -- COMMAND`. R is the result of the recording and the
 * report. It is R if the limit of --fail-over was exceeded, CLI_COMMAND_FAILED if R is a failure,
 * otherwise COMMAND_STATUS.
 */
static int verb_leaks_exit_of_command(const struct request *q, int command_status, int r)
{
	if (r == CLI_FOUND)
		return r;
	if (r != CLI_OK && r != CLI_DAMAGE)
		return CLI_COMMAND_FAILED;
	/* (if data was lost, it is unknown whether the limit was exceeded) */
	return command_status == 0 && q->leaks.has_fail_over ? r : command_status;
}

/* Sets the default categories and processes. Returns CLI_OK or an enum cli_exit. */
static int verb_leaks_choose(struct request *q)
{
	struct record_options *o = &q->job.options;
	int r = CLI_OK;
	char pid[16];

	q->leaks.of_growing = o->session.memory.triage;
	if (!o->session.categories && !o->all_categories)
		o->session.categories =
			q->leaks.of_growing ? CATEGORIES_OF_GROWING : CATEGORIES_MEMORY;
	for (size_t i = 0; r == CLI_OK && i < q->pids.n; i++) {
		snprintf(pid, sizeof(pid), "%u", q->pids.list[i]);
		r = record_options_add_pid(o, "--pid", pid);
	}
	return r;
}

static int verb_leaks_record_and_report(struct request *q)
{
	struct record_job *j = &q->job;
	_cleanup_close_ int fd = -1;
	char path[64];
	int r = verb_leaks_choose(q), recorded;

	if (r != CLI_OK)
		return r;
	recorded = leaks_record(j, &fd);
	if (fd < 0)
		return recorded;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/*
	 * All processes of the recording are reported: it has only the selected processes and their
	 * children, and the children have other ids.
	 */
	q->leaks.n_pids = 0;
	r = verb_leaks_report(q, path, j->options.output ?: "the recording") ?: recorded;
	return j->command_status >= 0 ? verb_leaks_exit_of_command(q, j->command_status, r) : r;
}

/* Returns the first option that applies to recordings only, or NULL. */
static const char *verb_leaks_recorded_by(const struct record_options *o)
{
	return *o->given ? o->given : o->direct ? "--direct" : o->bus ? "--bus" : NULL;
}

static int verb_leaks_check_words(const struct request *q)
{
	const struct record_options *o = &q->job.options;
	const char *recorded = verb_leaks_recorded_by(o), *file = o->rest[0];

	if (o->separated)
		return o->n_rest ? CLI_OK : cli_usage_error("there is no command after '--'");
	if (o->n_rest == 0)
		return recorded || q->pids.n
			       ? CLI_OK
			       : cli_usage_error("expected an archive, processes (-p PID or "
						 "--triage) or a command (-- COMMAND)");
	if (recorded)
		return cli_usage_error("%s applies to a new recording, not to the archive "
				       "'%s'",
				       recorded, file);
	if (o->output)
		return cli_usage_error("-o applies to a new recording; use --pprof, --folded or "
				       "--rtrace for output from '%s'",
				       file);
	if (o->n_rest > 1)
		return cli_usage_error("expected one FILE, or '-' for standard input; a command "
				       "comes after '--'");
	return CLI_OK;
}

static int verb_leaks_check(const struct request *q)
{
	const struct leaks_request *o = &q->leaks;
	const struct record_options *live = &q->job.options;
	int r = verb_leaks_check_words(q);

	if (r != CLI_OK)
		return r;
	if (verb_leaks_writes_to_stdout(o) &&
	    (o->json || (verb_leaks_is_stdout(o->pprof) && verb_leaks_is_stdout(o->folded))))
		return cli_usage_error("two of --json, '--pprof -' and '--folded -' would write "
				       "to standard output");
	if (verb_leaks_is_stdout(live->output))
		return cli_usage_error("cannot write the archive to standard output, because the "
				       "report goes there");
	if (verb_leaks_is_stdout(o->old) && verb_leaks_is_stdout(live->rest[0]))
		return cli_usage_error("only one archive can come from standard input");
	return CLI_OK;
}

static void verb_leaks_request_deinit(struct request *q)
{
	suppressions_deinit(&q->leaks.suppressions);
	record_job_deinit(&q->job);
}

static void verb_leaks_settle(struct request *q)
{
	struct leaks_request *o = &q->leaks;

	if (!q->has_top)
		o->top = o->json ? UINT64_MAX : TOP_SHOWN;
	o->force = q->job.options.force;
	o->pids = q->pids.list;
	o->n_pids = q->pids.n;
	if (o->suppressions.n_mangled)
		cli_error("--suppressions: %zu mangled names with wildcards match nothing: "
			  "demangled names are compared",
			  o->suppressions.n_mangled);
}

static int verb_leaks(int argc, char **argv)
{
	_cleanup_(verb_leaks_request_deinit) struct request q = { .job = RECORD_JOB_NULL };
	struct record_options *live = &q.job.options;
	struct leaks_request *o = &q.leaks;
	const struct verb_option own[] = {
		RECORD_OPTION_ROWS(live),
		OPTION_FLAG("allow-forked", &o->allow_forked),
		OPTION_FLAG("allow-unwatched", &o->allow_unwatched),
		OPTION_TEXT("context", 0, &o->context),
		OPTION_TEXT("diff", 0, &o->old),
		OPTION_FLAG("direct", &live->direct),
		OPTION_VALUE("fail-over", 0, verb_leaks_parse_fail_over, &q),
		OPTION_TEXT("folded", 0, &o->folded),
		OPTION_FLAG("json", &o->json),
		OPTION_VALUE("min-age", 0, verb_leaks_parse_min_age, &o->min_age_ns),
		OPTION_VALUE("min-blocks", 0, verb_leaks_parse_min_blocks, &o->min_blocks),
		OPTION_VALUE("min-bytes", 0, verb_leaks_parse_min_bytes, &o->min_bytes),
		OPTION_VALUE("pid", 'p', part_options_pids, &q.pids),
		OPTION_TEXT("pprof", 0, &o->pprof),
		OPTION_VALUE("resource", 0, verb_leaks_parse_resources, &o->resources),
		OPTION_TEXT("rtrace", 0, &o->rtrace),
		OPTION_FLAG("spec-time", &o->spec_time),
		OPTION_VALUE("suppressions", 0, verb_leaks_read_suppressions, &o->suppressions),
		OPTION_VALUE("top", 0, verb_leaks_parse_top, &q),
		OPTION_VALUE("verdict", 0, verb_leaks_parse_verdicts, &o->verdicts),
		SYMBOL_NONE_ROW(&o->symbols),
		SYMBOL_PLACE_ROWS(&o->symbols),
		{ 0 },
	};
	int r = record_options_parse(argc, argv, OPTION_OF_LEAKS, own, live);

	if (r != RECORD_OPTIONS_GO)
		return r;
	r = verb_leaks_check(&q);
	if (r != CLI_OK)
		return r;
	verb_leaks_settle(&q);
	if (live->separated || live->n_rest == 0)
		return verb_leaks_record_and_report(&q);
	return verb_leaks_report(&q, live->rest[0], live->rest[0]);
}

static void verb_leaks_print_options(void)
{
	record_options_help(OPTION_OF_LEAKS);
}

const struct verb verb_leaks_row = {
	.name = "leaks",
	.synopsis = "[OPTION ...] FILE | -p PID ... | --triage | -- COMMAND [ARGUMENT ...]",
	.what = "Show memory and other resources that programs do not free",
	.examples = "  kymo leaks -p 4711 -d 5m\n  kymo leaks --fail-over 0 -- ./program\n",
	.options =
		"Report:\n"
		"      --top=N            show N stacks of each process (20; all with --json)\n"
		"      --resource=WHICH   only memory, mapping, fd, segment, attachment, shm, thread\n"
		"      --verdict=WHICH    only lost, indirectly-lost, possibly-lost, growing, unfreed,\n"
		"                         still-reachable, old, steady, young\n"
		"      --min-bytes=SIZE   only stacks with at least this many allocated bytes\n"
		"      --min-blocks=N     only stacks with at least N blocks\n"
		"      --min-age=TIME     only blocks that are at least this old\n"
		"      --context=NAME     only blocks that were allocated in this context\n"
		"      --suppressions=FILE  omit stacks in FILE, as valgrind or LeakSanitizer do\n"
		"      --diff=OLD         compare with the archive OLD\n"
		"      --fail-over=SIZE   exit with 4 if the selected stacks have more than SIZE,\n"
		"                         or a program was not watched from its beginning on\n"
		"      --allow-forked     accept children of fork whose first allocations are unknown\n"
		"      --allow-unwatched  accept programs that were not watched\n"
		"      --json             print the whole report as JSON\n"
		"      --pprof=OUT        write a profile for pprof, gzip'ed\n"
		"      --folded=OUT       write folded stacks, weighted by bytes\n"
		"      --rtrace=DIR       write PID-N.rtrace.txt to DIR, for 'kymo postprocess' and others\n"
		"      --spec-time        write microseconds (default: ms, which other readers expect)\n"
		"      --force            replace existing files\n" SYMBOL_NONE_HELP
			SYMBOL_PLACE_HELP "Recording, without FILE:\n"
		"  -p, --pid=PID,...      these processes, with children (with FILE: only these)\n"
		"  -o, --output=ARCHIVE   keep the archive\n"
		"      --direct           record in this process, without the service\n"
		"      --socket[=PATH]    as root, the private socket of the service, without the bus\n"
		"      --bus=ADDRESS      the bus of the service (the system bus)\n"
		"  -h, --help             show this\n",
	.more_options = verb_leaks_print_options,
	.notes =
		"\nWithout --events, memory, fd, shm and threads are watched; with --triage, only memory\n"
		"and threads. With --reach, COMMAND is held at its exit.\n"
		"FILE is an archive; '-' is standard input.\n"
		"The exit status is 3 if FILE is damaged or events were lost, and 4 for --fail-over; with\n"
		"COMMAND, it is as for 'kymo record'.\n",
	.run = verb_leaks,
};
