/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo postprocess: leak reports in the sp-rtrace text protocol: leaks, grouping, selection, names.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/packed-output.h"
#include "cli/postprocess-options.h"
#include "cli/rtrace-input.h"
#include "cli/rtrace-json.h"
#include "cli/rtrace-names.h"
#include "cli/symbol-options.h"
#include "cli/verb.h"
#include "writer/rtrace/rtrace-line.h"

/* More problems are counted and not described; so much is collected before it is written. */
enum { PROBLEMS_SHOWN = 10, WRITE_BYTES = 65536 };

struct request {
	struct postprocess_options post;
	struct symbol_options symbols;
	const char *output; /* NULL = standard output */
	bool force, json, places;
};

struct work {
	const struct request *q;
	struct rtrace_input in;
	struct packed_output out; /* if it goes to a file */
	struct outbuf waiting;    /* to be written */
	bool mid_line;            /* what was shown last does not end with a line feed */
	bool said;                /* what failed */
	uint64_t n_problems;
	struct rtrace_names names;
};

/* ---- output ---- */

/* What was written lasts until the last line feed. */
static size_t whole_lines(const uint8_t *data, size_t n)
{
	const uint8_t *end = memrchr(data, '\n', n);

	return end ? (size_t)(end - data) + 1 : 0;
}

static int flush(struct work *w)
{
	int r = 0;

	if (w->q->output)
		r = packed_output_write(&w->out, w->waiting.data, w->waiting.size);
	else if (w->waiting.size > 0 &&
		 fwrite(w->waiting.data, 1, w->waiting.size, stdout) < w->waiting.size)
		r = -EPIPE; /* said of all verbs when they end */
	w->said |= r < 0;
	outbuf_reset(&w->waiting);
	return r;
}

static int put_json(struct work *w, const struct rtrace_record *record)
{
	struct json_object *o = rtrace_json(record);
	const char *text;
	size_t n;
	int r;

	if (!o)
		return 0;
	text = json_object_to_json_string_length(
		o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &n);
	r = text ? outbuf_append(&w->waiting, text, n) : -ENOMEM;
	json_object_put(o);
	return r < 0 ? r : outbuf_append(&w->waiting, "\n", 1);
}

static int put_text(struct work *w, const struct rtrace_record *record)
{
	int r = 0;

	/* The last line of a report may lack its line feed, and be shown before others. */
	if (w->mid_line && !record->continues)
		r = outbuf_append(&w->waiting, "\n", 1);
	w->mid_line = record->raw.n > 0 && record->raw.bytes[record->raw.n - 1] != '\n';
	if (r < 0)
		return r;
	return record->raw.n > 0 ? outbuf_append(&w->waiting, record->raw.bytes, record->raw.n)
				 : rtrace_line_record(&w->waiting, record);
}

static int emit(void *userdata, const struct rtrace_record *record)
{
	struct work *w = userdata;
	int r = w->q->json ? put_json(w, record) : put_text(w, record);

	return r == 0 && w->waiting.size >= WRITE_BYTES ? flush(w) : r;
}

/* ---- input ---- */

static ssize_t read_at(void *userdata, uint64_t offset, void *to, size_t n)
{
	struct work *w = userdata;
	ssize_t got = rtrace_input_read(&w->in, offset, to, n);

	if (got < 0) {
		input_file_failed(&w->in.file, (int)got);
		w->said = true;
	}
	return got;
}

static void tell(void *userdata, const struct rtrace_problem *problem)
{
	struct work *w = userdata;

	if (w->n_problems++ >= PROBLEMS_SHOWN)
		return;
	progress_clear(&w->in.progress);
	cli_error("%s: line %" PRIu64 ": %s; %s", w->in.file.name, problem->line, problem->what,
		  problem->done);
}

static int add_map(void *userdata, const struct rtrace_map *map)
{
	struct work *w = userdata;

	return rtrace_names_map(&w->names, map);
}

static int find_name(void *userdata, uint64_t address, uint64_t n_maps, struct rtrace_text *ret)
{
	struct work *w = userdata;

	return rtrace_names_find(&w->names, address, n_maps, ret);
}

/* ---- what became of it ---- */

static int say_failed(struct work *w, int r)
{
	const char *name = w->in.file.name;

	progress_clear(&w->in.progress);
	if (r == RTRACE_ALIEN_EMPTY)
		cli_error("%s: the file is empty; it holds no report", name);
	else if (r > 0)
		cli_error(
			"%s: it is not a leak report in the sp-rtrace text protocol: its first line "
			"is no header (version=...)",
			name);
	else if (r == -ESTALE)
		cli_error("%s: it has become shorter while it was read", name);
	else if (r == -EOVERFLOW)
		cli_error("%s: it has more calls than can be counted", name);
	else if (!w->said)
		cli_error("%s: %s", name, strerror(-r));
	return CLI_FAILED;
}

static void report(const struct work *w, const struct rtrace_postprocess_result *result)
{
	const struct postprocess_options *o = &w->q->post;
	const char *name = w->in.file.name;

	if (o->options.leaks && result->counts.replaced > 0)
		cli_error("%s: %" PRIu64
			  " allocations are no leaks, since their ids were allocated "
			  "again; but it is not in the report that they were freed",
			  name, result->counts.replaced);
	if (o->options.leaks && result->counts.unknown > 0)
		cli_error("%s: %" PRIu64
			  " deallocations are of what was allocated before the report "
			  "begins",
			  name, result->counts.unknown);
	if (result->unsorted)
		cli_error(
			"%s: its calls are not in the order of their indices; they were put in it",
			name);
	if (result->context_missing)
		cli_error("%s: it has no context of a name that --context has", name);
	if (w->n_problems > PROBLEMS_SHOWN)
		cli_error("%s: and %" PRIu64 " more lines like these", name,
			  w->n_problems - PROBLEMS_SHOWN);
	if (o->options.resolve)
		rtrace_names_print_missing(&w->names);
}

/* ---- the verb ---- */

static int open_output(struct work *w)
{
	const struct packed_output_args args = {
		.path = w->q->output,
		.force = w->q->force,
		.method = w->q->output ? pack_of_suffix(w->q->output) : PACK_NONE,
		.whole = whole_lines,
		.inputs = &w->in.file.fd,
		.n_inputs = 1,
	};

	return w->q->output && packed_output_open(&w->out, &args) < 0 ? CLI_FAILED : CLI_OK;
}

static int process(struct work *w)
{
	const struct rtrace_postprocess_io io = {
		.read_at = read_at,
		.emit = emit,
		.map = add_map,
		.name = find_name,
		.problem = tell,
		.userdata = w,
	};
	struct rtrace_postprocess_result result;
	int r = rtrace_postprocess(&w->q->post.options, &io, &result);

	if (r == 0)
		r = flush(w);
	progress_clear(&w->in.progress);
	if (r != 0)
		return say_failed(w, r);
	if (w->q->output && packed_output_finish(&w->out) < 0)
		return CLI_FAILED;
	report(w, &result);
	return w->n_problems > 0 || w->in.n_damages > 0 ? CLI_DAMAGE : CLI_OK;
}

static int run(const struct request *q, const char *path)
{
	struct work w = { .q = q, .in = RTRACE_INPUT_NULL, .out = PACKED_OUTPUT_NULL };
	_cleanup_(symbols_freep) struct symbols *symbols = NULL;
	int r = CLI_OK;

	if (q->post.options.resolve)
		r = symbol_options_open(&q->symbols, &symbols);
	rtrace_names_init(&w.names, symbols);
	if (r == CLI_OK)
		r = rtrace_input_open(&w.in, path, !postprocess_options_any(&q->post));
	if (r == CLI_OK)
		r = open_output(&w);
	if (r == CLI_OK) {
		r = process(&w);
		if (q->output)
			packed_output_deinit(&w.out);
	}
	rtrace_names_deinit(&w.names);
	rtrace_input_close(&w.in);
	outbuf_deinit(&w.waiting);
	return r;
}

enum {
	OPT_SIZE = 256,
	OPT_INDEX,
	OPT_INCLUDE,
	OPT_EXCLUDE,
	OPT_CALL_ADDRESS,
};

/* Takes what getopt_long() answered. Returns as verbs do, or -1 if it is no option of this verb. */
static int take_option(struct request *q, int c, const char *value)
{
	switch (c) {
	case 'l':
		q->post.options.leaks = true;
		return CLI_OK;
	case 'c':
		q->post.options.compress = true;
		return CLI_OK;
	case 'r':
		q->post.options.resolve = true;
		return CLI_OK;
	case 'f':
		q->force = true;
		return CLI_OK;
	case 'j':
		q->json = true;
		return CLI_OK;
	case 'o':
		q->output = strcmp(value, "-") == 0 ? NULL : value;
		return CLI_OK;
	case 's':
		return postprocess_options_sort(&q->post, value);
	case 'R':
		return postprocess_options_resource(&q->post, value);
	case 'C':
		return postprocess_options_context(&q->post, value);
	case 'b':
		return postprocess_options_depth(&q->post, value);
	case OPT_SIZE:
		return postprocess_options_size(&q->post, value);
	case OPT_INDEX:
		return postprocess_options_index(&q->post, value);
	case OPT_INCLUDE:
		return postprocess_options_include(&q->post, value);
	case OPT_EXCLUDE:
		return postprocess_options_exclude(&q->post, value);
	case OPT_CALL_ADDRESS:
		return postprocess_options_call_address(&q->post, value);
	default:
		q->places = true;
		return symbol_options_take(&q->symbols, c, value);
	}
}

/* *RET_HELPED: help was asked for, and nothing is to be done. */
static int take_options(struct request *q, int argc, char **argv, bool *ret_helped)
{
	static const struct option options[] = {
		{ "call-address", required_argument, NULL, OPT_CALL_ADDRESS },
		{ "compress", no_argument, NULL, 'c' },
		{ "context", required_argument, NULL, 'C' },
		{ "depth", required_argument, NULL, 'b' },
		{ "exclude", required_argument, NULL, OPT_EXCLUDE },
		{ "force", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ "include", required_argument, NULL, OPT_INCLUDE },
		{ "index", required_argument, NULL, OPT_INDEX },
		{ "json", no_argument, NULL, 'j' },
		{ "leaks", no_argument, NULL, 'l' },
		{ "output", required_argument, NULL, 'o' },
		{ "resolve", no_argument, NULL, 'r' },
		{ "resource", required_argument, NULL, 'R' },
		{ "size", required_argument, NULL, OPT_SIZE },
		{ "sort", required_argument, NULL, 's' },
		SYMBOL_PLACE_OPTIONS,
		{ 0 },
	};
	int c, r = CLI_OK;

	while (r == CLI_OK &&
	       (c = getopt_long(argc, argv, ":hlcrs:o:R:C:b:", options, NULL)) != -1) {
		if (c == 'h') {
			*ret_helped = true;
			return cli_help();
		}
		r = take_option(q, c, optarg);
		if (r < 0)
			return cli_bad_option(c, argv);
	}
	if (r == CLI_OK)
		r = postprocess_options_finish(&q->post);
	if (r == CLI_OK && q->places && !q->post.options.resolve)
		return cli_usage_error("--debug-dir, --debuginfod and --sysroot are for --resolve");
	if (r == CLI_OK && argc - optind != 1)
		return cli_usage_error("it takes one FILE, or '-' for standard input");
	return r;
}

static int verb_postprocess(int argc, char **argv)
{
	struct request q = { 0 };
	bool helped = false;
	int r = take_options(&q, argc, argv, &helped);

	if (r == CLI_OK && !helped)
		r = run(&q, argv[optind]);
	postprocess_options_deinit(&q.post);
	return r;
}

const struct verb verb_postprocess_row = {
	.name = "postprocess",
	.synopsis = "[OPTION ...] FILE",
	.what = "Show leaks in a leak report, grouped, sorted, with names",
	.options =
		"  -l, --leaks            only allocations that were not freed, and their sums\n"
		"  -c, --compress         group calls by their backtrace\n"
		"  -r, --resolve          give addresses names, from the files that were mapped\n"
		"  -s, --sort=ORDER       size, count, index or time, with -asc or -desc behind it\n"
		"  -R, --resource=WHICH   only these: types, or masks (memory,fd or 0x3)\n"
		"  -C, --context=WHICH    only these: names, or masks; 0 is without a context\n"
		"  -b, --depth=N          at most N frames of a backtrace\n"
		"      --size=MIN:MAX     only allocations of these sizes, and what frees them\n"
		"      --index=FROM:TO    only calls with these indices\n"
		"      --include=FILE     only calls whose index is in FILE, one a line\n"
		"      --exclude=FILE     all but those\n"
		"      --call-address=[MODULE:]START+SIZE\n"
		"                         only allocations from these addresses, hexadecimal\n" SYMBOL_PLACE_HELP
		"  -o, --output=OUT       write to this file, compressed if it is called *.gz etc.\n"
		"      --force            write over an existing file\n"
		"      --json             print a JSON object a record\n"
		"  -h, --help             show this\n"
		"\nFILE is a report in the sp-rtrace text protocol; '-' is standard input.\n"
		"Without anything to do it is shown as it is. What is wrong in it is said on\n"
		"standard error, by line; the exit status is 3 then.\n",
	.run = verb_postprocess,
};
