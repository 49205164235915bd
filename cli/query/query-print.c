/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/query/query-print.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/tracedb/tracedb-text.h"
#include "model/koids.h"

static const struct trace_statement *query_print_statement_of(const struct query_print *p,
							      uint64_t statement)
{
	return p->statements ? trace_statements_get(p->statements, statement)
	       : p->table    ? statement_table_get(p->table, statement)
			     : NULL;
}

/* Prints a point: "point 3 write, called by main over.c:12". */
static void query_print_point(const struct query_print *p, size_t point, uint64_t statement)
{
	const struct trace_statement *s = query_print_statement_of(p, statement);

	printf("point %zu ", point);
	if (!s) {
		printf("statement 0x%" PRIx64, statement);
		return;
	}
	printf("%s", s->name);
	if (*s->caller)
		printf(", called by %s", s->caller);
	if (*s->source)
		printf(" %s:%u", s->source, s->line);
}

/* Prints the variables of a point; POINT: 0 = the point itself, 1 = the earlier one, and so on. */
static void query_print_variables(const struct query_print *p, const struct query_result *r,
				  unsigned point)
{
	const struct query_expression *e = p->expression;
	const char *before = ":";

	for (size_t i = 0; i < e->n_variables; i++) {
		const struct tracedb_variable *v;

		if (e->variables[i].point != point)
			continue;
		v = query_result_variable(e, r, i);
		printf("%s %s", before, e->variables[i].name);
		if (e->variables[i].free)
			printf(" is %s", tracedb_text_name(p->dictionary, v->value.name));
		printf(" = ");
		tracedb_text_print_value(p->dictionary, &v->value);
		if (v->buffer_size != TRACEDB_NO_SIZE)
			printf(" (%" PRIu64 " bytes)", v->buffer_size);
		before = ",";
	}
}

void query_print_text(const struct query_print *p, const struct query_result *r)
{
	if (p->space)
		printf("pid %u ", p->space->pid & FXT_KOID_TID_MASK);
	query_print_point(p, r->point, r->of->statement);
	query_print_variables(p, r, 0);
	for (unsigned i = 0; i < r->n_earlier; i++) {
		printf("; after ");
		query_print_point(p, r->earlier[i].number, r->earlier[i].of.statement);
		query_print_variables(p, r, i + 1);
	}
	putchar('\n');
}

static struct json_object *query_print_json_variables(const struct query_print *p,
						      const struct query_result *r, unsigned point)
{
	const struct query_expression *e = p->expression;
	struct json_object *all = json_object_new_object();

	for (size_t i = 0; i < e->n_variables; i++) {
		const struct tracedb_variable *v;

		if (e->variables[i].point != point)
			continue;
		v = query_result_variable(e, r, i);
		json_object_object_add(all, e->variables[i].name,
				       JSON_ADD(tracedb_text_json(p->dictionary, &v->value),
						JSON_IF(v->buffer_size != TRACEDB_NO_SIZE, "size",
							v->buffer_size)));
	}
	return all;
}

static struct json_object *query_print_json_point(const struct query_print *p,
						  const struct query_result *r, unsigned point)
{
	const struct tracedb_stored_point *of = point ? &r->earlier[point - 1].of : r->of;
	const struct trace_statement *s = query_print_statement_of(p, of->statement);

	return JSON_OBJECT(
		JSON("point", (uint64_t)(point ? r->earlier[point - 1].number : r->point)),
		JSON("statement", of->statement),
		JSON_IF(p->space && point == 0, "process_id", p->space ? p->space->pid : 0),
		JSON_IF(s, "function", s ? s->name : ""),
		JSON_IF(s && *s->caller, "caller", s ? s->caller : ""),
		JSON_IF(s && *s->source, "source", s ? s->source : ""),
		JSON_IF(s && *s->source, "line", s ? (uint64_t)s->line : 0),
		JSON("variables", query_print_json_variables(p, r, point)),
		JSON("auxiliary", JSON_LIST(a, of->auxiliary, of->n_auxiliary, *a)));
}

void query_print_json(const struct query_print *p, const struct query_result *r)
{
	static const char *const keys[] = { "earlier", "earlier2", "earlier3" };
	struct json_object *o = query_print_json_point(p, r, 0);

	static_assert(ARRAY_SIZE(keys) == QUERY_POINTS_MAX - 1, "keys");
	for (unsigned i = 0; i < r->n_earlier; i++)
		JSON_ADD(o, JSON(keys[i], query_print_json_point(p, r, i + 1)));
	json_print_line(o);
}
