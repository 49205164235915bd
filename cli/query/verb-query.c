/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo query: the points of a trace for whose variables a predicate holds.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/common/input-file.h"
#include "cli/common/json.h"
#include "cli/common/packed-output.h"
#include "cli/common/read-events.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "cli/query/trace-points.h"
#include "reader/pack/unpack.h"
#include "reader/query/query-run.h"
#include "writer/koids.h"
#include "writer/tracedb/tracedb-writer.h"

enum { VARS_MAX = QUERY_VARIABLES_MAX, WRITE_BYTES = 1 << 20 };

struct verb_query {
	struct query query;
	const char *variables[VARS_MAX], *softs[QUERY_SOFTS_MAX];
	size_t n_variables, n_softs;
	uint64_t pick;
	bool json;

	struct input_file file;
	struct unpack *unpack;
	struct tracedb_reader *reader;
	struct tracedb_store *store;
	struct trace_points points;      /* of an archive: then there is no file, and... */
	struct trace_points_space space; /* ... this is the address space */
	bool is_archive;
	struct outbuf bytes; /* its trace */

	const char *output_path; /* NULL = results are printed */
	bool force;
	struct packed_output output;
	struct tracedb_writer writer;
	struct outbuf found;
	size_t n_written, last_point;
	uint64_t n_results;
};

static void verb_query_deinit(struct verb_query *v)
{
	query_deinit(&v->query);
	trace_points_deinit(&v->points);
	outbuf_deinit(&v->bytes);
	outbuf_deinit(&v->found);
	packed_output_deinit(&v->output);
	v->store = tracedb_store_free(v->store);
	v->reader = tracedb_reader_free(v->reader);
	v->unpack = unpack_free(v->unpack);
	input_file_close(&v->file);
}

/* ---- options ---- */

static int verb_query_take_variable(void *to, char *value)
{
	struct verb_query *v = to;

	if (v->n_variables == VARS_MAX)
		return cli_usage_error("--var: more than %d are not possible", VARS_MAX);
	v->variables[v->n_variables++] = value;
	return CLI_OK;
}

static int verb_query_take_soft(void *to, char *value)
{
	struct verb_query *v = to;

	if (v->n_softs == QUERY_SOFTS_MAX)
		return cli_usage_error("--soft: more than %d are not possible", QUERY_SOFTS_MAX);
	v->softs[v->n_softs++] = value;
	return CLI_OK;
}

static int verb_query_take_number(void *to, char *value)
{
	uint64_t *number = to;
	char *end;

	errno = 0;
	*number = strtoull(value, &end, 0);
	return errno == 0 && *value >= '0' && *value <= '9' && *end == '\0'
		       ? CLI_OK
		       : cli_usage_error("%s takes a number, not '%s'", verb_options_typed(),
					 value);
}

static int verb_query_complain(const char *text, const struct query_error *error)
{
	return cli_usage_error("%s\n%s\n%*s^", error->why, text, (int)error->at, "");
}

/* All expressions, once the variables are declared. */
static int verb_query_parse(struct verb_query *v, const char *hard)
{
	struct query *q = &v->query;
	struct query_error error;
	const char *text = "";
	int r = 0;

	for (size_t i = 0; r == 0 && i < v->n_variables; i++) {
		text = v->variables[i];
		r = query_declare(&q->expression, text, &error);
	}
	if (r == 0) {
		text = hard;
		r = query_parse(&q->expression, text, &q->hard, &error);
	}
	for (; r == 0 && q->n_softs < v->n_softs; q->n_softs++) {
		text = v->softs[q->n_softs];
		r = query_parse(&q->expression, text, &q->softs[q->n_softs], &error);
	}
	if (r == -EINVAL)
		return verb_query_complain(text, &error);
	if (v->pick > UINT32_MAX)
		return cli_usage_error("--pick takes a seed of 32 bits");
	q->seed = (uint32_t)v->pick;
	return r < 0 ? cli_failed("out of memory") : CLI_OK;
}

/* ---- the trace ---- */

static ssize_t verb_query_read(void *source, void *to, size_t n)
{
	return unpack_read(source, to, n);
}

static int verb_query_load(struct verb_query *v, const char *path)
{
	const struct tracedb_damage *damage;
	int r = input_file_open(&v->file, path);

	if (r != CLI_OK)
		return r;
	r = unpack_new_fd(&v->unpack, v->file.fd);
	if (r == 0)
		r = tracedb_reader_new_source(&v->reader, verb_query_read, v->unpack);
	if (r == TRACEDB_ALIEN)
		return cli_failed("%s: it is not a trace of trace points (trace-db)%s",
				  v->file.name,
				  strcmp(path, "-") == 0
					  ? "; archives are read from files, not from a pipe"
					  : "");
	if (r == 0)
		r = tracedb_store_load(&v->store, v->reader);
	if (r < 0) {
		input_file_failed(&v->file, r);
		return CLI_FAILED;
	}
	if (r != TRACEDB_DAMAGE)
		return CLI_OK;
	damage = tracedb_reader_damage(v->reader);
	cli_error("%s: at byte %" PRIu64 ": %s; the %zu points before it are used", v->file.name,
		  damage->offset, damage->what, tracedb_store_points(v->store));
	return CLI_DAMAGE;
}

/* ---- an archive ---- */

/* Whether what is at PATH begins as an archive does, which is for open_trace() to read. */
static bool verb_query_is_archive(const char *path)
{
	_cleanup_(tracedb_reader_freep) struct tracedb_reader *reader = NULL;
	_cleanup_(unpack_freep) struct unpack *unpack = NULL;
	struct input_file file = INPUT_FILE_NULL;
	bool alien = false;

	/* (a pipe can be read once only: it is one of trace points) */
	if (strcmp(path, "-") == 0 || input_file_open(&file, path) != CLI_OK)
		return false;
	if (unpack_new_fd(&unpack, file.fd) == 0)
		alien = tracedb_reader_new_source(&reader, verb_query_read, unpack) ==
			TRACEDB_ALIEN;
	input_file_close(&file);
	return alien;
}

static int verb_query_read_archive(struct verb_query *v, const char *path)
{
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	int r = trace_points_init(&v->points) ?: open_trace(&t, path);

	v->file.name = path;
	if (r == CLI_OK)
		r = read_events(&t, trace_points_take, &v->points);
	if (r != CLI_OK)
		return r;
	if (v->points.n_points == 0)
		return cli_failed("%s: it has no calls and no moments; 'kymo record --call=SPEC' "
				  "records calls",
				  path);
	if (v->points.sampled)
		return cli_failed(
			"%s: only some allocations were recorded, so sizes of buffers are "
			"not known; leave --memory-interval out",
			path);
	if (v->points.n_lost)
		cli_error("%s: %" PRIu64 " calls or allocations were lost: sizes of buffers may be "
			  "out of date",
			  path, v->points.n_lost);
	return open_trace_finish(&t);
}

static const char *verb_query_function(const void *points, uint64_t statement)
{
	const struct trace_points *p = points;
	const struct trace_statement *s = trace_statements_get(&p->statements, statement);

	return s ? s->name : NULL;
}

static int verb_query_load_space(struct verb_query *v, const struct trace_points_space *space)
{
	int r;

	v->store = tracedb_store_free(v->store);
	v->reader = tracedb_reader_free(v->reader);
	outbuf_deinit(&v->bytes);
	v->space = *space;
	r = trace_points_write(&v->points, space, TRACEDB_W64, &v->bytes);
	if (r == 0)
		r = tracedb_reader_new_memory(&v->reader, v->bytes.data, v->bytes.size);
	if (r == 0)
		r = tracedb_store_load(&v->store, v->reader);
	return r < 0 ? cli_failed("%s: %s", v->file.name, strerror(-r)) : CLI_OK;
}

static int verb_query_answer(struct verb_query *v);

static int verb_query_answer_archive(struct verb_query *v, const char *path)
{
	_cleanup_free_ struct trace_points_space *spaces = NULL;
	int status = verb_query_read_archive(v, path), r = CLI_OK;
	size_t n = 0;

	if (status != CLI_OK && status != CLI_DAMAGE)
		return status;
	if (trace_points_spaces(&v->points, &spaces, &n) < 0)
		return cli_failed("out of memory");
	v->is_archive = true;
	v->query.function = verb_query_function;
	v->query.function_userdata = &v->points;
	if (v->output_path && n > 1)
		return cli_failed("%s: it has the points of %zu address spaces, and a trace-db "
				  "file has one; 'kymo export --format tracedb' writes them all",
				  path, n);
	for (size_t i = 0; r == CLI_OK && i < n; i++) {
		r = verb_query_load_space(v, &spaces[i]);
		if (r == CLI_OK)
			r = verb_query_answer(v);
	}
	return r == CLI_OK ? status : r;
}

/* ---- results ---- */

static const char *verb_query_type(const struct verb_query *v, const struct tracedb_value *value)
{
	const struct tracedb_dictionary *d = tracedb_reader_dictionary(v->reader);

	return d->names[d->types[value->type].name];
}

static const char *verb_query_name(const struct verb_query *v, const struct tracedb_value *value)
{
	return tracedb_reader_dictionary(v->reader)->names[value->name];
}

static uint32_t verb_query_format(const struct verb_query *v, const struct tracedb_value *value)
{
	return tracedb_reader_dictionary(v->reader)->types[value->type].format;
}

static void verb_query_print_value(const struct verb_query *v, const struct tracedb_value *value)
{
	char text[256];

	switch (verb_query_format(v, value)) {
	case TRACEDB_SIGNED:
		printf("%" PRId64, value->s);
		return;
	case TRACEDB_FLOAT:
		printf("%.17g", value->f);
		return;
	case TRACEDB_POINTER:
		printf("0x%" PRIx64, value->u);
		return;
	case TRACEDB_BLOB:
		text_clean(text, sizeof(text), (const char *)value->bytes, value->size);
		printf("\"%s\"", text);
		return;
	default:
		printf("%" PRIu64, value->u);
	}
}

/* "write, called by main over.c:12", "demo:main.c:42 main.c:42" */
static void verb_query_print_statement(const struct trace_statement *s)
{
	if (!s)
		return;
	printf("%s", s->name);
	if (*s->caller)
		printf(", called by %s", s->caller);
	if (*s->source)
		printf(" %s:%u", s->source, s->line);
}

static void verb_query_print_text(const struct verb_query *v, const struct query_result *r)
{
	const struct query_expression *e = &v->query.expression;

	if (v->is_archive)
		printf("pid %u point %zu ", v->space.pid & FXT_KOID_TID_MASK, r->point);
	else
		printf("point %zu statement 0x%" PRIx64, r->point, r->of->statement);
	verb_query_print_statement(trace_statements_get(&v->points.statements, r->of->statement));
	for (size_t i = 0; i < e->n_variables; i++) {
		const struct tracedb_variable *bound = &r->of->variables[r->bound[i]];
		const char *name = verb_query_name(v, &bound->value);

		printf("%s %s%s%s = ", i ? "," : ":", e->variables[i].name,
		       e->variables[i].free ? " is " : "", e->variables[i].free ? name : "");
		verb_query_print_value(v, &bound->value);
		if (bound->buffer_size != TRACEDB_NO_SIZE)
			printf(" (%" PRIu64 " bytes)", bound->buffer_size);
	}
	printf("\n");
}

static struct json_object *verb_query_json_value(const struct verb_query *v,
						 const struct tracedb_value *value)
{
	char text[4096];

	switch (verb_query_format(v, value)) {
	case TRACEDB_SIGNED:
		return json_i64(value->s);
	case TRACEDB_FLOAT:
		return json_object_new_double(value->f);
	case TRACEDB_BLOB:
		text_clean(text, sizeof(text), (const char *)value->bytes, value->size);
		return json_from_text(text);
	default:
		return json_u64(value->u);
	}
}

static struct json_object *verb_query_json_bound(const struct verb_query *v,
						 const struct query_result *r)
{
	const struct query_expression *e = &v->query.expression;
	struct json_object *all = json_object_new_object();

	for (size_t i = 0; i < e->n_variables; i++) {
		const struct tracedb_variable *bound = &r->of->variables[r->bound[i]];

		json_object_object_add(
			all, e->variables[i].name,
			JSON_OBJECT(JSON("name", verb_query_name(v, &bound->value)),
				    JSON("type", verb_query_type(v, &bound->value)),
				    JSON("value", verb_query_json_value(v, &bound->value)),
				    JSON_IF(bound->buffer_size != TRACEDB_NO_SIZE, "size",
					    bound->buffer_size)));
	}
	return all;
}

static struct json_object *verb_query_json_auxiliary(const struct query_result *r)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < r->of->n_auxiliary; i++)
		json_object_array_add(list, json_u64(r->of->auxiliary[i]));
	return list;
}

/* ---- results as a trace ---- */

static int verb_query_begin_output(struct verb_query *v)
{
	const struct packed_output_args args = {
		.path = v->output_path,
		.force = v->force,
		.method = PACK_NONE,
		.whole = packed_output_any_bytes,
		.inputs = &v->file.fd,
		.n_inputs = v->file.fd >= 0,
	};

	if (packed_output_open(&v->output, &args) < 0)
		return CLI_FAILED;
	return tracedb_writer_begin(&v->writer, &v->found, TRACEDB_W64,
				    tracedb_reader_dictionary(v->reader)) < 0
		       ? cli_failed("out of memory")
		       : CLI_OK;
}

static int verb_query_flush(struct verb_query *v)
{
	int r = packed_output_write(&v->output, v->found.data, v->found.size);

	outbuf_reset(&v->found);
	return r;
}

/* Once, however often it is a result. Sizes of blocks are said for its own pointers. */
static int verb_query_write_point(struct verb_query *v, const struct query_result *r)
{
	const struct tracedb_stored_point *of = r->of;
	_cleanup_free_ struct tracedb_entry *entries =
		calloc(1 + 2 * of->n_variables + of->n_auxiliary, sizeof(*entries));
	size_t n = 0;
	int error;

	if (!entries)
		return -ENOMEM;
	if (v->n_written++ > 0 && v->last_point == r->point)
		return 0;
	v->last_point = r->point;
	if (of->statement)
		entries[n++] = (struct tracedb_entry){ .tag = TRACEDB_STATEMENT,
						       .statement = of->statement };
	for (size_t i = 0; i < of->n_variables; i++)
		if (of->variables[i].buffer_size != TRACEDB_NO_SIZE)
			entries[n++] = (struct tracedb_entry){
				.tag = TRACEDB_BUFFER,
				.buffer = { of->variables[i].value.u,
					    of->variables[i].buffer_size },
			};
	for (size_t i = 0; i < of->n_variables; i++)
		entries[n++] = (struct tracedb_entry){ .tag = TRACEDB_VARIABLE,
						       .variable = of->variables[i].value };
	for (size_t i = 0; i < of->n_auxiliary; i++)
		entries[n++] = (struct tracedb_entry){ .tag = TRACEDB_AUXILIARY,
						       .auxiliary = of->auxiliary[i] };
	error = tracedb_writer_point(&v->writer, &(struct tracedb_point){ entries, n });
	return error < 0 || v->found.size < WRITE_BYTES ? error : verb_query_flush(v);
}

static int verb_query_finish_output(struct verb_query *v)
{
	return verb_query_flush(v) < 0 || packed_output_finish(&v->output) < 0 ? CLI_FAILED
									       : CLI_OK;
}

static int verb_query_take_result(void *userdata, const struct query_result *r)
{
	struct verb_query *v = userdata;
	const struct trace_statement *s =
		trace_statements_get(&v->points.statements, r->of->statement);

	v->n_results++;
	if (v->output_path)
		return verb_query_write_point(v, r);
	if (v->json)
		json_print_line(JSON_OBJECT(
			JSON("point", (uint64_t)r->point), JSON("statement", r->of->statement),
			JSON_IF(v->is_archive, "process_id", v->space.pid),
			JSON_IF(s, "function", s ? s->name : ""),
			JSON_IF(s && *s->caller, "caller", s ? s->caller : ""),
			JSON_IF(s && *s->source, "source", s ? s->source : ""),
			JSON_IF(s && *s->source, "line", s ? (uint64_t)s->line : 0),
			JSON("variables", verb_query_json_bound(v, r)),
			JSON("auxiliary", verb_query_json_auxiliary(r))));
	else
		verb_query_print_text(v, r);
	return 0;
}

static int verb_query_answer(struct verb_query *v)
{
	struct query_error error;
	int r = v->output_path ? verb_query_begin_output(v) : CLI_OK;

	if (r != CLI_OK)
		return r;
	r = query_run(&v->query, v->store, tracedb_reader_dictionary(v->reader),
		      verb_query_take_result, v, &error);
	if (r == -EINVAL || r == -E2BIG)
		return cli_failed("%s: %s", v->file.name, error.why);
	if (r < 0)
		return cli_failed("%s", strerror(-r));
	return v->output_path ? verb_query_finish_output(v) : CLI_OK;
}

static int verb_query_run(int argc, char **argv)
{
	_cleanup_(verb_query_deinit) struct verb_query v = { .file = INPUT_FILE_NULL,
							     .output = PACKED_OUTPUT_NULL };
	const struct verb_option options[] = {
		OPTION_FLAG("force", &v.force),
		OPTION_FLAG("json", &v.json),
		OPTION_FLAG("keep-duplicates", &v.query.keep_duplicates),
		OPTION_VALUE("limit", 0, verb_query_take_number, &v.query.limit),
		OPTION_VALUE("mask", 0, verb_query_take_number, &v.query.mask),
		OPTION_TEXT("output", 'o', &v.output_path),
		OPTION_VALUE("pick", 0, verb_query_take_number, &v.pick),
		OPTION_VALUE("soft", 0, verb_query_take_soft, &v),
		OPTION_VALUE("statement", 0, verb_query_take_number, &v.query.statement),
		OPTION_VALUE("var", 0, verb_query_take_variable, &v),
		{ 0 },
	};
	int r = verb_options_parse_with(argc, argv, options, 2,
					"it takes a FILE and an EXPRESSION"),
	    status;

	if (r != VERB_OPTIONS_GO)
		return r;
	/* (a statement without a mask is that statement) */
	if (v.query.statement && !v.query.mask)
		v.query.mask = UINT64_MAX;
	r = verb_query_parse(&v, argv[optind + 1]);
	if (r != CLI_OK)
		return r;
	if (verb_query_is_archive(argv[optind]))
		return verb_query_answer_archive(&v, argv[optind]);
	status = verb_query_load(&v, argv[optind]);
	if (status != CLI_OK && status != CLI_DAMAGE)
		return status;
	r = verb_query_answer(&v);
	return r == CLI_OK ? status : r;
}

const struct verb verb_query_row = {
	.name = "query",
	.synopsis = "[OPTION ...] FILE EXPRESSION",
	.what = "Find trace points by a predicate over their variables",
	.examples =
		"  kymo query t.fxt '(> (v/value count) (v/size buf))'\n  kymo query t.fxt --var n:signed --limit 5 '(< (v/value n) 0)'\n",
	.options =
		"      --var=NAME[:TYPE,...]  NAME is a free variable (of these types)\n"
		"      --soft=EXPRESSION      keep the results for which most of these are true\n"
		"      --statement=N          only points of this statement\n"
		"      --mask=N               compare only these bits of the statement (all)\n"
		"      --pick=SEED            search one random point only\n"
		"      --keep-duplicates      print results with the same statement, names and types, too\n"
		"      --limit=N              at most N results\n"
		"  -o, --output=OUT           write the points found to OUT, a trace-db file\n"
		"      --force                replace an existing file\n"
		"      --json                 print one JSON object per line\n"
		"  -h, --help                 show this\n",
	.notes =
		"\nFILE is an archive with calls or moments, or a trace-db file; '-' is a trace-db file from\n"
		"standard input. An EXPRESSION compares numbers, as in (> (v/value count) (v/size buf)),\n"
		"or texts, as in (is (v/text path) \"/etc/passwd\"); and, or and not combine several.\n"
		"v/size is the size of the block of a pointer.\n"
		"Exits with 3 if FILE is damaged.\n",
	.run = verb_query_run,
};
