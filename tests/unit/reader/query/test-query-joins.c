/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queries over several points: results that were worked out by hand, and the same results as a
 * search that tries all combinations. Each limit ends a query with a message.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "reader/query/query-run.h"
#include "tests/support/unit.h"
#include "writer/tracedb/tracedb-writer.h"

enum { POINTS_MAX = 4096, RESULTS_MAX = 4096, RANDOM_POINTS = 120 };

/* Statements. */
enum { MALLOC = 1, FREE, USE };

static const char *const names[] = { "address", "u64" };
static const struct tracedb_type types[] = { { 1, TRACEDB_UNSIGNED, 8 } };
static const struct tracedb_dictionary dictionary = { names, ARRAY_SIZE(names), types,
						      ARRAY_SIZE(types) };

struct point {
	uint64_t statement, address;
};

static struct trace {
	struct tracedb_reader *reader;
	struct tracedb_store *store;
	struct outbuf bytes;
} trace;

static void load(const struct point *points, size_t n)
{
	struct tracedb_writer w;

	assert_int_equal(tracedb_writer_begin(&w, &trace.bytes, TRACEDB_W64, &dictionary), 0);
	for (size_t i = 0; i < n; i++) {
		const struct tracedb_entry e[] = {
			{ .tag = TRACEDB_STATEMENT, .statement = points[i].statement },
			{ .tag = TRACEDB_VARIABLE,
			  .variable = { 0, 0, 8, .u = points[i].address } },
		};

		assert_int_equal(tracedb_writer_point(&w, &(struct tracedb_point){ e, 2 }), 0);
	}
	assert_int_equal(
		tracedb_reader_new_memory(&trace.reader, trace.bytes.data, trace.bytes.size), 0);
	assert_int_equal(tracedb_store_load(&trace.store, trace.reader), TRACEDB_TRACE_END);
}

static void unload(void)
{
	tracedb_store_free(trace.store);
	tracedb_reader_free(trace.reader);
	outbuf_deinit(&trace.bytes);
	trace = (struct trace){ 0 };
}

/* The points of a result, the latest one first. */
struct found {
	size_t points[QUERY_POINTS_MAX];
};

static struct found found[RESULTS_MAX];
static size_t n_found;

static int on_result(void *userdata, const struct query_result *r)
{
	const struct query_expression *e = userdata;
	struct found *to = &found[n_found++];

	assert_true(n_found <= RESULTS_MAX);
	assert_int_equal(r->n_earlier, e->n_earlier);
	*to = (struct found){ { r->point } };
	for (unsigned i = 0; i < r->n_earlier; i++)
		to->points[i + 1] = r->earlier[i].number;
	return 0;
}

static int ask(const char *text, const char *soft, struct query *q, struct query_error *error)
{
	int r;

	*error = (struct query_error){ 0 };
	n_found = 0;
	q->keep_duplicates = true;
	if (query_parse(&q->expression, text, &q->hard, error) < 0)
		fail_msg("'%s': %s", text, error->why);
	if (soft && query_parse(&q->expression, soft, &q->softs[q->n_softs++], error) < 0)
		fail_msg("'%s': %s", soft, error->why);
	r = query_run(q, trace.store, &dictionary, on_result, &q->expression, error);
	query_deinit(q);
	return r;
}

static void expect(const char *text, const char *soft, const struct found *expected, size_t n)
{
	struct query_error error;

	if (ask(text, soft, &(struct query){ 0 }, &error) < 0)
		fail_msg("'%s': %s", text, error.why);
	if (n_found != n)
		fail_msg("'%s': %zu results", text, n_found);
	for (size_t i = 0; i < n; i++)
		if (memcmp(&expected[i], &found[i], sizeof(found[i])) != 0)
			fail_msg("'%s': result %zu is %zu, %zu, %zu, %zu", text, i,
				 found[i].points[0], found[i].points[1], found[i].points[2],
				 found[i].points[3]);
}

/* A life of two blocks, 0xa and 0xb. */
static const struct point life[] = {
	[0] = { MALLOC, 0xa }, [1] = { MALLOC, 0xb }, [2] = { USE, 0xa },     [3] = { FREE, 0xa },
	[4] = { USE, 0xa },    [5] = { USE, 0xb },    [6] = { MALLOC, 0xa },  [7] = { USE, 0xa },
	[8] = { FREE, 0xb },   [9] = { FREE, 0xa },   [10] = { USE, 0xa },    [11] = { USE, 0xb },
	[12] = { FREE, 0xc },  [13] = { USE, 0xc },   [14] = { MALLOC, 0xc }, [15] = { USE, 0xc },
};

#define USE_FREE_MALLOC "(= (p/statement) 3) (= (e/statement) 2) (= (e2/statement) 1) "

/* A use after a free, and the allocation before it. Block 0xc is freed before it is allocated. */
TEST(test_by_hand)
{
	static const struct found uses[] = { { { 4, 3, 0 } },
					     { { 7, 3, 0 } },
					     { { 10, 9, 6 } },
					     { { 11, 8, 1 } } },
				  again[] = { { { 9, 6, 3, 0 } } };
	static const char *const ways[] = {
		/* (each joined with the next) */
		"(= (v/value address) (e/value address)) (= (e/value address) (e2/value address))",
		"(= (e2/value address) (e/value address)) (= (e/value address) (v/value address))",
		/* (both joined with the last) */
		"(= (v/value address) (e/value address)) (= (v/value address) (e2/value address))",
		/* (the value of two points) */
		"(= (v/value address) (e/value address))"
		"(= (+ (v/value address) (e/value address)) (* 2 (e2/value address)))",
		/* (only one of them by its value, and none) */
		"(= (v/value address) (e/value address)) (>= (v/value address) (e2/value address))"
		"(<= (v/value address) (e2/value address))",
		"(>= (v/value address) (e/value address)) (<= (v/value address) (e/value address))"
		"(>= (v/value address) (e2/value address))"
		"(<= (v/value address) (e2/value address))",
	};
	char text[512];

	load(life, ARRAY_SIZE(life));
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		snprintf(text, sizeof(text), "(and " USE_FREE_MALLOC "%s)", ways[i]);
		expect(text, NULL, uses, ARRAY_SIZE(uses));
		/* (a soft condition that no result fulfils keeps all of them) */
		expect(text, "(> (e2/value address) 0xff)", uses, ARRAY_SIZE(uses));
	}
	/* Four points: a block that is freed, allocated again, and freed again. */
	expect("(and (= (p/statement) 2) (= (e/statement) 1) (= (e2/statement) 2)"
	       "  (= (e3/statement) 1) (= (v/value address) (e/value address))"
	       "  (= (e/value address) (e2/value address))"
	       "  (= (e2/value address) (e3/value address)))",
	       NULL, again, 1);
	/* (no point is before itself) */
	expect("(and (= (v/value address) (e/value address)) (= (p/statement) (e/statement))"
	       "  (= (e/statement) (e2/statement)) (= (v/value address) (e2/value address))"
	       "  (= (v/value address) 0xc))",
	       NULL, NULL, 0);
	unload();
}

/* No point between the free and the use, or between two points, fulfils a condition. */
TEST(test_none_by_hand)
{
	static const struct found uses[] = { { { 4, 3, 0 } }, { { 10, 9, 6 } }, { { 11, 8, 1 } } },
				  next[] = { { { 4, 3 } }, { { 10, 9 } }, { { 13, 12 } } },
				  untouched[] = {
					  { { 4, 3 } }, { { 10, 9 } }, { { 11, 8 } }, { { 13, 12 } }
				  };
	static const char *const ways[] = {
		"(none (= (b/statement) 1) (= (b/value address) (v/value address)))",
		"(none (and (= (e/value address) (b/value address)) (= (b/statement) 1)))",
		"(none (= (b/value address) (e2/value address)) (= (b/statement) (e2/statement)))",
		"(none (or (and (= (b/statement) 1) (= (b/value address) (v/value address)))"
		" (= (b/value address) 0xff)))",
		"(none (= (b/statement) 1) (<= (b/value address) (v/value address))"
		" (>= (b/value address) (v/value address)))",
	};
	char text[512];

	load(life, ARRAY_SIZE(life));
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		snprintf(text, sizeof(text),
			 "(and " USE_FREE_MALLOC "(= (v/value address) (e/value address))"
			 "(= (e/value address) (e2/value address)) %s)",
			 ways[i]);
		expect(text, NULL, uses, ARRAY_SIZE(uses));
	}
	/* (a use directly after a free) */
	expect("(and (= (p/statement) 3) (= (e/statement) 2) (none (= 1 1)))", NULL, next,
	       ARRAY_SIZE(next));
	/* (a use, and the last free whose block no point in between has) */
	expect("(and (= (p/statement) 3) (= (e/statement) 2)"
	       "  (none (= (b/value address) (e/value address))))",
	       NULL, untouched, ARRAY_SIZE(untouched));
	unload();
}

/* ---- as by trying all combinations ---- */

static bool is_chain(const struct point *p, const struct point *e, const struct point *e2)
{
	return p->address == e->address && e->address == e2->address && p->statement == USE &&
	       e2->statement == MALLOC;
}

static bool is_sum(const struct point *p, const struct point *e, const struct point *e2)
{
	return p->address == e->address + e2->address && e->statement != e2->statement;
}

static bool is_through(const struct point *p, const struct point *e, const struct point *e2)
{
	return p->address == e2->address && e->address > p->address;
}

static bool is_less(const struct point *p, const struct point *e, const struct point *e2)
{
	return p->address > e->address && e->address > e2->address;
}

static bool is_either(const struct point *p, const struct point *e, const struct point *e2)
{
	return p->address == e->address + 1 &&
	       (e2->statement == p->statement || e2->address == e->address);
}

static bool is_same_as_last(const struct point *p, const struct point *e, const struct point *e2,
			    const struct point *b)
{
	(void)e;
	(void)e2;
	return b->address == p->address && b->statement == FREE;
}

static bool is_same_as_all(const struct point *p, const struct point *e, const struct point *e2,
			   const struct point *b)
{
	return b->address == e->address && b->statement != e2->statement &&
	       b->statement == p->statement;
}

static const struct question {
	const char *text;
	bool (*holds)(const struct point *p, const struct point *e, const struct point *e2);
	/* No point B between E and P may fulfil this; NULL = there is no such condition. */
	bool (*between)(const struct point *p, const struct point *e, const struct point *e2,
			const struct point *b);
} questions[] = {
	{ "(and (= (v/value address) (e/value address)) (= (e/value address) (e2/value address))"
	  " (= (p/statement) 3) (= (e2/statement) 1))",
	  is_chain },
	{ "(and (= (v/value address) (+ (e/value address) (e2/value address)))"
	  " (not (= (e/statement) (e2/statement))))",
	  is_sum },
	{ "(and (= (v/value address) (e2/value address))"
	  " (> (e/value address) (v/value address)))",
	  is_through },
	{ "(and (> (v/value address) (e/value address)) (> (e/value address) (e2/value address)))",
	  is_less },
	{ "(and (= (v/value address) (+ (e/value address) 1))"
	  " (or (= (e2/statement) (p/statement)) (= (e2/value address) (e/value address))))",
	  is_either },
	{ "(and (= (v/value address) (e/value address)) (= (e/value address) (e2/value address))"
	  " (= (p/statement) 3) (= (e2/statement) 1)"
	  " (none (= (b/value address) (v/value address)) (= (b/statement) 2)))",
	  is_chain, is_same_as_last },
	{ "(and (> (v/value address) (e/value address)) (> (e/value address) (e2/value address))"
	  " (none (= (b/value address) (e/value address)) (= (b/statement) (p/statement))"
	  " (not (= (b/statement) (e2/statement)))))",
	  is_less, is_same_as_all },
};

static bool is_between(const struct question *question, const struct point *points, size_t p,
		       size_t e, size_t e2)
{
	for (size_t b = e + 1; question->between && b < p; b++)
		if (question->between(&points[p], &points[e], &points[e2], &points[b]))
			return true;
	return false;
}

/* Of each point, the last E and then the last E2 for which QUESTION holds. */
static size_t try_all(const struct question *question, const struct point *points,
		      struct found *ret)
{
	size_t n = 0;

	for (size_t p = 0; p < RANDOM_POINTS; p++)
		for (size_t both = p * p; both > 0; both--) {
			size_t e = (both - 1) / p, e2 = (both - 1) % p;

			if (e2 >= e || !question->holds(&points[p], &points[e], &points[e2]) ||
			    is_between(question, points, p, e, e2))
				continue;
			ret[n++] = (struct found){ { p, e, e2 } };
			break;
		}
	return n;
}

TEST(test_as_by_brute_force)
{
	static struct found expected[RANDOM_POINTS];
	struct point points[RANDOM_POINTS];
	size_t n_results = 0;

	for (unsigned round = 0; round < unit_rounds(20); round++) {
		for (size_t i = 0; i < RANDOM_POINTS; i++)
			points[i] =
				(struct point){ 1 + (uint64_t)rand() % 3, (uint64_t)rand() % 12 };
		load(points, RANDOM_POINTS);
		for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
			size_t n = try_all(&questions[i], points, expected);

			expect(questions[i].text, NULL, expected, n);
			n_results += n;
		}
		unload();
	}
	assert_true(n_results > unit_rounds(1000));
}

/* ---- limits ---- */

static void too_many(struct query *q, const char *text, const char *why)
{
	struct query_error error;

	assert_int_equal(ask(text, NULL, q, &error), -E2BIG);
	if (strcmp(error.why, why) != 0)
		fail_msg("'%s' says '%s'", text, error.why);
}

TEST(test_limits)
{
	load(life, ARRAY_SIZE(life));
	/* (16 points: the first has no earlier one, the others have 15 + 14 + ... in vain) */
	too_many(&(struct query){ .pairs_max = 119 },
		 "(< (+ (v/value address) (e/value address)) 0)",
		 "more than 119 earlier points were tried; compare a value of e/ with one of a "
		 "later point by '=', or a text by 'is'");
	expect("(< (+ (v/value address) (e/value address)) 0)", NULL, NULL, 0);
	too_many(&(struct query){ .pairs_max = 5 },
		 "(and (= (v/value address) (e/value address)) (< (e/time) (e2/time))"
		 " (< (e2/value address) (e/value address)))",
		 "more than 5 earlier points were tried; compare a value of e2/ with one of a "
		 "later point by '=', or a text by 'is'");
	too_many(&(struct query){ .pairs_max = 2 },
		 "(and (= (v/value address) (e/value address)) (< (e/time) (v/value address)))",
		 "more than 2 earlier points were tried; add conditions about one of the points");
	too_many(&(struct query){ .earlier_max = 15 }, "(= (v/value address) (e/value address))",
		 "more than 15 points can be earlier points; add conditions about the earlier "
		 "points alone, as (is (e/function) \"free\")");
	unload();
}

/* Many points with equal values, which are not compared with each other. */
TEST(test_many_points)
{
	static struct point points[POINTS_MAX];
	struct query_error error;
	struct query q = { .pairs_max = 4 * POINTS_MAX };

	for (size_t i = 0; i < POINTS_MAX; i++)
		points[i] = (struct point){ 1 + i % 3, i / 3 % 7 };
	load(points, POINTS_MAX);
	assert_int_equal(ask("(and " USE_FREE_MALLOC "(= (v/value address) (e/value address))"
			     " (= (e/value address) (e2/value address)))",
			     NULL, &q, &error),
			 0);
	assert_int_equal(n_found, POINTS_MAX / 3);
	for (size_t i = 0; i < n_found; i++)
		for (size_t k = 0; k < 3; k++)
			assert_int_equal(found[i].points[k], 3 * i + 2 - k);
	unload();
	/* (frees of one block, with an allocation between each two of them) */
	for (size_t i = 0; i < POINTS_MAX; i++)
		points[i] = (struct point){ MALLOC + i % 2, 0xa };
	points[POINTS_MAX - 2].statement = FREE;
	load(points, POINTS_MAX);
	assert_int_equal(ask("(and (= (p/statement) 2) (= (e/statement) 2)"
			     " (= (v/value address) (e/value address))"
			     " (none (= (b/statement) 1) (= (b/value address) (v/value address))))",
			     NULL, &(struct query){ .pairs_max = 4 * POINTS_MAX }, &error),
			 0);
	assert_int_equal(n_found, 2);
	assert_int_equal(found[1].points[0], POINTS_MAX - 1);
	assert_int_equal(found[1].points[1], POINTS_MAX - 2);
	unload();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),           cmocka_unit_test(test_none_by_hand),
		cmocka_unit_test(test_as_by_brute_force), cmocka_unit_test(test_limits),
		cmocka_unit_test(test_many_points),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
