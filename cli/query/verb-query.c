/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo query: finds the points of a trace whose variables satisfy a predicate.
 *
 * A trace-db file is searched while it is read, so that points of a pipe are found when they
 * arrive, and little memory is needed. The whole file is loaded only to select one random point. A
 * query that joins points keeps all points that it has read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/packed-output.h"
#include "cli/common/read-events.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "cli/query/query-names.h"
#include "cli/query/query-print.h"
#include "cli/query/query-rewrite.h"
#include "cli/query/query-texts.h"
#include "cli/query/trace-points.h"
#include "reader/query/query-run.h"
#include "writer/tracedb/tracedb-writer.h"

enum { VARS_MAX = QUERY_VARIABLES_MAX, WRITE_BYTES = 1 << 20 };

/*
 * The maximum number of points of a live stream that are kept for joins, since the stream can be
 * endless.
 */
enum { LIVE_POINTS_MAX = 1 << 24 };

struct verb_query {
	struct query query;
	const char *variables[VARS_MAX], *softs[QUERY_SOFTS_MAX];
	size_t n_variables, n_softs;
	uint64_t pick;
	bool json;

	struct open_trace trace;
	struct tracedb_store *store;
	struct trace_points points;    /* points of an archive; then... */
	struct tracedb_reader *reader; /* ... this reads the trace of one address space; */
	struct outbuf bytes;           /* trace of that address space */
	struct query_print print;
	struct query_names names;
	struct query_texts texts;
	struct statement_table table; /* statements of a trace-db file */
	uint64_t n_results, n_candidates[QUERY_SIDES];
	bool live; /* results are printed as they arrive */

	const char *output_path; /* NULL = results are printed */
	bool force;
	struct packed_output output;
	struct tracedb_writer writer;
	struct query_rewrite rewrite;
	struct outbuf found;
	bool any;
	size_t last_point; /* number of the last point that was written, if any */
};

static void verb_query_deinit(struct verb_query *v)
{
	query_deinit(&v->query);
	trace_points_deinit(&v->points);
	statement_table_deinit(&v->table);
	outbuf_deinit(&v->bytes);
	outbuf_deinit(&v->found);
	query_rewrite_deinit(&v->rewrite);
	packed_output_deinit(&v->output);
	v->store = tracedb_store_free(v->store);
	v->reader = tracedb_reader_free(v->reader);
	open_trace_close(&v->trace);
}

/* ---- options ---- */

static int verb_query_add_variable(void *to, char *value)
{
	struct verb_query *v = to;

	if (v->n_variables == VARS_MAX)
		return cli_usage_error("--var: at most %d are possible", VARS_MAX);
	v->variables[v->n_variables++] = value;
	return CLI_OK;
}

static int verb_query_add_soft(void *to, char *value)
{
	struct verb_query *v = to;

	if (v->n_softs == QUERY_SOFTS_MAX)
		return cli_usage_error("--soft: at most %d are possible", QUERY_SOFTS_MAX);
	v->softs[v->n_softs++] = value;
	return CLI_OK;
}

static int verb_query_parse_number(void *to, char *value)
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

/* Parses all expressions, after the variables are declared. */
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

/* ---- results as a trace ---- */

static int verb_query_begin_output(struct verb_query *v)
{
	const struct packed_output_args args = {
		.path = v->output_path,
		.force = v->force,
		.method = PACK_NONE,
		.whole = packed_output_any_bytes,
		.inputs = &v->trace.fd,
		.n_inputs = v->trace.fd >= 0,
	};

	if (!v->output_path)
		return CLI_OK;
	if (packed_output_open(&v->output, &args) < 0)
		return CLI_FAILED;
	return tracedb_writer_begin(&v->writer, &v->found, TRACEDB_W64, v->print.dictionary) < 0
		       ? cli_failed("out of memory")
		       : CLI_OK;
}

static int verb_query_flush(struct verb_query *v)
{
	int r = packed_output_write(&v->output, v->found.data, v->found.size);

	outbuf_reset(&v->found);
	return r;
}

static int verb_query_put_point(struct verb_query *v, const struct tracedb_stored_point *of)
{
	struct tracedb_point point;
	int r = query_rewrite_point(&v->rewrite, of, &point);

	return r < 0 ? r : tracedb_writer_point(&v->writer, &point);
}

/* Writes the point of a result; each point once, even if it is in several results. If points are
 * joined, writes all of them, the earliest one first. */
static int verb_query_write_result(struct verb_query *v, const struct query_result *r)
{
	int error = 0;

	if (r->n_earlier == 0 && v->any && v->last_point == r->point)
		return 0;
	v->any = true;
	v->last_point = r->point;
	for (unsigned i = r->n_earlier; error == 0 && i > 0; i--)
		error = verb_query_put_point(v, &r->earlier[i - 1].of);
	if (error == 0)
		error = verb_query_put_point(v, r->of);
	return error < 0 || v->found.size < WRITE_BYTES ? error : verb_query_flush(v);
}

static int verb_query_finish_output(struct verb_query *v)
{
	if (!v->output_path)
		return CLI_OK;
	return verb_query_flush(v) < 0 || packed_output_finish(&v->output) < 0 ? CLI_FAILED
									       : CLI_OK;
}

/* ---- results ---- */

static int verb_query_on_result(void *userdata, const struct query_result *r)
{
	struct verb_query *v = userdata;

	v->n_results++;
	if (v->output_path)
		return verb_query_write_result(v, r);
	if (v->json)
		query_print_json(&v->print, r);
	else
		query_print_text(&v->print, r);
	if (v->live)
		fflush(stdout);
	/* (a closed output is not a failure) */
	return ferror(stdout) ? 1 : 0;
}

/* Returns the exit status for the result of a query. */
static int verb_query_status(const struct verb_query *v, int r, const struct query_error *error)
{
	if (r == -EINVAL || r == -E2BIG)
		return cli_failed("%s: %s", v->trace.name, error->why);
	return r < 0 ? cli_failed("%s: %s", v->trace.name, strerror(-r)) : CLI_OK;
}

/*
 * Adds the names in the current dictionary to the names with which the expression can be compared.
 */
static void verb_query_add_names(struct verb_query *v)
{
	const struct tracedb_dictionary *d = v->print.dictionary;

	query_names_add(&v->names, &v->query.expression, d);
	for (size_t i = 0; i < d->n_names; i++)
		query_texts_add(&v->texts, QUERY_NAME, d->names[i]);
	for (size_t i = 0; i < d->n_types; i++)
		query_texts_add(&v->texts, QUERY_TYPE, d->names[d->types[i].name]);
}

/*
 * Reports why a query over several points has no results: either no point fulfils the conditions
 * about one of them, or such points are not joined.
 */
static void verb_query_say_unjoined(const struct verb_query *v)
{
	const struct query_expression *e = &v->query.expression;
	const uint64_t *n = v->n_candidates;
	char text[QUERY_POINTS_MAX * 64] = "";
	bool any = false;

	if (e->n_earlier == 0 || v->n_results > 0)
		return;
	for (unsigned i = 0; i <= e->n_earlier; i++) {
		const char *words = i ? query_point_prefixes[i] : "v/ and p/";

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%" PRIu64 " for %s",
			 i == 0              ? ""
			 : i == e->n_earlier ? " and "
					     : ", ",
			 n[i], words);
		if (n[i] > 0)
			continue;
		cli_error("%s: no point fulfils the conditions about %s alone, so there are no "
			  "results",
			  v->trace.name, words);
		any = true;
	}
	if (!any)
		cli_error("%s: some points fulfil the conditions about one point (%s), but no "
			  "combination of them fulfils the others, so there are no results",
			  v->trace.name, text);
}

/*
 * Reports the comparisons that are false for each point, after all points were read. Returns
 * CLI_DAMAGE if the answer is empty for such a reason, or if a variable never has the compared
 * value, else CLI_OK. (It is no mistake if an `or` also has a function that was not called.)
 */
static int verb_query_say_false(const struct verb_query *v)
{
	bool valueless = query_names_say_valueless(&v->names, &v->query.expression, v->trace.name);
	bool texts = query_texts_say(&v->texts, v->trace.name, v->query.function);

	if (!valueless && !texts)
		verb_query_say_unjoined(v);
	return valueless || (texts && v->n_results == 0) ? CLI_DAMAGE : CLI_OK;
}

static int verb_query_new_store(struct verb_query *v)
{
	int r = tracedb_store_new(&v->store, v->print.dictionary);

	if (r == 0 && v->output_path)
		tracedb_store_keep_parts(v->store);
	return r;
}

/* Runs the query on the complete store. */
static int verb_query_answer_store(struct verb_query *v)
{
	struct query_error error;
	int r = verb_query_begin_output(v);

	v->names.n_shapes = 0;
	query_names_add_values(&v->names, &v->query.expression, v->print.dictionary, v->store);
	if (r != CLI_OK)
		return r;
	r = query_run(&v->query, v->store, v->print.dictionary, verb_query_on_result, v, &error);
	r = verb_query_status(v, r, &error);
	return r == CLI_OK ? verb_query_finish_output(v) : r;
}

/* ---- trace-db files ---- */

/* Drops points that were searched, unless later points are joined with them. */
static int verb_query_drop_points(struct verb_query *v, struct query_search *search)
{
	if (v->query.expression.n_earlier == 0) {
		query_search_cleared(search, tracedb_store_clear(v->store));
		return CLI_OK;
	}
	if (v->live && tracedb_store_points(v->store) == LIVE_POINTS_MAX)
		return cli_failed("%s: only %d points of a pipe can be joined; save it as a file",
				  v->trace.name, LIVE_POINTS_MAX);
	return CLI_OK;
}

/* Reads points, and searches each of them at once. */
static int verb_query_follow(struct verb_query *v)
{
	_cleanup_(query_search_freep) struct query_search *search = NULL;
	const struct tracedb_point *point;
	struct query_error error;
	int r = query_search_new(&search, &v->query, v->print.dictionary, verb_query_on_result, v,
				 &error),
	    status = verb_query_status(v, r, &error);

	if (status == CLI_OK)
		status = verb_query_begin_output(v);
	while (status == CLI_OK && r == 0 && !query_search_is_over(search)) {
		r = open_trace_next_point(&v->trace, &point);
		if (r <= 0)
			break;
		r = tracedb_store_add(v->store, point);
		if (r == 0)
			query_names_add_values(&v->names, &v->query.expression, v->print.dictionary,
					       v->store);
		if (r == 0)
			r = query_search_run(search, v->store, &error);
		status = verb_query_status(v, r, &error);
		if (status == CLI_OK && r == 0)
			status = verb_query_drop_points(v, search);
	}
	if (status == CLI_OK)
		status = r < 0 ? CLI_FAILED : verb_query_finish_output(v);
	return status;
}

static int verb_query_load(struct verb_query *v)
{
	const struct tracedb_point *point;
	int r;

	while ((r = open_trace_next_point(&v->trace, &point)) > 0)
		if (tracedb_store_add(v->store, point) < 0)
			return cli_failed("out of memory");
	return r < 0 ? CLI_FAILED : verb_query_answer_store(v);
}

static const char *verb_query_table_function(const void *table, uint64_t statement)
{
	const struct trace_statement *s = statement_table_get(table, statement);

	return s ? s->name : NULL;
}

/* Reads the table of statements beside the file at PATH. */
static int verb_query_read_table(struct verb_query *v, const char *path)
{
	int r = strcmp(path, "-") == 0 ? CLI_OK : statement_table_load(&v->table, path);

	if (r == CLI_FAILED || !v->table.found)
		return r;
	v->print.table = &v->table;
	v->query.function = verb_query_table_function;
	v->query.function_userdata = &v->table;
	for (size_t i = 0; i < v->table.n; i++)
		query_texts_add(&v->texts, QUERY_FUNCTION, v->table.list[i].name);
	return r;
}

static int verb_query_answer_points(struct verb_query *v, const char *path)
{
	int r, table = verb_query_read_table(v, path);
	struct stat st;

	if (table == CLI_FAILED)
		return table;
	v->print.dictionary = tracedb_reader_dictionary(v->trace.points);
	verb_query_add_names(v);
	r = query_names_complain(&v->names, &v->query.expression, v->trace.name, true);
	if (r != CLI_OK)
		return r;
	v->live = fstat(v->trace.fd, &st) < 0 || !S_ISREG(st.st_mode);
	if (verb_query_new_store(v) < 0)
		return cli_failed("out of memory");
	r = v->query.seed ? verb_query_load(v) : verb_query_follow(v);
	if (r != CLI_OK)
		return r;
	r = open_trace_finish(&v->trace) ?: table;
	/* (the limit can end the search before all kinds of points were read) */
	if (v->query.limit && v->n_results >= v->query.limit)
		return r;
	return verb_query_say_false(v) != CLI_OK ? CLI_DAMAGE : r;
}

/* ---- an archive ---- */

static int verb_query_read_archive(struct verb_query *v)
{
	int r = trace_points_init(&v->points);

	if (r == CLI_OK)
		r = read_events(&v->trace, trace_points_on_event, &v->points);
	if (r != CLI_OK)
		return r;
	r = trace_points_complain(&v->points, &v->trace);
	return r == CLI_OK ? open_trace_finish(&v->trace) : r;
}

static const char *verb_query_function(const void *points, uint64_t statement)
{
	const struct trace_points *p = points;
	const struct trace_statement *s = trace_statements_get(&p->statements, statement);

	return s ? s->name : NULL;
}

/* Runs the query on SPACE. IS_LAST: this is the last address space, so all names are known. */
static int verb_query_answer_space(struct verb_query *v, const struct trace_points_space *space,
				   bool is_last)
{
	int r;

	v->store = tracedb_store_free(v->store);
	v->reader = tracedb_reader_free(v->reader);
	outbuf_deinit(&v->bytes);
	v->print.space = space;
	r = trace_points_write(&v->points, space, TRACEDB_W64, &v->bytes);
	if (r == 0)
		r = tracedb_reader_new_memory(&v->reader, v->bytes.data, v->bytes.size);
	if (r == 0) {
		v->print.dictionary = tracedb_reader_dictionary(v->reader);
		r = verb_query_new_store(v);
	}
	if (r == 0)
		r = tracedb_store_read(v->store, v->reader);
	if (r < 0)
		return cli_failed("%s: %s", v->trace.name, strerror(-r));
	verb_query_add_names(v);
	if (is_last)
		r = query_names_complain(&v->names, &v->query.expression, v->trace.name,
					 v->points.has_blocks);
	return r == CLI_OK ? verb_query_answer_store(v) : r;
}

/*
 * Reports that the expression needs sizes of blocks, but all are unknown. Then returns CLI_DAMAGE,
 * else CLI_OK.
 */
static int verb_query_complain_of_sizes(const struct verb_query *v)
{
	const struct query_expression *e = &v->query.expression;
	bool needs_sizes = false;

	for (size_t i = 0; i < e->n_nodes; i++)
		needs_sizes |= e->nodes[i].kind == QUERY_SIZE;
	if (!needs_sizes || v->points.has_blocks)
		return CLI_OK;
	cli_error("%s: block sizes are unknown, because allocations were not recorded; comparisons "
		  "with them are false (record with -e memory --memory-log)",
		  v->trace.name);
	return CLI_DAMAGE;
}

static int verb_query_answer_archive(struct verb_query *v)
{
	_cleanup_free_ struct trace_points_space *spaces = NULL;
	int status = verb_query_read_archive(v), r = CLI_OK;
	size_t n = 0;

	if (status != CLI_OK && status != CLI_DAMAGE)
		return status;
	if (trace_points_spaces(&v->points, &spaces, &n) < 0)
		return cli_failed("out of memory");
	v->print.statements = &v->points.statements;
	v->query.function = verb_query_function;
	v->query.function_userdata = &v->points;
	if (v->output_path && n > 1)
		return cli_failed(
			"%s: it has points of %zu address spaces, but a trace-db file can have "
			"only one; 'kymo export --format tracedb' writes a file for each",
			v->trace.name, n);
	for (size_t i = 0; r == CLI_OK && i < n; i++)
		r = verb_query_answer_space(v, &spaces[i], i == n - 1);
	for (size_t i = 0; i < v->points.statements.n; i++)
		query_texts_add(&v->texts, QUERY_FUNCTION, v->points.statements.list[i].name);
	if (r == CLI_OK && verb_query_complain_of_sizes(v) != CLI_OK)
		status = CLI_DAMAGE;
	if (r == CLI_OK && verb_query_say_false(v) != CLI_OK)
		status = CLI_DAMAGE;
	return r == CLI_OK ? status : r;
}

static int verb_query_run(int argc, char **argv)
{
	_cleanup_(verb_query_deinit) struct verb_query v = { .trace = OPEN_TRACE_NULL,
							     .output = PACKED_OUTPUT_NULL };
	const struct verb_option options[] = {
		OPTION_FLAG("force", &v.force),
		OPTION_FLAG("json", &v.json),
		OPTION_FLAG("keep-duplicates", &v.query.keep_duplicates),
		OPTION_VALUE("limit", 0, verb_query_parse_number, &v.query.limit),
		OPTION_VALUE("mask", 0, verb_query_parse_number, &v.query.mask),
		OPTION_TEXT("output", 'o', &v.output_path),
		OPTION_VALUE("pick", 0, verb_query_parse_number, &v.pick),
		OPTION_VALUE("soft", 0, verb_query_add_soft, &v),
		OPTION_VALUE("statement", 0, verb_query_parse_number, &v.query.statement),
		OPTION_VALUE("var", 0, verb_query_add_variable, &v),
		{ 0 },
	};
	int r = verb_options_parse_with(argc, argv, options, 2,
					"expected a FILE and an EXPRESSION");

	if (r != VERB_OPTIONS_GO)
		return r;
	/* (without a mask, only this statement matches) */
	if (v.query.statement && !v.query.mask)
		v.query.mask = UINT64_MAX;
	r = verb_query_parse(&v, argv[optind + 1]);
	if (r != CLI_OK)
		return r;
	v.print.expression = &v.query.expression;
	v.query.n_candidates = v.n_candidates;
	query_texts_init(&v.texts, &v.query.expression);
	r = open_trace_of(&v.trace, argv[optind], &(struct open_trace_kinds){ .points = true });
	if (r != CLI_OK)
		return r;
	v.trace.prints = true;
	return v.trace.points ? verb_query_answer_points(&v, argv[optind])
			      : verb_query_answer_archive(&v);
}

const struct verb verb_query_row = {
	.name = "query",
	.synopsis = "[OPTION ...] FILE EXPRESSION",
	.what = "Find trace points by a predicate over their variables",
	.examples =
		"  kymo query t.fxt '(> (v/value count) (v/size buf))'\n  kymo query t.fxt --var n:signed --limit 5 '(< (v/value n) 0)'\n",
	.options =
		"      --var=NAME[:TYPE,...]  NAME is a free variable (of these types)\n"
		"      --soft=EXPRESSION      keep only the results of a point that satisfy the largest\n"
		"                             number of these expressions\n"
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
		"\nFILE is an archive with calls, moments or allocations, or a trace-db file; '-' is standard\n"
		"input. An EXPRESSION compares numbers, as in (> (v/value count) (v/size buf)),\n"
		"or texts, as in (is (v/text path) \"/etc/passwd\"); 'and', 'or' and 'not' combine\n"
		"several. v/size is the number of bytes from a pointer's target to the end of its block.\n"
		"e/value, e/size and others are values of an earlier point, and those with e2/ and e3/\n"
		"of points before it: (= (v/value buf) (e/value address)) finds pairs of points. 'none' and b/\n"
		"exclude points between them.\n"
		"Exits with 3 if FILE is damaged, or if it lacks the values that EXPRESSION compares.\n",
	.run = verb_query_run,
};
