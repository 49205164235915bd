/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tracedb/tracedb-summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/common/colour.h"
#include "cli/common/verb.h"
#include "cli/tracedb/tracedb-dump.h"
#include "cli/tracedb/tracedb-text.h"

/* The count of a statement, or of a name with a type. */
struct tracedb_sum {
	uint64_t n;
	uint64_t statement;
	uint32_t name, type;
};

struct tracedb_sums {
	struct table statements; /* hash -> struct tracedb_sum, owned; by statement, ... */
	struct table variables;  /* ... and by name and type */
	uint64_t points, values, buffers, removed, auxiliary, blob_bytes;
	struct tracedb_sum **by_statement, **by_variable; /* most frequent first; owned */
};

static void tracedb_sums_deinit(struct tracedb_sums *s)
{
	table_deinit_free(&s->statements);
	table_deinit_free(&s->variables);
	free(s->by_statement);
	free(s->by_variable);
}

static int tracedb_summary_statement(struct tracedb_sums *s, uint64_t statement)
{
	struct tracedb_sum *sum =
		table_make(&s->statements, table_hash(&statement, sizeof(statement)), sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	sum->statement = statement;
	sum->n++;
	return 0;
}

static int tracedb_summary_variable(struct tracedb_sums *s, const struct tracedb_dictionary *d,
				    const struct tracedb_value *v)
{
	uint64_t key = ((uint64_t)v->name << 32 | v->type) + 1;
	struct tracedb_sum *sum = table_make(&s->variables, key, sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	sum->name = v->name;
	sum->type = v->type;
	sum->n++;
	s->values++;
	s->blob_bytes += d->types[v->type].format == TRACEDB_BLOB ? v->size : 0;
	return 0;
}

static int tracedb_summary_add(struct tracedb_sums *s, const struct tracedb_dictionary *d,
			       const struct tracedb_point *p)
{
	uint64_t statement = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->n_entries; i++) {
		const struct tracedb_entry *e = &p->entries[i];

		if (e->tag == TRACEDB_STATEMENT)
			statement = e->statement;
		else if (e->tag == TRACEDB_VARIABLE)
			r = tracedb_summary_variable(s, d, &e->variable);
		else if (e->tag == TRACEDB_BUFFER)
			++*(e->buffer.size > 0 ? &s->buffers : &s->removed);
		else
			s->auxiliary++;
	}
	s->points++;
	return r ?: tracedb_summary_statement(s, statement);
}

DEFINE_ORDER_OF_POINTERS(tracedb_summary_compare, struct tracedb_sum,
	COMPARE(y->n, x->n) ?: COMPARE(x->statement, y->statement) ?: COMPARE(x->name, y->name)
		?: COMPARE(x->type, y->type))

/* Returns the sums in T, sorted, as a new array. Returns NULL if there is no memory. */
static struct tracedb_sum **tracedb_summary_sort(const struct table *t)
{
	size_t n;

	return (struct tracedb_sum **)table_sorted(t, tracedb_summary_compare, &n);
}

static void tracedb_summary_print_json(const struct tracedb_sums *s, const struct open_trace *t)
{
	const struct tracedb_dictionary *d = tracedb_reader_dictionary(t->points);
	const char *packed = open_trace_packed(t);

	json_print_pretty(JSON_OBJECT(
		JSON("format", "tracedb"), JSON("layout", tracedb_dump_layout(t)),
		JSON("compression", *packed ? packed : "none"), JSON("damage", t->n_damages),
		JSON("names", d->n_names), JSON("types", d->n_types), JSON_OF(s, points, values),
		JSON("buffers_set", s->buffers), JSON("buffers_removed", s->removed),
		JSON_OF(s, auxiliary, blob_bytes),
		JSON("variables",
		     JSON_LIST(
			     v, s->by_variable, s->variables.n_used,
			     JSON_OBJECT(JSON("name", json_from_text(d->names[(*v)->name])),
					 JSON("type",
					      json_from_text(d->names[d->types[(*v)->type].name])),
					 JSON("values", (*v)->n)))),
		JSON("statements", JSON_LIST(x, s->by_statement, s->statements.n_used,
					     JSON_OBJECT(JSON("statement", (*x)->statement),
							 JSON("points", (*x)->n))))));
}

static void tracedb_summary_print_variables(const struct tracedb_sums *s,
					    const struct tracedb_dictionary *d, uint64_t limit)
{
	size_t n = s->variables.n_used;

	if (n > 0)
		printf("\n%s    VALUES  TYPE          VARIABLE%s\n", colour(COLOUR_HEADING),
		       colour(COLOUR_OFF));
	for (size_t i = 0; i < n && i < limit; i++)
		printf("%10" PRIu64 "  %-12s  %s\n", s->by_variable[i]->n,
		       tracedb_text_type(d, s->by_variable[i]->type),
		       tracedb_text_name(d, s->by_variable[i]->name));
	if (n > limit)
		printf("    ... and %" PRIu64 " variables with fewer values (-n shows more)\n",
		       n - limit);
}

static void tracedb_summary_print_statements(const struct tracedb_sums *s, uint64_t limit)
{
	size_t n = s->statements.n_used;

	if (n > 0)
		printf("\n%s    POINTS  STATEMENT%s\n", colour(COLOUR_HEADING), colour(COLOUR_OFF));
	for (size_t i = 0; i < n && i < limit; i++)
		printf("%10" PRIu64 "  0x%" PRIx64 "\n", s->by_statement[i]->n,
		       s->by_statement[i]->statement);
	if (n > limit)
		printf("    ... and %" PRIu64 " statements with fewer points (-n shows more)\n",
		       n - limit);
}

static void tracedb_summary_print(const struct tracedb_sums *s, const struct open_trace *t,
				  uint64_t limit)
{
	const char *packed = open_trace_packed(t);

	printf("%s: trace points (trace-db), layout %s, %s\n", t->name, tracedb_dump_layout(t),
	       *packed ? packed : "not packed");
	printf("points %" PRIu64 ", values of variables %" PRIu64 ", buffers set %" PRIu64
	       ", removed %" PRIu64 ", auxiliary data %" PRIu64 ", blobs %s\n",
	       s->points, s->values, s->buffers, s->removed, s->auxiliary,
	       TEXT_SIZE(s->blob_bytes));
	tracedb_summary_print_variables(s, tracedb_reader_dictionary(t->points), limit);
	tracedb_summary_print_statements(s, limit);
}

int tracedb_summary(struct open_trace *t, bool json, uint64_t limit)
{
	const struct tracedb_dictionary *d = tracedb_reader_dictionary(t->points);
	_cleanup_(tracedb_sums_deinit) struct tracedb_sums s = { 0 };
	const struct tracedb_point *point;
	int r;

	while ((r = open_trace_next_point(t, &point)) > 0)
		if (tracedb_summary_add(&s, d, point) < 0)
			return cli_failed("out of memory");
	if (r < 0)
		return CLI_FAILED;
	s.by_statement = tracedb_summary_sort(&s.statements);
	s.by_variable = tracedb_summary_sort(&s.variables);
	if (!s.by_statement || !s.by_variable)
		return cli_failed("out of memory");
	if (json)
		tracedb_summary_print_json(&s, t);
	else
		tracedb_summary_print(&s, t, limit);
	return open_trace_finish(t);
}
