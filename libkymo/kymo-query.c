/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "libkymo/kymo-points.h"
#include "reader/query/query-run.h"

struct kymo_query {
	struct query query;
	bool parsed; /* the expression is parsed */
	bool broken; /* adding an expression failed halfway */
	struct query_error error;
};

struct kymo_result {
	const struct query_expression *expression;
	const struct query_result *of;
	struct kymo_point points[QUERY_POINTS_MAX]; /* the point, and the earlier ones */
};

int kymo_query_new(kymo_query **ret)
{
	kymo_query *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	*ret = q;
	return 0;
}

kymo_query *kymo_query_free(kymo_query *q)
{
	if (!q)
		return NULL;
	query_deinit(&q->query);
	free(q);
	return NULL;
}

/* ---- expressions ---- */

static void kymo_query_clear_error(kymo_query *q)
{
	q->error = (struct query_error){ 0 };
}

int kymo_query_declare(kymo_query *q, const char *variable)
{
	int r;

	kymo_query_clear_error(q);
	if (q->parsed || q->broken)
		return -EBUSY;
	r = query_declare(&q->query.expression, variable, &q->error);
	q->broken = r == -ENOMEM;
	return r;
}

static int kymo_query_parse(kymo_query *q, const char *text, uint32_t *ret_root)
{
	int r = query_parse(&q->query.expression, text, ret_root, &q->error);

	q->broken = r < 0;
	return r;
}

int kymo_query_set_expression(kymo_query *q, const char *expression)
{
	int r;

	kymo_query_clear_error(q);
	if (q->parsed || q->broken)
		return -EBUSY;
	r = kymo_query_parse(q, expression, &q->query.hard);
	q->parsed = r == 0;
	return r;
}

int kymo_query_add_soft(kymo_query *q, const char *expression)
{
	int r;

	kymo_query_clear_error(q);
	if (!q->parsed || q->broken)
		return -EBUSY;
	if (q->query.n_softs == QUERY_SOFTS_MAX) {
		snprintf(q->error.why, sizeof(q->error.why), "more than %d soft expressions",
			 QUERY_SOFTS_MAX);
		return -E2BIG;
	}
	r = kymo_query_parse(q, expression, &q->query.softs[q->query.n_softs]);
	q->query.n_softs += r == 0;
	return r;
}

void kymo_query_set_statement(kymo_query *q, uint64_t statement, uint64_t mask)
{
	q->query.statement = statement;
	q->query.mask = mask;
}

void kymo_query_set_seed(kymo_query *q, uint32_t seed)
{
	q->query.seed = seed;
}

void kymo_query_set_limit(kymo_query *q, uint64_t n)
{
	q->query.limit = n;
}

void kymo_query_set_keep_duplicates(kymo_query *q, bool keep)
{
	q->query.keep_duplicates = keep;
}

const char *kymo_query_error(const kymo_query *q, size_t *ret_at)
{
	if (ret_at)
		*ret_at = q->error.at;
	return q->error.why;
}

size_t kymo_query_variables(const kymo_query *q)
{
	return q->query.expression.n_variables;
}

const char *kymo_query_variable_name(const kymo_query *q, size_t i)
{
	return i < kymo_query_variables(q) ? q->query.expression.variables[i].name : "";
}

bool kymo_query_variable_is_free(const kymo_query *q, size_t i)
{
	return i < kymo_query_variables(q) && q->query.expression.variables[i].free;
}

/* ---- results ---- */

struct kymo_query_request {
	const kymo_query *query;
	const kymo_points *points;
	kymo_result_fn fn;
	void *userdata;
};

static int kymo_query_on_result(void *userdata, const struct query_result *r)
{
	const struct kymo_query_request *asked = userdata;
	struct kymo_result result = {
		.expression = &asked->query->query.expression,
		.of = r,
		.points = { { asked->points, r->point, *r->of } },
	};

	for (unsigned i = 0; i < r->n_earlier; i++)
		result.points[i + 1] = (struct kymo_point){ asked->points, r->earlier[i].number,
							    r->earlier[i].of };
	return asked->fn(asked->userdata, &result);
}

int kymo_query_run(kymo_query *q, const kymo_points *p, kymo_result_fn fn, void *userdata)
{
	struct kymo_query_request asked = { q, p, fn, userdata };
	int r = 0;

	if (q->broken)
		return -EBUSY;
	if (!q->parsed)
		r = kymo_query_set_expression(q, "");
	kymo_query_clear_error(q);
	return r < 0 ? r
		     : query_run(&q->query, p->store, tracedb_reader_dictionary(p->reader),
				 kymo_query_on_result, &asked, &q->error);
}

const kymo_point *kymo_result_point(const kymo_result *r)
{
	return &r->points[0];
}

const kymo_point *kymo_result_earlier(const kymo_result *r)
{
	return kymo_result_earlier_nth(r, 1);
}

const kymo_point *kymo_result_earlier_nth(const kymo_result *r, unsigned n)
{
	return n > 0 && n <= r->of->n_earlier ? &r->points[n] : NULL;
}

/* (a variable of `none` has no value in results) */
static bool kymo_result_has_variable(const kymo_result *r, size_t i)
{
	return i < r->expression->n_variables && r->expression->variables[i].point != QUERY_BETWEEN;
}

const kymo_point *kymo_result_variable_point(const kymo_result *r, size_t i)
{
	if (!kymo_result_has_variable(r, i))
		return NULL;
	return &r->points[r->expression->variables[i].point];
}

size_t kymo_result_variable(const kymo_result *r, size_t i)
{
	return kymo_result_has_variable(r, i) ? r->of->bound[i] : SIZE_MAX;
}
