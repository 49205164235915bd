/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo postprocess: finds leaks in reports in the sp-rtrace text protocol, groups and selects their
 * records, and adds names.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/rtrace/archive-report.h"
#include "cli/common/packed-output.h"
#include "cli/rtrace/postprocess-options.h"
#include "cli/rtrace/rtrace-input.h"
#include "cli/rtrace/rtrace-json.h"
#include "cli/rtrace/rtrace-names.h"
#include "cli/common/symbol-options.h"
#include "cli/common/terminal.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "writer/rtrace/rtrace-line.h"

/*
 * PROBLEMS_SHOWN: the maximum number of problems that are described; the others are only counted.
 * WRITE_BYTES: number of bytes that are collected before a write.
 */
enum { PROBLEMS_SHOWN = 10, WRITE_BYTES = 65536 };

struct request {
	struct postprocess_options post;
	struct symbol_options symbols;
	const char *output; /* NULL = standard output */
	bool force, json;
};

struct work {
	const struct request *q;
	struct rtrace_input in;
	struct packed_output out; /* output, if it is a file */
	struct outbuf waiting;    /* data that is not written yet */
	bool mid_line;            /* the last output did not end with a line feed */
	bool complained;          /* an error message was printed */
	uint64_t n_problems;
	struct rtrace_names names;
};

/* ---- output ---- */

/* Returns the length of DATA up to and including its last line feed. */
static size_t verb_postprocess_whole_lines(const uint8_t *data, size_t n)
{
	const uint8_t *end = memrchr(data, '\n', n);

	return end ? (size_t)(end - data) + 1 : 0;
}

static int verb_postprocess_flush(struct work *w)
{
	int r = 0;

	if (w->q->output)
		r = packed_output_write(&w->out, w->waiting.data, w->waiting.size);
	else if (terminal_is_there())
		r = terminal_print((const char *)w->waiting.data, w->waiting.size);
	else if (w->waiting.size > 0 &&
		 fwrite(w->waiting.data, 1, w->waiting.size, stdout) < w->waiting.size)
		r = -EPIPE; /* the dispatcher reports the error */
	w->complained |= r < 0;
	outbuf_reset(&w->waiting);
	return r;
}

static int verb_postprocess_put_json(struct work *w, const struct rtrace_record *record)
{
	struct json_object *o = rtrace_json(record);
	int r;

	if (!o)
		return 0;
	r = json_append(&w->waiting, o, JSON_C_TO_STRING_PLAIN);
	json_object_put(o);
	return r < 0 ? r : outbuf_append(&w->waiting, "\n", 1);
}

static int verb_postprocess_put_text(struct work *w, const struct rtrace_record *record)
{
	int r = 0;

	/*
	 * The last line of a report can lack its line feed. If other lines follow it in the output,
	 * the line feed is added.
	 */
	if (w->mid_line && !record->continues)
		r = outbuf_append(&w->waiting, "\n", 1);
	w->mid_line = record->raw.n > 0 && record->raw.bytes[record->raw.n - 1] != '\n';
	if (r < 0)
		return r;
	return record->raw.n > 0 ? outbuf_append(&w->waiting, record->raw.bytes, record->raw.n)
				 : rtrace_line_record(&w->waiting, record);
}

static int verb_postprocess_emit(void *userdata, const struct rtrace_record *record)
{
	struct work *w = userdata;
	int r = w->q->json ? verb_postprocess_put_json(w, record)
			   : verb_postprocess_put_text(w, record);

	return r == 0 && w->waiting.size >= WRITE_BYTES ? verb_postprocess_flush(w) : r;
}

/* ---- input ---- */

static ssize_t verb_postprocess_read_at(void *userdata, uint64_t offset, void *to, size_t n)
{
	struct work *w = userdata;
	ssize_t got = rtrace_input_read(&w->in, offset, to, n);

	if (got < 0) {
		input_file_failed(&w->in.file, (int)got);
		w->complained = true;
	}
	return got;
}

static void verb_postprocess_report_problem(void *userdata, const struct rtrace_problem *problem)
{
	struct work *w = userdata;

	if (w->n_problems++ >= PROBLEMS_SHOWN)
		return;
	progress_clear();
	cli_error("%s: line %" PRIu64 ": %s; %s", w->in.file.name, problem->line, problem->what,
		  problem->done);
}

static int verb_postprocess_add_map(void *userdata, const struct rtrace_map *map)
{
	struct work *w = userdata;

	return rtrace_names_map(&w->names, map);
}

static int verb_postprocess_find_name(void *userdata, uint64_t address, uint64_t n_maps,
				      struct rtrace_text *ret)
{
	struct work *w = userdata;

	return rtrace_names_find(&w->names, address, n_maps, ret);
}

/* ---- report ---- */

static int verb_postprocess_report_failure(struct work *w, int r)
{
	const char *name = w->in.file.name;

	progress_clear();
	if (r == RTRACE_ALIEN_EMPTY)
		cli_error("%s: the file is empty", name);
	else if (r > 0)
		cli_error("%s is not a leak report in the sp-rtrace text protocol: its first line "
			  "is not a header (version=...)",
			  name);
	else if (r == -ESTALE)
		cli_error("%s became shorter while it was read", name);
	else if (r == -EOVERFLOW)
		cli_error("%s contains more calls than can be counted", name);
	else if (!w->complained)
		cli_error("%s: %s", name, strerror(-r));
	return CLI_FAILED;
}

static void verb_postprocess_report(const struct work *w,
				    const struct rtrace_postprocess_result *result)
{
	const struct postprocess_options *o = &w->q->post;
	const char *name = w->in.file.name;

	if (o->options.leaks && result->counts.replaced > 0)
		cli_error(
			"%s: allocations whose id was allocated again without a free in between: %" PRIu64
			"; they do not count as leaks",
			name, result->counts.replaced);
	if (o->options.leaks && result->counts.unknown > 0)
		cli_error("%s: deallocations without an allocation in the report: %" PRIu64, name,
			  result->counts.unknown);
	if (result->unsorted)
		cli_error("%s: its calls were not ordered by index; they were sorted", name);
	if (result->context_missing)
		cli_error("%s: it contains none of the contexts of --context", name);
	if (w->n_problems > PROBLEMS_SHOWN)
		cli_error("%s: further messages about its lines, which are not shown: %" PRIu64,
			  name, w->n_problems - PROBLEMS_SHOWN);
	if (o->options.resolve)
		rtrace_names_print_missing(&w->names);
}

/* ---- the verb ---- */

static int verb_postprocess_open_output(struct work *w)
{
	const struct packed_output_args args = {
		.path = w->q->output,
		.force = w->q->force,
		.method = w->q->output ? pack_of_suffix(w->q->output) : PACK_NONE,
		.whole = verb_postprocess_whole_lines,
		.inputs = &w->in.file.fd,
		.n_inputs = 1,
	};

	return w->q->output && packed_output_open(&w->out, &args) < 0 ? CLI_FAILED : CLI_OK;
}

static int verb_postprocess_input(struct work *w)
{
	const struct rtrace_postprocess_io io = {
		.read_at = verb_postprocess_read_at,
		.emit = verb_postprocess_emit,
		.map = verb_postprocess_add_map,
		.name = verb_postprocess_find_name,
		.problem = verb_postprocess_report_problem,
		.userdata = w,
	};
	struct rtrace_postprocess_result result;
	int r = rtrace_postprocess(&w->q->post.options, &io, &result) ?: verb_postprocess_flush(w);

	progress_clear();
	if (r != 0)
		return verb_postprocess_report_failure(w, r);
	if (w->q->output && packed_output_finish(&w->out) < 0)
		return CLI_FAILED;
	verb_postprocess_report(w, &result);
	return w->n_problems > 0 || w->in.n_damages > 0 ? CLI_DAMAGE : CLI_OK;
}

static int verb_postprocess_run(const struct request *q, const char *path)
{
	struct work w = { .q = q, .in = RTRACE_INPUT_NULL, .out = PACKED_OUTPUT_NULL };
	_cleanup_(symbols_freep) struct symbols *symbols = NULL;
	_cleanup_close_ int of_archive = -1;
	char path_of_report[64];
	int r = archive_report_open(path, &of_archive);
	bool damaged = r == CLI_DAMAGE;

	if (damaged)
		r = CLI_OK;
	snprintf(path_of_report, sizeof(path_of_report), "/proc/self/fd/%d", of_archive);
	if (r == CLI_OK && q->post.options.resolve)
		r = symbol_options_open(&q->symbols, &symbols);
	rtrace_names_init(&w.names, symbols);
	if (r == CLI_OK)
		r = rtrace_input_open(&w.in, of_archive < 0 ? path : path_of_report,
				      !postprocess_options_any(&q->post));
	if (of_archive >= 0)
		w.in.file.name = path;
	r = r ?: verb_postprocess_open_output(&w);
	if (r == CLI_OK) {
		r = verb_postprocess_input(&w);
		if (q->output)
			packed_output_deinit(&w.out);
	}
	rtrace_names_deinit(&w.names);
	rtrace_input_close(&w.in);
	outbuf_deinit(&w.waiting);
	return r == CLI_OK && damaged ? CLI_DAMAGE : r;
}

/* Defines the parser of an option of the post-processing, which parses its argument itself. */
#define DEFINE_PARSE(what)                                                                         \
	static int parse_##what(void *request, char *word)                                         \
	{                                                                                          \
		struct request *q = request;                                                       \
                                                                                                   \
		return postprocess_options_##what(&q->post, word);                                 \
	}
DEFINE_PARSE(sort)
DEFINE_PARSE(resource)
DEFINE_PARSE(context)
DEFINE_PARSE(depth)
DEFINE_PARSE(size)
DEFINE_PARSE(index)
DEFINE_PARSE(call_address)
DEFINE_PARSE(include)
DEFINE_PARSE(exclude)
#undef DEFINE_PARSE

static int verb_postprocess_parse_options(struct request *q, int argc, char **argv)
{
	const struct verb_option options[] = {
		OPTION_VALUE("call-address", 0, parse_call_address, q),
		{ .name = "compress", .letter = 'c', .flag = &q->post.options.compress },
		OPTION_VALUE("context", 'C', parse_context, q),
		OPTION_VALUE("depth", 'b', parse_depth, q),
		OPTION_VALUE("exclude", 0, parse_exclude, q),
		OPTION_FLAG("force", &q->force),
		OPTION_VALUE("include", 0, parse_include, q),
		OPTION_VALUE("index", 0, parse_index, q),
		OPTION_FLAG("json", &q->json),
		{ .name = "leaks", .letter = 'l', .flag = &q->post.options.leaks },
		OPTION_TEXT("output", 'o', &q->output),
		{ .name = "resolve", .letter = 'r', .flag = &q->post.options.resolve },
		OPTION_VALUE("resource", 'R', parse_resource, q),
		OPTION_VALUE("size", 0, parse_size, q),
		OPTION_VALUE("sort", 's', parse_sort, q),
		SYMBOL_PLACE_ROWS(&q->symbols),
		{ 0 },
	};
	int r = verb_options_parse_with(argc, argv, options, 1, VERB_ARGS_FILE);

	if (r != VERB_OPTIONS_GO)
		return r;
	if (q->output && strcmp(q->output, "-") == 0)
		q->output = NULL;
	r = postprocess_options_finish(&q->post);
	if (r != CLI_OK)
		return r;
	if (!q->post.options.resolve &&
	    (q->symbols.n_debug_dirs || q->symbols.debuginfod || q->symbols.sysroot))
		return cli_usage_error("--debug-dir, --debuginfod and --sysroot need --resolve");
	return VERB_OPTIONS_GO;
}

static int verb_postprocess(int argc, char **argv)
{
	struct request q = { 0 };
	int r = verb_postprocess_parse_options(&q, argc, argv);

	if (r == VERB_OPTIONS_GO)
		r = verb_postprocess_run(&q, argv[optind]);
	postprocess_options_deinit(&q.post);
	return r;
}

const struct verb verb_postprocess_row = {
	.name = "postprocess",
	.synopsis = "[OPTION ...] FILE",
	.what = "Show the leaks in a leak report, grouped, sorted, with names",
	.examples =
		"  kymo postprocess -lcr app.rtrace.txt\n  kymo postprocess -l --sort=size app.rtrace.txt\n",
	.options =
		"  -l, --leaks            only allocations that were not freed, and their sums\n"
		"  -c, --compress         group calls by their backtrace\n"
		"  -r, --resolve          replace addresses by names, from the mapped files\n"
		"  -s, --sort=ORDER       size, count, index or time, with suffix -asc or -desc\n"
		"  -R, --resource=WHICH   only these resources: types, or masks (memory,fd or 0x3)\n"
		"  -C, --context=WHICH    only these contexts: names, or masks; 0 is none\n"
		"  -b, --depth=N          at most N frames of a backtrace\n"
		"      --size=MIN:MAX     only allocations of these sizes, and their frees\n"
		"      --index=FROM:TO    only calls with these indices\n"
		"      --include=FILE     only calls with the indices in FILE, one per line\n"
		"      --exclude=FILE     all other calls\n"
		"      --call-address=[MODULE:]START+SIZE\n"
		"                         only allocations from these addresses, hexadecimal\n" SYMBOL_PLACE_HELP
		"  -o, --output=OUT       write to this file, compressed by its suffix (.gz etc.)\n"
		"      --force            replace an existing file\n"
		"      --json             print one JSON object per record\n"
		"  -h, --help             show this\n"
		"\nFILE is a report in the sp-rtrace text protocol, or an archive in which one\nprogram was watched; '-' is standard input, for a report.\n"
		"Without other options, it is printed unchanged. Errors in it are reported on\n"
		"standard error, by line, and the exit status is 3.\n",
	.run = verb_postprocess,
};
