/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo export: writes a trace in another format, or with another compression.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/archive/export.h"
#include "cli/flame/flame.h"
#include "cli/common/json.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"

/* The length of a frame in qapitrace. */
#define FRAME_NS_DEFAULT UINT64_C(100000000)

static const struct export_format formats[] = {
	{ "fxt", ".fxt", NULL, PACK_NONE, export_fxt },
	{ "rtrace", ".rtrace", "reports", PACK_NONE, export_rtrace },
	{ "apitrace", ".trace", NULL, PACK_SNAPPY, export_apitrace },
	{ "tfile", ".tf", NULL, PACK_NONE, export_tfile },
	{ "tracedb", ".tdb", NULL, PACK_NONE, export_tracedb },
	{ "perfetto", ".pftrace", NULL, PACK_NONE, export_perfetto },
	{ "parquet", ".parquet", "tables", PACK_NONE, export_parquet },
	{ "pprof", ".pb", NULL, PACK_GZIP, NULL },
	{ "otlp", ".otlp", NULL, PACK_GZIP, NULL },
};

struct export_options {
	const char *format, *input, *output;
	const char *compress; /* argument of --compress; NULL = not given */
	bool pack;            /* --compress was given */
	bool force, json, spec_time, narrow, partition;
	struct call_trace_options calls; /* for apitrace */
};

static void verb_export_deinit(struct export *e)
{
	packed_output_deinit(&e->output);
	free(e->made);
	input_file_close(&e->input);
}

/* ---- choices ---- */

/* Returns the names of all formats: "fxt, x, y". */
static const char *verb_export_format_names(void)
{
	static char names[128];

	*names = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		strcat(names, i ? ", " : "");
		strcat(names, formats[i].name);
	}
	return names;
}

/* Returns true if NAME ends with SUFFIX, or with SUFFIX and the suffix of METHOD. */
static bool verb_export_has_suffix(const char *name, const char *suffix, enum pack_method method)
{
	size_t n = strlen(name) - strlen(pack_ops(method)->suffix), length = strlen(suffix);

	return n > length && strncmp(name + n - length, suffix, length) == 0;
}

/* Chooses the given format, or the format of the output's suffix. */
static int verb_export_choose_format(const struct export_options *o,
				     const struct export_format **ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (o->format ? strcmp(formats[i].name, o->format) == 0
			      : verb_export_has_suffix(o->output, formats[i].suffix,
						       pack_of_suffix(o->output))) {
			*ret = &formats[i];
			return CLI_OK;
		}
	}
	if (o->format)
		return cli_usage_error("unknown format '%s'; the formats are: %s", o->format,
				       verb_export_format_names());
	return cli_usage_error("the name '%s' does not determine the format; use --format with "
			       "one of: %s",
			       o->output, verb_export_format_names());
}

static int verb_export_contradiction(const struct export_options *o, const char *called,
				     const char *asked)
{
	return cli_usage_error("the suffix of %s stands for %s, but --compress asks for %s",
			       o->output, called, asked);
}

/* Chooses the given compression, or the compression of the output's suffix. */
static int verb_export_choose_method(const struct export_options *o,
				     const struct export_format *format, enum pack_method *ret)
{
	enum pack_method called = pack_of_suffix(o->output), asked = PACK_NONE;
	bool plain =
		called == PACK_NONE && verb_export_has_suffix(o->output, format->suffix, called);

	if (!o->pack) {
		*ret = called != PACK_NONE ? called : format->method;
		return CLI_OK;
	}
	if (!o->compress) {
		if (plain && format->method == PACK_NONE)
			return verb_export_contradiction(o, "not compressed", "a method");
		*ret = called != PACK_NONE           ? called
		       : format->method != PACK_NONE ? format->method
						     : PACK_ZSTD;
		return CLI_OK;
	}
	if (strcmp(o->compress, "none") != 0 && pack_parse(o->compress, &asked) < 0)
		return cli_usage_error("--compress: '%s' must be one of snappy, zstd, gzip, "
				       "columns and none",
				       o->compress);
	/* (a call trace has the same suffix with every compression) */
	if (format->method == PACK_NONE && (called != PACK_NONE || plain) && called != asked)
		return verb_export_contradiction(
			o, called == PACK_NONE ? "not compressed" : pack_ops(called)->name,
			o->compress);
	*ret = asked;
	return CLI_OK;
}

static int verb_export_check_options(const struct export_options *o)
{
	if (!o->output || !*o->output)
		return cli_usage_error("no output: use -o FILE, or '-o -' for standard output");
	if (strcmp(o->output, "-") == 0 && o->json)
		return cli_usage_error("'-o -' and '--json' would both write to standard output");
	return CLI_OK;
}

/* ---- report ---- */

static const char *verb_export_method_name(enum pack_method method)
{
	return method == PACK_NONE ? "none" : pack_ops(method)->name;
}

static void verb_export_print_json(const struct export *e, const struct export_format *format)
{
	json_print_pretty(JSON_OBJECT(
		JSON("input", json_from_text(e->input.name)),
		JSON("output", json_from_text(e->output.file.path)), JSON("format", format->name),
		JSON("input_compression", verb_export_method_name(e->input_method)),
		JSON("output_compression", verb_export_method_name(e->method)),
		JSON_IF(e->input_bytes != 0, "input_bytes", e->input_bytes),
		JSON("unpacked_bytes", e->output.bytes), JSON("output_bytes", e->output.file_bytes),
		JSON_OF(e, damaged)));
}

static void verb_export_report(const struct export *e, const struct export_format *format)
{
	fprintf(stderr, "%s: %s, %s", e->output.file.path, TEXT_SIZE(e->output.file_bytes),
		format->name);
	if (e->method != PACK_NONE)
		fprintf(stderr, " compressed with %s from %s", verb_export_method_name(e->method),
			TEXT_SIZE(e->output.bytes));
	fputc('\n', stderr);
}

/* Reports the output of formats that can write several files. */
static void verb_export_report_directory(const struct export *e, const struct export_format *format,
					 const struct export_options *o)
{
	if (!o->json)
		fprintf(stderr, "%s: %zu %s\n", e->made ?: e->output_path, e->n_files,
			format->directory_of ?: "call traces");
	else
		json_print_pretty(
			JSON_OBJECT(JSON("input", json_from_text(e->input.name)),
				    JSON("output", json_from_text(e->made ?: e->output_path)),
				    JSON("files", e->n_files), JSON_OF(e, damaged)));
}

/* ---- the verb ---- */

/* Writes a format of `kymo flame`. */
static int verb_export_run_profile(const struct export_options *o,
				   const struct export_format *format)
{
	const struct flame_export e = { .input = o->input,
					.output = o->output,
					.format = format->name,
					.force = o->force,
					.json = o->json };

	if (o->compress && strcmp(o->compress, "gzip") != 0)
		return cli_usage_error("%s is always compressed with gzip", format->name);
	return flame_export_run(&e);
}

static int verb_export_run_export(const struct export_options *o)
{
	_cleanup_(verb_export_deinit) struct export e = {
		.input = INPUT_FILE_NULL,
		.input_path = o->input,
		.output_path = o->output,
		.force = o->force,
		.spec_time = o->spec_time,
		.narrow = o->narrow,
		.partition = o->partition,
		.calls = o->calls,
		.output = PACKED_OUTPUT_NULL,
	};
	const struct export_format *format = NULL;
	int r = verb_export_choose_format(o, &format);

	if (r == CLI_OK && format->directory_of && strcmp(o->output, "-") == 0)
		return cli_usage_error(
			"%s %s are written to a directory, so '-o -' is not possible", format->name,
			format->directory_of);
	if (r == CLI_OK && o->partition && format->run != export_parquet)
		return cli_usage_error("--partition makes directories of parquet tables, not of %s",
				       format->name);
	if (r == CLI_OK && !format->run)
		return verb_export_run_profile(o, format);
	r = r ?: verb_export_choose_method(o, format, &e.method) ?: input_file_open(&e.input, o->input);
	if (r != CLI_OK)
		return r;
	r = format->run(&e);
	if (r == CLI_FAILED || r == CLI_USAGE)
		return r;
	if (format->directory_of || o->calls.split)
		verb_export_report_directory(&e, format, o);
	else if (e.reported)
		return r;
	else if (o->json)
		verb_export_print_json(&e, format);
	else
		verb_export_report(&e, format);
	return r;
}

static int verb_export_parse_order(void *to, char *value)
{
	enum call_trace_order *order = to;

	*order = strcmp(value, "arrival") == 0 ? CALL_TRACE_ARRIVAL : CALL_TRACE_PAIRED;
	if (*order == CALL_TRACE_ARRIVAL || strcmp(value, "paired") == 0)
		return CLI_OK;
	return cli_usage_error("--order takes paired or arrival, not '%s'", value);
}

static int verb_export_parse_split(void *to, char *value)
{
	*(bool *)to = true;
	return strcmp(value, "pid") == 0 ? CLI_OK
					 : cli_usage_error("--split takes pid, not '%s'", value);
}

static int verb_export_parse_frame(void *to, char *value)
{
	return text_parse_time(value, to) < 0
		       ? cli_usage_error("--frame takes a time (16ms, 1s), not '%s'", value)
		       : CLI_OK;
}

static int verb_export(int argc, char **argv)
{
	struct export_options o = { .calls.slice_ns = FRAME_NS_DEFAULT };
	const struct verb_option options[] = {
		{ "compress", 0, optional_argument, .flag = &o.pack, .text = &o.compress },
		OPTION_FLAG("force", &o.force),
		OPTION_TEXT("format", 0, &o.format),
		OPTION_VALUE("frame", 0, verb_export_parse_frame, &o.calls.slice_ns),
		OPTION_FLAG("json", &o.json),
		OPTION_VALUE("order", 0, verb_export_parse_order, &o.calls.order),
		OPTION_TEXT("output", 'o', &o.output),
		OPTION_FLAG("partition", &o.partition),
		OPTION_FLAG("plain", &o.calls.plain),
		OPTION_FLAG("spec-time", &o.spec_time),
		OPTION_FLAG("narrow", &o.narrow),
		OPTION_VALUE("split", 0, verb_export_parse_split, &o.calls.split),
		{ 0 },
	};
	int r = verb_options_parse_with(argc, argv, options, 1, VERB_ARGS_FILE);

	if (r != VERB_OPTIONS_GO)
		return r;
	o.input = argv[optind];
	r = verb_export_check_options(&o);
	return r == CLI_OK ? verb_export_run_export(&o) : r;
}

const struct verb verb_export_row = {
	.name = "export",
	.synopsis = "[OPTION ...] FILE -o OUT",
	.what = "Write a trace in another format or with another compression",
	.examples = "  kymo export t.fxt.zst -o t.fxt.gz\n  kymo export t.fxt -o calls.trace\n",
	.options =
		"  -o, --output=OUT         the file to write; '-' is standard output\n"
		"      --format=FORMAT      fxt: the archive itself; rtrace: a directory of leak reports;\n"
		"                           apitrace: calls; tfile: a GDB trace file;\n"
		"                           tracedb: trace points; perfetto: a Perfetto trace;\n"
		"                           parquet: a directory of tables;\n"
		"                           pprof: a profile of call stacks (see kymo flame);\n"
		"                           otlp: the same for OpenTelemetry;\n"
		"                           the default follows the suffix of OUT\n"
		"      --compress[=METHOD]  zstd (the default), gzip, snappy, columns or none; without\n"
		"                           it, by the suffix of OUT: .zst, .gz, .sz, .cols\n"
		"      --spec-time          rtrace: microseconds, as specified; other readers expect ms\n"
		"      --order=ORDER        apitrace: paired (the default) groups the calls of a process;\n"
		"                           arrival orders starts and ends by time\n"
		"      --frame=TIME         apitrace: the length of a frame (100ms)\n"
		"      --split=pid          apitrace: a file for each process, with its id in the name\n"
		"      --partition          parquet: make OUT/host=NAME/date=DAY/hour=HOUR/part=MMSS\n"
		"      --narrow             tracedb: numbers in the widths of the specification\n"
		"      --plain              apitrace: without times, processes and frames\n"
		"      --force              replace an existing file\n"
		"      --json               print the result as JSON\n"
		"  -h, --help               show this\n"
		"\nFILE is an archive, compressed or not, or for tfile a GDB trace file; '-' is standard input.\n"
		"Exits with 3 if FILE is damaged; the readable part is exported.\n",
	.run = verb_export,
};
