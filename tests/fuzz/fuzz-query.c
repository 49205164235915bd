/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the input as a predicate: either there is an error with its place, or all of its nodes are
 * within bounds and it can be evaluated for points of each kind.
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/outbuf.h"
#include "reader/query/query-run.h"
#include "writer/tracedb/tracedb-writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = { "x", "y", "int", "real", "pointer", "text" };
static const struct tracedb_type types[] = {
	{ 2, TRACEDB_SIGNED, 8 },
	{ 3, TRACEDB_FLOAT, 8 },
	{ 4, TRACEDB_POINTER, 8 },
	{ 5, TRACEDB_BLOB, 0 },
};
static const struct tracedb_dictionary dictionary = { names, ARRAY_SIZE(names), types,
						      ARRAY_SIZE(types) };

static int write_points(struct outbuf *to)
{
	struct tracedb_writer w;
	int r = tracedb_writer_begin(&w, to, TRACEDB_W64, &dictionary);

	for (uint32_t i = 0; r == 0 && i < ARRAY_SIZE(types); i++) {
		const struct tracedb_entry entries[] = {
			{ .tag = TRACEDB_STATEMENT, .statement = i + 1 },
			{ .tag = TRACEDB_BUFFER, .buffer = { 4096, 64 } },
			{ .tag = TRACEDB_VARIABLE,
			  .variable = { .name = 0, .type = i, .size = types[i].size, .u = 4100 } },
			{ .tag = TRACEDB_VARIABLE,
			  .variable = { .name = 1, .type = 0, .size = 8, .s = INT64_MIN } },
		};

		r = tracedb_writer_point(&w,
					 &(struct tracedb_point){ entries, ARRAY_SIZE(entries) });
	}
	return r;
}

static int add_result(void *userdata, const struct query_result *result)
{
	const struct query *q = userdata;

	assert(result->n_earlier == q->expression.n_earlier);
	for (unsigned i = 0; i < result->n_earlier; i++)
		assert(result->earlier[i].number <
		       (i ? result->earlier[i - 1].number : result->point));
	for (size_t i = 0; i < q->expression.n_variables; i++) {
		unsigned point = q->expression.variables[i].point;

		if (point == QUERY_BETWEEN)
			continue;
		assert(point <= result->n_earlier);
		assert(result->bound[i] <
		       (point ? &result->earlier[point - 1].of : result->of)->n_variables);
	}
	return 0;
}

static void ask(const struct query *q)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	_cleanup_(tracedb_reader_freep) struct tracedb_reader *reader = NULL;
	_cleanup_(tracedb_store_freep) struct tracedb_store *store = NULL;
	struct query_error error;
	int r;

	assert(write_points(&b) == 0);
	assert(tracedb_reader_new_memory(&reader, b.data, b.size) == 0);
	assert(tracedb_store_load(&store, reader) == TRACEDB_TRACE_END);
	r = query_run(q, store, tracedb_reader_dictionary(reader), add_result, (void *)q, &error);
	assert(r == 0 || r == -ENOMEM);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(query_deinit) struct query q = { 0 };
	_cleanup_free_ char *text = strndup((const char *)data, size);
	struct query_error error = { 0 };
	int r;

	/* (numbers get longer with each multiplication, so a long run time would not be an
	 * error) */
	if (!text || size > 4096)
		return 0;
	assert(query_declare(&q.expression, "v", &error) == 0);
	r = query_parse(&q.expression, text, &q.hard, &error);
	if (r < 0) {
		assert(r == -ENOMEM || (error.at <= strlen(text) && *error.why));
		return 0;
	}
	assert(q.hard < q.expression.n_nodes);
	for (size_t i = 0; i < q.expression.n_nodes; i++) {
		const struct query_node *node = &q.expression.nodes[i];

		assert(node->first + node->n <= q.expression.n_children);
		assert(node->variable < QUERY_VARIABLES_MAX);
		assert(node->point <= q.expression.n_earlier || node->point == QUERY_BETWEEN);
	}
	ask(&q);
	return 0;
}
