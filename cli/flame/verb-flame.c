/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo flame: shows the distribution of time over the call stacks of a recording.
 */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/flame/flame.h"
#include "cli/common/json.h"
#include "cli/common/packed-output.h"
#include "cli/common/part-options.h"
#include "cli/common/python-text.h"
#include "cli/common/read-events.h"
#include "cli/common/stacks-text.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"

static const struct flame_format formats[] = {
	{ .name = "svg", .suffix = ".svg", .of_tree = true, .drawn = true, .write = flame_svg },
	{ .name = "folded", .suffix = ".folded", .of_tree = true, .write = flame_folded },
	{ .name = "pprof", .suffix = ".pb.gz", .gzip = true, .write = flame_pprof },
	{ .name = "otlp", .suffix = ".otlp.gz", .gzip = true, .write = flame_otlp },
	{ .name = "speedscope", .suffix = ".json", .write = flame_speedscope },
};

/* The largest size of the result. */
#define OUTPUT_MAX ((size_t)4 << 30)

struct request {
	const char *input, *output, *format, *old, *process, *title;
	struct part_options part;
	struct part_ids tids;
	struct symbol_options symbols;
	bool on_cpu, off_cpu, off_wake, inverted, python, force, json, allow_empty;
	double min_percent;
	bool has_min_percent;
};

/* ---- request ---- */

static bool verb_flame_has_suffix(const char *name, const char *suffix)
{
	size_t n = strlen(name), length = strlen(suffix);

	return n > length && strcmp(name + n - length, suffix) == 0;
}

static const struct flame_format *verb_flame_find_format(const struct request *q)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (q->format ? strcmp(q->format, formats[i].name) == 0
			      : verb_flame_has_suffix(q->output, formats[i].suffix))
			return &formats[i];
	return NULL;
}

static int verb_flame_choose_format(const struct request *q, const struct flame_format **ret)
{
	const struct flame_format *format = verb_flame_find_format(q);

	if (!format && q->format)
		return cli_usage_error("unknown format '%s'; the formats are: svg, folded, "
				       "pprof, otlp and speedscope",
				       q->format);
	if (!format)
		return cli_usage_error(
			"the name '%s' does not determine the format: use the "
			"suffix .svg, .folded, .pb.gz, .otlp.gz or .json, or --format",
			q->output);
	if (q->old && !format->of_tree)
		return cli_usage_error("--diff is only for svg and folded, not for %s",
				       format->name);
	if (q->inverted && !format->of_tree)
		return cli_usage_error("--inverted is only for svg and folded: viewers of %s can "
				       "invert stacks",
				       format->name);
	if (q->allow_empty && !format->gzip)
		return cli_usage_error("--allow-empty is only for pprof and otlp: %s shows nothing "
				       "without stacks",
				       format->name);
	if (q->has_min_percent && !format->drawn)
		return cli_usage_error("--min-percent is only for svg: %s contains all frames",
				       format->name);
	*ret = format;
	return CLI_OK;
}

static int verb_flame_parse_percent(void *request, char *text)
{
	struct request *q = request;
	char *end;

	q->has_min_percent = true;
	q->min_percent = strtod(text, &end);
	if (strspn(text, "0123456789.") != strlen(text) || end == text || *end != '\0' ||
	    q->min_percent > 100)
		return cli_usage_error("--min-percent takes a number from 0 to 100, not '%s'",
				       text);
	return CLI_OK;
}

/* ---- reading ---- */

static void verb_flame_input_deinit(struct flame_input *in)
{
	in->profile = profile_free(in->profile);
	in->summary = summary_free(in->summary);
	resolver_deinit(&in->resolver);
}

const char *flame_thread_name(char to[PROFILE_LABEL_MAX], const struct flame_input *in,
			      const struct profile_stack *stack)
{
	uint32_t tid = stack->tid;
	const struct summary_thread *t = tid ? table_get(&in->summary->threads, tid) : NULL;
	const char *program = profile_program_name(in->profile, stack);

	/* The main thread has the name of its program. */
	if (program && tid == stack->pid)
		return program;
	if (t && t->name && *t->name)
		return t->name;
	if (tid == 0)
		return "idle";
	snprintf(to, PROFILE_LABEL_MAX, "thread %" PRIu32, tid);
	return to;
}

static const char *verb_flame_process_name(void *userdata, uint32_t pid)
{
	const struct flame_input *in = userdata;
	const struct summary_process *p = table_get(&in->summary->processes, (uint64_t)pid + 1);

	return p && p->name && *p->name ? p->name : NULL;
}

static int verb_flame_find_names(void *userdata, const struct profile_place *place,
				 const struct frame **ret)
{
	struct flame_input *in = userdata;

	return resolver_find(&in->resolver, place, ret);
}

static int verb_flame_on_event(void *userdata, const struct event *ev)
{
	struct flame_input *in = userdata;
	int r = summary_add(in->summary, ev) ?: resolver_add(&in->resolver, ev);

	if (ev->kind == EVENT_CLOCK && in->real_offset_ns == 0)
		in->real_offset_ns = (int64_t)(ev->clock.real_ns - ev->clock.boot_ns);
	return r < 0 ? r : profile_add(in->profile, ev);
}

struct process_filter {
	const struct flame_input *in;
	const char *pattern;
};

static bool verb_flame_is_process(void *userdata, const struct profile_stack *stack)
{
	const struct process_filter *filter = userdata;
	char name[PROFILE_LABEL_MAX];

	return fnmatch(filter->pattern,
		       profile_names_process(name, filter->in->profile, &filter->in->names, stack),
		       0) == 0;
}

/* Explains why there is no data. */
static int verb_flame_explain_empty(const struct request *q, const struct open_trace *t,
				    const struct profile *p)
{
	if (p->n_samples_seen == 0 && p->n_offcpu_seen == 0)
		nothing_there_say(&t->parts, NOTHING_STACKS, t->name);
	else if (q->on_cpu && !q->off_cpu && p->n_samples_seen == 0)
		cli_error("%s contains no samples, only times off CPU: use --off-cpu", t->name);
	else if (q->off_cpu && !q->on_cpu && p->n_offcpu_seen == 0)
		cli_error("%s contains no times off CPU, only samples: use --on-cpu", t->name);
	else
		cli_error("%s contains %" PRIu64 " samples and %" PRIu64 " times off CPU, but the "
			  "options select none of them",
			  t->name, p->n_samples_seen, p->n_offcpu_seen);
	return CLI_FAILED;
}

/*
 * Returns true if PLACE is in the code of the interpreter of Python itself: in its program or its
 * library. Functions of Python are in no file, and extension modules have files of their own.
 */
static bool verb_flame_is_interpreter(void *userdata, const struct profile_place *place)
{
	const char *base = place->mapping ? profile_names_base(place->mapping->path) : "";

	(void)userdata;
	return strncmp(base, "python3", 7) == 0 || strncmp(base, "libpython3", 10) == 0;
}

/* Reads all of T into IN. Returns CLI_OK, CLI_DAMAGE, or CLI_FAILED after an error message. */
static int verb_flame_read_input(const struct request *q, struct open_trace *t,
				 struct flame_input *in)
{
	const struct profile_options options = {
		.on_cpu = q->on_cpu,
		.off_cpu = q->off_cpu,
		.off_wake = q->off_wake,
		.pids = q->part.pids.list,
		.n_pids = q->part.pids.n,
		.tids = q->tids.list,
		.n_tids = q->tids.n,
		.cpus = q->part.cpus,
		.n_cpus = q->part.n_cpus,
		.from_ns = q->part.from_ns,
		.to_ns = q->part.to_ns,
		.absolute = part_options_absolute(&q->part),
	};
	struct process_filter filter = { in, q->process };
	int r;

	if (summary_new(&in->summary) < 0 || profile_new(&in->profile, &options) < 0)
		return cli_failed("out of memory");
	in->names = (struct profile_names){ verb_flame_find_names, verb_flame_process_name, in };
	r = read_events(t, verb_flame_on_event, in);
	if (r != CLI_OK)
		return r;
	summary_finish(in->summary);
	if (profile_finish(in->profile) < 0 ||
	    profile_names_add_processes(in->profile, &in->names) < 0)
		return cli_failed("out of memory");
	if (q->process)
		profile_filter(in->profile, verb_flame_is_process, &filter);
	if (q->python)
		profile_leave_out(in->profile, verb_flame_is_interpreter, NULL);
	if (in->profile->n_stacks == 0 && !q->allow_empty)
		return verb_flame_explain_empty(q, t, in->profile);
	r = read_events_finish(t, in->summary);
	return read_events_unmapped(t, profile_n_unmapped(in->profile), r);
}

/* ---- writing ---- */

static int verb_flame_make_tree(const struct flame *f, struct call_tree **ret)
{
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	struct call_tree_options options = {
		.by_time = f->by_time,
		.inverted = f->inverted,
		.names = &f->now->names,
	};
	int r = call_tree_new(&t) ?: call_tree_add(t, f->now->profile, &options);

	if (r == 0 && f->old) {
		options.side = CALL_OLD;
		options.names = &f->old->names;
		r = call_tree_add(t, f->old->profile, &options);
	}
	r = r ?: call_tree_finish(t);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(t);
	return 0;
}

/* The output, and the archives that it must not overwrite. */
struct target {
	struct packed_output output;
	const struct open_trace *now, *old;
};

static int verb_flame_write_output(const struct request *q, const struct flame_format *format,
				   struct target *to, const struct outbuf *bytes)
{
	const int inputs[] = { to->now->fd, to->old->fd };
	const struct packed_output_args args = {
		.path = q->output,
		.force = q->force,
		.method = format->gzip ? PACK_GZIP : PACK_NONE,
		.whole = packed_output_any_bytes,
		.inputs = inputs,
		.n_inputs = ARRAY_SIZE(inputs),
	};

	if (packed_output_open(&to->output, &args) < 0 ||
	    packed_output_write(&to->output, bytes->data, bytes->size) < 0 ||
	    packed_output_finish(&to->output) < 0)
		return CLI_FAILED;
	return CLI_OK;
}

/* ---- the report ---- */

static struct json_object *verb_flame_add_counts(struct json_object *o,
						 const struct flame_input *in)
{
	const struct profile *p = in->profile;
	uint64_t on_ns = 0, off_ns = 0;

	for (size_t i = 0; i < p->n_stacks; i++)
		*(p->stacks[i].off_cpu ? &off_ns : &on_ns) += p->stacks[i].ns;
	return JSON_ADD(o, JSON("samples", p->n_samples), JSON("cpu_ns", on_ns),
			JSON("waits", p->n_offcpu), JSON("unfinished_waits", p->n_unfinished),
			JSON("estimated_waits", p->n_estimated),
			JSON("earlier_waits", p->n_earlier),
			JSON("earlier_waits_without_stack", p->n_earlier_bare),
			JSON_IF(p->n_woken, "waits_with_waker_stack", p->n_woken),
			JSON("offcpu_ns", off_ns), JSON("samples_in_archive", p->n_samples_seen),
			JSON("waits_in_archive", p->n_offcpu_seen), JSON("stacks", p->n_stacks),
			JSON("full_stacks", p->n_full), JSON("cut_stacks", p->n_cut),
			JSON_OF(p, frequency), JSON("addresses_looked_up", in->resolver.n_asked),
			JSON("addresses_found", in->resolver.n_named));
}

static void verb_flame_print_json(const struct flame *f, const struct flame_format *format,
				  const struct packed_output *output)
{
	struct json_object *o =
		JSON_OBJECT(JSON("output", json_from_text(output->file.path)),
			    JSON("format", format->name), JSON("output_bytes", output->file_bytes),
			    JSON("weight", f->by_time ? "nanoseconds" : "samples"));

	verb_flame_add_counts(o, f->now);
	JSON_ADD(o, JSON_IF(f->tree, "cut_in_tree", f->tree->n_cut),
		 JSON_IF(format->drawn, "drawn", f->n_drawn),
		 JSON_IF(format->drawn, "left_out", f->n_left_out),
		 JSON_IF(f->old, "old", verb_flame_add_counts(json_object_new_object(), f->old)));
	json_print_pretty(o);
}

static void verb_flame_report(const struct flame *f, const struct flame_format *format,
			      const struct packed_output *output)
{
	const struct profile *p = f->now->profile;

	fprintf(stderr, "%s: %s, %s of", output->file.path, TEXT_SIZE(output->file_bytes),
		format->name);
	if (f->on_cpu)
		fprintf(stderr, " %" PRIu64 " sample%s", p->n_samples, text_s(p->n_samples));
	if (f->off_cpu)
		fprintf(stderr, "%s %" PRIu64 " time%s off CPU", f->on_cpu ? " and" : "",
			p->n_offcpu, text_s(p->n_offcpu));
	fprintf(stderr, ", %zu stack%s\n", p->n_stacks, text_s(p->n_stacks));
	if (f->off_wake && p->n_woken == 0)
		cli_error("there are no stacks of wakers, only their processes: record with -e "
			  "offcpu,waker-stacks");
	if (p->n_unfinished)
		cli_error("%" PRIu64
			  " of the times off CPU continued at the end of the recording: counted up "
			  "to its end",
			  p->n_unfinished);
	if (p->n_estimated)
		cli_error(
			"%" PRIu64
			" of the times off CPU ended at an unknown time, which the kernel did not "
			"report: counted up to an estimated end",
			p->n_estimated);
	if (p->n_earlier)
		cli_error("%" PRIu64
			  " of the times off CPU had begun before the recording: counted from its "
			  "start",
			  p->n_earlier);
	if (p->n_earlier_bare)
		cli_error("%" PRIu64
			  " of these without frames of the program: its stack could not be "
			  "copied, or too many threads were waiting",
			  p->n_earlier_bare);
	if (p->n_full)
		cli_error("%" PRIu64
			  " of the stacks have more calls than a recording contains: the "
			  "frame " FRAMES_CUT_NAME " stands for the outermost ones",
			  p->n_full);
	stacks_report_incomplete(f->now->summary->walks, 1);
	python_text_report_unknown(f->now->summary);
	if (p->n_cut)
		cli_error("%" PRIu64
			  " of the stacks truncated: there are too many different stacks",
			  p->n_cut);
	if (f->now->resolver.n_asked > f->now->resolver.n_named)
		cli_error("no names were found for %" PRIu64 " of %" PRIu64 " addresses without a "
			  "name in the archive; 'kymo symbolize' shows the reasons",
			  f->now->resolver.n_asked - f->now->resolver.n_named,
			  f->now->resolver.n_asked);
}

/* ---- the verb ---- */

static void verb_flame_make_title(char *to, size_t room, const struct request *q,
				  const struct flame_input *in)
{
	const char *host = in->summary->started ? in->summary->recording.host : "";

	snprintf(to, room, "%.300s%s%.200s", profile_names_base(q->input), *host ? " \u2013 " : "",
		 host);
}

static int verb_flame_write_flame(const struct request *q, const struct flame_format *format,
				  struct flame *f, struct target *to)
{
	_cleanup_(call_tree_freep) struct call_tree *tree = NULL;
	_cleanup_(outbuf_deinit) struct outbuf bytes = { .limit = OUTPUT_MAX };
	int r = format->of_tree ? verb_flame_make_tree(f, &tree) : 0;

	f->tree = tree;
	r = r ?: format->write(f, &bytes);
	if (r == -EMSGSIZE)
		return cli_failed(
			"the result would exceed 4 GiB; select a part (--from, --to, --pid)");
	if (r < 0)
		return cli_failed("out of memory");
	r = verb_flame_write_output(q, format, to, &bytes);
	if (r != CLI_OK)
		return r;
	if (q->json && !to->output.file.standard)
		verb_flame_print_json(f, format, &to->output);
	else
		verb_flame_report(f, format, &to->output);
	return CLI_OK;
}

static int verb_flame_run_flame(const struct request *q)
{
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	_cleanup_(open_trace_close) struct open_trace old_t = OPEN_TRACE_NULL;
	_cleanup_(symbols_freep) struct symbols *symbols = NULL;
	_cleanup_(verb_flame_input_deinit) struct flame_input now = { 0 };
	_cleanup_(verb_flame_input_deinit) struct flame_input old = { 0 };
	struct target to = { PACKED_OUTPUT_NULL, &t, &old_t };
	const struct flame_format *format = NULL;
	struct flame f = {
		.now = &now,
		.old = q->old ? &old : NULL,
		.on_cpu = q->on_cpu,
		.off_cpu = q->off_cpu,
		.off_wake = q->off_wake,
		.by_time = q->off_cpu,
		.inverted = q->inverted,
		.min_percent = q->min_percent,
	};
	char title[600];
	int r = verb_flame_choose_format(q, &format), damage, status = CLI_OK;

	r = r ?: open_trace(&t, q->input);
	if (r == CLI_OK && q->old)
		r = open_trace(&old_t, q->old);
	r = r ?: symbol_options_open(&q->symbols, &symbols);
	if (r != CLI_OK)
		return r;
	resolver_init(&now.resolver, symbols, &q->symbols);
	resolver_init(&old.resolver, symbols, &q->symbols);
	damage = verb_flame_read_input(q, &t, &now);
	if (damage != CLI_FAILED && q->old)
		status = verb_flame_read_input(q, &old_t, &old);
	if (damage == CLI_FAILED || status == CLI_FAILED)
		return CLI_FAILED;
	if (q->on_cpu && q->off_cpu && now.profile->frequency == 0 && now.profile->n_samples)
		cli_error("%s does not contain the sampling frequency, so samples cannot be "
			  "combined with times off CPU",
			  t.name);
	verb_flame_make_title(title, sizeof(title), q, &now);
	f.title = q->title ?: title;
	r = verb_flame_write_flame(q, format, &f, &to);
	packed_output_deinit(&to.output);
	return r != CLI_OK ? r : damage != CLI_OK ? damage : status;
}

/* Names the output after the archive, in the same directory; *RET is owned by the caller. */
static int verb_flame_name_output(struct request *q, char **ret)
{
	const struct flame_format *format = &formats[0];

	if (q->output)
		return CLI_OK;
	if (strcmp(q->input, "-") == 0)
		return cli_usage_error("no output: use -o OUT");
	if (q->format)
		format = verb_flame_find_format(q);
	/* (an unknown format is reported later) */
	if (asprintf(ret, "%s%s", q->input, format ? format->suffix : "") < 0) {
		*ret = NULL;
		return cli_failed("out of memory");
	}
	q->output = *ret;
	return CLI_OK;
}

static int verb_flame_check_request(const struct request *q)
{
	if (!*q->output)
		return cli_usage_error("no output: use -o OUT");
	if (strcmp(q->output, "-") == 0 && !q->format)
		return cli_usage_error("no format for standard output: use --format");
	if (q->old && strcmp(q->old, "-") == 0 && strcmp(q->input, "-") == 0)
		return cli_usage_error("only one archive can come from standard input");
	return part_options_check(&q->part);
}

/* Selects stacks on CPU. If several of these options are given, the last one counts. */
static int verb_flame_set_on_cpu(void *request, char *value)
{
	struct request *q = request;

	q->on_cpu = true;
	q->off_cpu = q->off_wake = false;
	return CLI_OK;
}

static int verb_flame_set_off_cpu(void *request, char *value)
{
	struct request *q = request;

	q->on_cpu = q->off_wake = false;
	q->off_cpu = true;
	return CLI_OK;
}

/* Selects stacks off CPU, joined with those of the wakers. */
static int verb_flame_set_off_wake(void *request, char *value)
{
	struct request *q = request;

	q->on_cpu = false;
	q->off_cpu = q->off_wake = true;
	return CLI_OK;
}

static int verb_flame_set_both(void *request, char *value)
{
	struct request *q = request;

	q->on_cpu = q->off_cpu = true;
	q->off_wake = false;
	return CLI_OK;
}

int flame_export_run(const struct flame_export *e)
{
	const struct request q = {
		.part = PART_OPTIONS_ALL,
		.input = e->input,
		.output = e->output,
		.format = e->format,
		.on_cpu = true,
		.off_cpu = true,
		.force = e->force,
		.json = e->json,
		.allow_empty = true,
	};

	return verb_flame_run_flame(&q);
}

static int verb_flame(int argc, char **argv)
{
	struct request q = { .part = PART_OPTIONS_ALL, .on_cpu = true, .min_percent = 0.05 };
	const struct verb_option options[] = {
		OPTION_FLAG("allow-empty", &q.allow_empty),
		OPTION_PLAIN("both", verb_flame_set_both, &q),
		OPTION_TEXT("diff", 0, &q.old),
		OPTION_FLAG("force", &q.force),
		OPTION_TEXT("format", 0, &q.format),
		OPTION_FLAG("inverted", &q.inverted),
		OPTION_FLAG("json", &q.json),
		OPTION_VALUE("min-percent", 0, verb_flame_parse_percent, &q),
		OPTION_PLAIN("off-cpu", verb_flame_set_off_cpu, &q),
		OPTION_PLAIN("off-wake", verb_flame_set_off_wake, &q),
		OPTION_PLAIN("on-cpu", verb_flame_set_on_cpu, &q),
		OPTION_TEXT("output", 'o', &q.output),
		PART_OPTION_ROWS(&q.part, 'p'),
		OPTION_TEXT("process", 0, &q.process),
		OPTION_FLAG("python", &q.python),
		OPTION_VALUE("thread", 0, part_options_tids, &q.tids),
		OPTION_TEXT("title", 0, &q.title),
		SYMBOL_NONE_ROW(&q.symbols),
		SYMBOL_PLACE_ROWS(&q.symbols),
		{ 0 },
	};
	_cleanup_free_ char *output = NULL;
	int r = verb_options_parse_with(argc, argv, options, 1, VERB_ARGS_FILE);

	if (r != VERB_OPTIONS_GO)
		return r;
	q.input = argv[optind];
	r = verb_flame_name_output(&q, &output) ?: verb_flame_check_request(&q);
	return r == CLI_OK ? verb_flame_run_flame(&q) : r;
}

const struct verb verb_flame_row = {
	.name = "flame",
	.synopsis = "[OPTION ...] FILE",
	.what = "Make a flame graph, or a profile for other tools, of the call stacks",
	.examples = "  kymo flame t.fxt\n  kymo flame --off-cpu -o waits.svg t.fxt\n"
		    "  kymo flame --off-wake -o wakeups.svg t.fxt\n",
	.options =
		"  -o, --output=OUT       the file to write; its suffix is the format: .svg, .folded,\n"
		"                         .pb.gz (pprof), .otlp.gz, .json (speedscope); '-' is standard output\n"
		"      --format=FORMAT    svg, folded, pprof, otlp or speedscope, regardless of the suffix\n"
		"  -p, --pid=PID,...      only these processes\n"
		"      --process=NAME     only processes of this name, with * and ?\n"
		"      --thread=TID,...   only these threads\n"
		"      --cpu=CPU,...      only on these CPUs (0,2-3)\n"
		"      --from=TIME        start TIME after the start (1.5, 200ms), or at @NANOSECONDS\n"
		"      --to=TIME          end there\n"
		"      --on-cpu           samples of running threads (the default)\n"
		"      --off-cpu          times off CPU, by duration\n"
		"      --off-wake         times off CPU until the wakeup, with the stack of the waker\n"
		"      --both             samples and times off CPU, weighted by time\n"
		"      --diff=OLD         compare with the archive OLD\n"
		"      --inverted         start with the innermost functions, and show their callers\n"
		"      --python           omit the interpreter's own functions between those of Python\n"
		"      --title=TEXT       the title\n"
		"      --allow-empty      pprof, otlp: write a file even if there are no stacks\n"
		"      --min-percent=N    omit functions below N percent (0.05)\n" SYMBOL_NONE_HELP
			SYMBOL_PLACE_HELP "      --force            replace an existing file\n"
		"      --json             print a report as JSON\n"
		"  -h, --help             show this\n"
		"\nFILE is an archive; '-' is standard input.\n"
		"Exits with 3 if the archive is damaged or events were lost in the recording.\n",
	.run = verb_flame,
};
