/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Predicates give the same results as the test's own evaluator, which only knows fractions and
 * tries all assignments.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "reader/query/query-run.h"
#include "tests/support/unit.h"
#include "writer/tracedb/tracedb-writer.h"

enum {
	POINTS = 10000,
	JOINED = 150,
	VARIABLES_MAX = 4,
	PREDICATES = 60,
	JOINS = 48,
	TEXT_MAX = 1 << 14,
	DEPTH = 4
};

static const char *const names[] = { "a", "b", "c", "d", "u64", "i32", "f64", "ptr", "blob" };
static const struct tracedb_type types[] = {
	{ 4, TRACEDB_UNSIGNED, 8 }, { 5, TRACEDB_SIGNED, 4 }, { 6, TRACEDB_FLOAT, 8 },
	{ 7, TRACEDB_POINTER, 8 },  { 8, TRACEDB_BLOB, 2 },
};
static const struct tracedb_dictionary dictionary = { names, ARRAY_SIZE(names), types,
						      ARRAY_SIZE(types) };

/* ---- points ---- */

struct variable {
	uint32_t name, type;
	uint64_t bits; /* of the value */
	uint64_t size; /* of the buffer; TRACEDB_NO_SIZE = none */
};

static struct point {
	uint64_t statement;
	struct variable variables[2 * VARIABLES_MAX]; /* (in a pair, then the earlier one's) */
	unsigned n;
} points[POINTS];

static uint64_t any(uint64_t n)
{
	return (((uint64_t)rand() << 31) ^ (uint64_t)rand()) % n;
}

static uint64_t any_bits(uint32_t type)
{
	static const uint64_t often[] = { 0,         1,          2,
					  7,         INT32_MAX,  UINT32_MAX,
					  INT64_MAX, UINT64_MAX, UINT64_MAX - 1 };
	double f = (double)(int)any(41) / 4 - 5;
	uint64_t bits = any(3) ? often[any(ARRAY_SIZE(often))] : any(20);

	if (type == 2)
		memcpy(&bits, &f, sizeof(bits));
	return type == 1 ? (uint64_t)(int64_t)(int32_t)bits : bits;
}

static void write_point(struct tracedb_writer *w, struct point *p)
{
	static const uint8_t blob[2] = { 'x', 'y' };
	struct tracedb_entry e[1 + 2 * VARIABLES_MAX];
	size_t n = 0;

	p->statement = 1 + any(5);
	p->n = (unsigned)any(VARIABLES_MAX + 1);
	e[n++] = (struct tracedb_entry){ .tag = TRACEDB_STATEMENT, .statement = p->statement };
	for (unsigned i = 0; i < p->n; i++) {
		struct variable *v = &p->variables[i];
		struct tracedb_value value;

		*v = (struct variable){ (uint32_t)any(4), (uint32_t)any(5), 0, TRACEDB_NO_SIZE };
		v->bits = any_bits(v->type);
		value = (struct tracedb_value){ .name = v->name,
						.type = v->type,
						.size = types[v->type].size };
		if (v->type == 3) {
			/* (its own buffer, far from others) */
			v->bits = (uint64_t)(p - points + 1) << 20 | i << 12;
			v->size = any(2) ? any(64) + 1 : TRACEDB_NO_SIZE;
			e[n++] = (struct tracedb_entry){
				.tag = TRACEDB_BUFFER,
				.buffer = { v->bits, v->size == TRACEDB_NO_SIZE ? 0 : v->size },
			};
		}
		memcpy(&value.u, &v->bits, sizeof(value.u));
		if (v->type == 4)
			value.bytes = blob;
		e[n++] = (struct tracedb_entry){ .tag = TRACEDB_VARIABLE, .variable = value };
	}
	assert_int_equal(tracedb_writer_point(w, &(struct tracedb_point){ e, n }), 0);
}

/* ---- predicates ---- */

/* As text, and as the test evaluates it. */
struct term {
	char op; /* & | ! > g < l = d; n v s + - * / */
	unsigned n, variable[2];
	char number[32];
	struct term *of[3];
};

static struct term *make_number(int depth)
{
	static const char *const numbers[] = { "0",   "1",         "-1",  "2.5",
					       "7",   "0xff",      "1e3", "18446744073709551616",
					       "-.5", "4294967295" };
	static const char ops[] = "+-*/";
	struct term *t = calloc(1, sizeof(*t));

	if (depth == 0 || any(3) == 0) {
		t->op = "nvs"[any(3)];
		t->variable[0] = (unsigned)any(3);
		snprintf(t->number, sizeof(t->number), "%s", numbers[any(ARRAY_SIZE(numbers))]);
		return t;
	}
	t->op = ops[any(4)];
	t->n = t->op == '/' ? 2 : 1 + (unsigned)any(3);
	for (unsigned i = 0; i < t->n; i++)
		t->of[i] = make_number(depth - 1);
	return t;
}

static struct term *make_truth(int depth)
{
	struct term *t = calloc(1, sizeof(*t));

	if (depth > 0 && any(2)) {
		t->op = "&|!"[any(3)];
		t->n = t->op == '!' ? 1 : 1 + (unsigned)any(3);
		for (unsigned i = 0; i < t->n; i++)
			t->of[i] = make_truth(depth - 1);
		return t;
	}
	t->op = ">g<l=d"[any(6)];
	t->variable[0] = (unsigned)any(3);
	t->variable[1] = (unsigned)any(3);
	if (t->op == 'd')
		return t;
	t->n = 2;
	for (unsigned i = 0; i < 2; i++)
		t->of[i] = make_number(depth > 2 ? 2 : depth);
	return t;
}

static void free_term(struct term *t)
{
	for (unsigned i = 0; i < t->n; i++)
		free_term(t->of[i]);
	free(t);
}

/* The first two are free, the third is the variable of that name. */
static const char *const words[] = { "x", "y", "c" };

/* The point of a word: y belongs to the earlier one, if two are JOINED. */
static bool joined;

static char side_of(unsigned word)
{
	return joined && word == 1 ? 'e' : 'v';
}

static void write_term(FILE *to, const struct term *t)
{
	static const char *const ops[128] = {
		['&'] = "and", ['|'] = "or", ['!'] = "not", ['>'] = ">", ['g'] = ">=", ['<'] = "<",
		['l'] = "<=",  ['='] = "=",  ['+'] = "+",   ['-'] = "-", ['*'] = "*",  ['/'] = "/",
	};

	if (t->op == 'n') {
		fprintf(to, "%s", t->number);
		return;
	}
	if (t->op == 'v' || t->op == 's') {
		fprintf(to, "(%c/%s %s)", side_of(t->variable[0]), t->op == 'v' ? "value" : "size",
			words[t->variable[0]]);
		return;
	}
	if (t->op == 'd') {
		fprintf(to, "(distinct-vars %s %s)", words[t->variable[0]], words[t->variable[1]]);
		return;
	}
	fprintf(to, "(%s", ops[(int)t->op]);
	for (unsigned i = 0; i < t->n; i++) {
		fprintf(to, " ");
		write_term(to, t->of[i]);
	}
	fprintf(to, ")");
}

static bool number_of(const struct term *t, const struct point *p, const unsigned *bound,
		      mpq_t ret);

static bool combine(const struct term *t, const struct point *p, const unsigned *bound, mpq_t ret)
{
	bool good = number_of(t->of[0], p, bound, ret);
	mpq_t next;

	if (good && t->n == 1 && t->op == '-')
		mpq_neg(ret, ret);
	mpq_init(next);
	for (unsigned i = 1; good && i < t->n; i++) {
		good = number_of(t->of[i], p, bound, next) && (t->op != '/' || mpq_sgn(next));
		if (good && t->op == '+')
			mpq_add(ret, ret, next);
		else if (good && t->op == '-')
			mpq_sub(ret, ret, next);
		else if (good && t->op == '*')
			mpq_mul(ret, ret, next);
		else if (good)
			mpq_div(ret, ret, next);
	}
	mpq_clear(next);
	return good;
}

static void set_u64(mpq_t to, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	mpq_set_str(to, text, 10);
}

static bool value_of(const struct variable *v, mpq_t ret)
{
	double f;

	if (v->type == 4)
		return false;
	if (v->type == 1)
		mpq_set_si(ret, (long)(int64_t)v->bits, 1);
	else if (v->type != 2)
		set_u64(ret, v->bits);
	else {
		memcpy(&f, &v->bits, sizeof(f));
		mpq_set_d(ret, f);
	}
	return true;
}

static bool number_of(const struct term *t, const struct point *p, const unsigned *bound, mpq_t ret)
{
	static const struct {
		const char *text, *fraction;
	} known[] = { { "2.5", "5/2" }, { "0xff", "255" }, { "1e3", "1000" }, { "-.5", "-1/2" } };
	const struct variable *v = &p->variables[bound[t->variable[0]]];
	const char *text = t->number;

	switch (t->op) {
	case 'n':
		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			if (strcmp(known[i].text, text) == 0)
				text = known[i].fraction;
		mpq_set_str(ret, text, 10);
		mpq_canonicalize(ret);
		return true;
	case 'v':
		return value_of(v, ret);
	case 's':
		set_u64(ret, v->size);
		return v->size != TRACEDB_NO_SIZE;
	default:
		return combine(t, p, bound, ret);
	}
}

static bool is_true(const struct term *t, const struct point *p, const unsigned *bound)
{
	bool r = t->op == '&';
	mpq_t a, b;
	int sign;

	switch (t->op) {
	case '&':
	case '|':
		for (unsigned i = 0; i < t->n; i++)
			r = t->op == '&' ? r && is_true(t->of[i], p, bound)
					 : r || is_true(t->of[i], p, bound);
		return r;
	case '!':
		return !is_true(t->of[0], p, bound);
	case 'd':
		return bound[t->variable[0]] != bound[t->variable[1]];
	default:
		break;
	}
	mpq_inits(a, b, NULL);
	r = number_of(t->of[0], p, bound, a) && number_of(t->of[1], p, bound, b);
	sign = mpq_cmp(a, b);
	r = r && (t->op == '>'   ? sign > 0
		  : t->op == 'g' ? sign >= 0
		  : t->op == '<' ? sign < 0
		  : t->op == 'l' ? sign <= 0
				 : sign == 0);
	mpq_clears(a, b, NULL);
	return r;
}

/* ---- both ---- */

static bool uses(const struct term *t, unsigned word)
{
	if ((t->op == 'v' || t->op == 's' || t->op == 'd') && t->variable[0] == word)
		return true;
	if (t->op == 'd' && t->variable[1] == word)
		return true;
	for (unsigned i = 0; i < t->n; i++)
		if (uses(t->of[i], word))
			return true;
	return false;
}

struct expected {
	const struct term *t;
	bool wants_c; /* the third word is used: a point without it has no result */
	size_t point;
	unsigned at[3]; /* the next assignment */
	uint64_t n;
};

static bool is_allowed(const struct expected *x, unsigned word, const struct variable *v)
{
	/* (x has any type, y one of two numeric types) */
	return word == 0 || (word == 1 && (v->type == 0 || v->type == 3)) ||
	       (word == 2 && v->name == 2) || (word == 2 && !x->wants_c);
}

/* Steps to the next assignment for which it is true. Returns false at the end. */
static bool expect_next(struct expected *x)
{
	for (; x->point < POINTS; x->point++, x->at[0] = x->at[1] = x->at[2] = 0) {
		const struct point *p = &points[x->point];
		unsigned n_c = x->wants_c ? p->n : 1;

		for (; x->at[0] < p->n; x->at[0]++, x->at[1] = 0)
			for (; x->at[1] < p->n; x->at[1]++, x->at[2] = 0)
				for (; x->at[2] < n_c; x->at[2]++)
					if (is_allowed(x, 1, &p->variables[x->at[1]]) &&
					    (!x->wants_c ||
					     is_allowed(x, 2, &p->variables[x->at[2]])) &&
					    is_true(x->t, p, x->at))
						return true;
	}
	return false;
}

static int compare_result(void *userdata, const struct query_result *result)
{
	struct expected *x = userdata;

	assert_true(expect_next(x));
	assert_int_equal(result->point, x->point);
	assert_int_equal(result->bound[0], x->at[0]);
	assert_int_equal(result->bound[1], x->at[1]);
	if (x->wants_c)
		assert_int_equal(result->bound[2], x->at[2]);
	x->at[2]++;
	x->n++;
	return 0;
}

static void load(struct tracedb_reader **reader, struct tracedb_store **store, struct outbuf *b,
		 size_t n)
{
	struct tracedb_writer w;

	srand(7);
	assert_int_equal(tracedb_writer_begin(&w, b, TRACEDB_W64, &dictionary), 0);
	for (size_t i = 0; i < n; i++)
		write_point(&w, &points[i]);
	assert_int_equal(tracedb_reader_new_memory(reader, b->data, b->size), 0);
	assert_int_equal(tracedb_store_load(store, *reader), TRACEDB_TRACE_END);
}

/* Parses T, with the text BEFORE it. */
static void parse_term(struct query *q, const struct term *t, const char *before)
{
	struct query_error error;
	char text[TEXT_MAX];
	FILE *to = fmemopen(text, sizeof(text), "w");

	fprintf(to, "(and %s ", before);
	write_term(to, t);
	fprintf(to, ")");
	assert_int_equal(fclose(to), 0);
	assert_int_equal(query_declare(&q->expression, "x", &error), 0);
	assert_int_equal(query_declare(&q->expression, "y:u64,ptr", &error), 0);
	assert_int_equal(query_parse(&q->expression, text, &q->hard, &error), 0);
}

TEST(test_as_by_brute_force)
{
	_cleanup_(tracedb_reader_freep) struct tracedb_reader *reader = NULL;
	_cleanup_(tracedb_store_freep) struct tracedb_store *store = NULL;
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	uint64_t n_results = 0;

	load(&reader, &store, &b, POINTS);
	for (unsigned i = 0; i < unit_rounds(PREDICATES); i++) {
		_cleanup_(query_deinit) struct query q = { .keep_duplicates = true };
		struct term *t = make_truth(DEPTH);
		struct expected x = { .t = t, .wants_c = uses(t, 2) };
		struct query_error error;

		parse_term(&q, t, "");
		assert_int_equal(query_run(&q, store, &dictionary, compare_result, &x, &error), 0);
		assert_false(expect_next(&x));
		n_results += x.n;
		free_term(t);
	}
	assert_true(n_results > unit_rounds(10000));
}

/* ---- two points ---- */

struct pair {
	size_t point, earlier;
	uint32_t bound[3];
};

static struct pairs {
	struct pair list[JOINED * VARIABLES_MAX * VARIABLES_MAX];
	size_t n, compared;
	bool wants_c;
} expected_pairs;

/* The last earlier point with which T is true for POINT and the assignment in AT. */
static void expect_pair(const struct term *t, size_t point, unsigned *at)
{
	struct point both = points[point];

	for (size_t i = point; i > 0; i--) {
		const struct point *earlier = &points[i - 1];

		memcpy(both.variables + both.n, earlier->variables,
		       earlier->n * sizeof(earlier->variables[0]));
		for (unsigned k = earlier->n; k > 0; k--) {
			uint32_t type = earlier->variables[k - 1].type;

			at[1] = both.n + k - 1;
			if ((type != 0 && type != 3) || !is_true(t, &both, at))
				continue;
			expected_pairs.list[expected_pairs.n++] =
				(struct pair){ point, i - 1, { at[0], k - 1, at[2] } };
			return;
		}
	}
}

static void expect_pairs(const struct term *t)
{
	expected_pairs.n = expected_pairs.compared = 0;
	expected_pairs.wants_c = uses(t, 2);
	for (size_t i = 0; i < JOINED; i++)
		for (unsigned x = 0; x < points[i].n; x++)
			for (unsigned c = 0; c < (expected_pairs.wants_c ? points[i].n : 1); c++)
				if (!expected_pairs.wants_c || points[i].variables[c].name == 2)
					expect_pair(t, i, (unsigned[]){ x, 0, c });
}

static int compare_pair(void *userdata, const struct query_result *result)
{
	const struct pair *pair = &expected_pairs.list[expected_pairs.compared++];

	(void)userdata;
	assert_true(expected_pairs.compared <= expected_pairs.n);
	assert_int_equal(result->point, pair->point);
	assert_int_equal(result->n_earlier, 1);
	assert_int_equal(result->earlier[0].number, pair->earlier);
	assert_int_equal(result->earlier[0].of.statement, points[pair->earlier].statement);
	for (unsigned i = 0; i < (expected_pairs.wants_c ? 3 : 2); i++)
		assert_int_equal(result->bound[i], pair->bound[i]);
	return 0;
}

/* The first comparison of T, which contains all three words, compares both points. */
static struct term *make_join(int i)
{
	static const char ops[] = "==><";
	struct term *t = calloc(1, sizeof(*t)), *compare = calloc(1, sizeof(*t));

	*t = (struct term){ .op = '&', .n = 2, .of = { compare, make_truth(2) } };
	*compare = (struct term){ .op = ops[i % 4], .n = 2 };
	for (unsigned k = 0; k < 2; k++) {
		compare->of[k] = calloc(1, sizeof(*t));
		/* (sides are swapped, and some comparisons are of sizes) */
		*compare->of[k] = (struct term){ .op = i % 3 ? 'v' : 's',
						 .variable = { (k + (unsigned)i / 4) % 2 } };
	}
	return t;
}

TEST(test_joins_as_by_brute_force)
{
	_cleanup_(tracedb_reader_freep) struct tracedb_reader *reader = NULL;
	_cleanup_(tracedb_store_freep) struct tracedb_store *store = NULL;
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	size_t n_results = 0;

	load(&reader, &store, &b, JOINED);
	joined = true;
	for (unsigned i = 0; i < unit_rounds(JOINS); i++) {
		_cleanup_(query_deinit) struct query q = { .keep_duplicates = true };
		struct term *t = make_join(i);
		struct query_error error;

		expect_pairs(t);
		parse_term(&q, t, "(> (e/statement) 0)");
		assert_int_equal(q.expression.n_earlier, 1);
		assert_int_equal(query_run(&q, store, &dictionary, compare_pair, NULL, &error), 0);
		assert_int_equal(expected_pairs.compared, expected_pairs.n);
		n_results += expected_pairs.n;
		free_term(t);
	}
	joined = false;
	assert_true(n_results > unit_rounds(1000));
}

/* A store that grows, and is cleared: each point is visited once, in order. */
TEST(test_as_points_come)
{
	_cleanup_(tracedb_reader_freep) struct tracedb_reader *reader = NULL;
	_cleanup_(tracedb_store_freep) struct tracedb_store *store = NULL, *all = NULL;
	_cleanup_(query_search_freep) struct query_search *search = NULL;
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	_cleanup_(query_deinit) struct query q = { .keep_duplicates = true };
	struct term *t = make_truth(DEPTH);
	struct expected x = { .t = t, .wants_c = uses(t, 2) };
	const struct tracedb_point *point;
	struct query_error error;

	load(&reader, &all, &b, POINTS);
	reader = tracedb_reader_free(reader);
	assert_int_equal(tracedb_reader_new_memory(&reader, b.data, b.size), 0);
	assert_int_equal(tracedb_store_new(&store, tracedb_reader_dictionary(reader)), 0);
	parse_term(&q, t, "");
	assert_int_equal(query_search_new(&search, &q, tracedb_reader_dictionary(reader),
					  compare_result, &x, &error),
			 0);
	for (size_t i = 0; tracedb_reader_next(reader, &point) == TRACEDB_POINT; i++) {
		assert_int_equal(tracedb_store_add(store, point), 0);
		if (i % 7 == 0)
			continue;
		assert_int_equal(query_search_run(search, store, &error), 0);
		assert_true(x.point <= i);
		query_search_cleared(search, tracedb_store_clear(store));
	}
	assert_false(expect_next(&x));
	free_term(t);
}

/* ---- other features ---- */

static int count_result(void *userdata, const struct query_result *result)
{
	uint64_t *n = userdata;

	++*n;
	return result->of->statement > 5 ? -1 : 0;
}

static uint64_t count(const struct tracedb_store *store, struct query *q, const char *variable,
		      const char *hard, const char *soft)
{
	struct query_error error;
	uint64_t n = 0;

	if (variable)
		assert_int_equal(query_declare(&q->expression, variable, &error), 0);
	assert_int_equal(query_parse(&q->expression, hard, &q->hard, &error), 0);
	if (soft)
		assert_int_equal(query_parse(&q->expression, soft, &q->softs[q->n_softs++], &error),
				 0);
	assert_int_equal(query_run(q, store, &dictionary, count_result, &n, &error), 0);
	query_deinit(q);
	return n;
}

TEST(test_ways_to_ask)
{
	_cleanup_(tracedb_reader_freep) struct tracedb_reader *reader = NULL;
	_cleanup_(tracedb_store_freep) struct tracedb_store *store = NULL;
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	uint64_t with[6] = { 0 }, of_3 = 0, without = 0;

	load(&reader, &store, &b, POINTS);
	for (size_t i = 0; i < POINTS; i++) {
		of_3 += points[i].statement == 3;
		without += points[i].n > 0;
		with[points[i].statement]++;
	}
	/* Without a variable, each point once; of equal ones the first. */
	assert_int_equal(count(store, &(struct query){ .keep_duplicates = true }, NULL, "", NULL),
			 POINTS);
	assert_int_equal(count(store, &(struct query){ 0 }, NULL, "", NULL), 5);
	assert_int_equal(count(store,
			       &(struct query){ .keep_duplicates = true,
						.mask = UINT64_MAX,
						.statement = 3 },
			       NULL, "", NULL),
			 of_3);
	assert_int_equal(with[3], of_3);
	assert_int_equal(count(store, &(struct query){ .keep_duplicates = true, .limit = 17 }, "x",
			       "", NULL),
			 17);
	/* One random point, always the same. */
	assert_int_equal(count(store, &(struct query){ .keep_duplicates = true, .seed = 42 }, NULL,
			       "", NULL),
			 1);
	/* Each point with variables keeps at least one assignment. */
	assert_true(count(store, &(struct query){ .keep_duplicates = true }, "x", "",
			  "(> (v/value x) 5)") >= without);
	/* Names that are not in the trace are in no point. */
	assert_int_equal(count(store, &(struct query){ 0 }, NULL, "(= (v/value nobody) 0)", NULL),
			 0);
}

/* Runs an expression with N free variables, with MAX as the maximum of tries. */
static int run_free(const struct tracedb_store *store, unsigned n, uint64_t max,
		    struct query_error *error)
{
	_cleanup_(query_deinit) struct query q = { .tries_max = max };
	uint64_t found = 0;
	char name[16];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "v%u", i);
		assert_int_equal(query_declare(&q.expression, name, error), 0);
	}
	assert_int_equal(query_parse(&q.expression, "(< 2 1)", &q.hard, error), 0);
	return query_run(&q, store, &dictionary, count_result, &found, error);
}

/* Too many assignments of free variables: of a point, and together. */
TEST(test_free_variables_end)
{
	_cleanup_(tracedb_reader_freep) struct tracedb_reader *reader = NULL;
	_cleanup_(tracedb_store_freep) struct tracedb_store *store = NULL;
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	enum { FEW = 60 };
	struct query_error error;
	unsigned most = 0, n = 1;
	uint64_t all;

	load(&reader, &store, &b, FEW);
	for (size_t i = 0; i < FEW; i++)
		most = most < points[i].n ? points[i].n : most;
	assert_true(most > 2);
	assert_int_equal(run_free(store, QUERY_VARIABLES_MAX, 0, &error), -E2BIG);
	assert_non_null(strstr(error.why, "a point has more than 16777216 assignments"));
	/* (as many as are not prepared) */
	for (all = most; all <= 4096; all *= most)
		n++;
	assert_int_equal(run_free(store, n, 0, &error), 0);
	assert_int_equal(run_free(store, n, all - 1, &error), -E2BIG);
	assert_non_null(strstr(error.why, "assignments of the free variables were tried"));
}

/* A type that the trace does not have, and a name that is declared twice. */
TEST(test_declarations)
{
	_cleanup_(tracedb_reader_freep) struct tracedb_reader *reader = NULL;
	_cleanup_(tracedb_store_freep) struct tracedb_store *store = NULL;
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	_cleanup_(query_deinit) struct query q = { 0 };
	struct query_error error;
	uint64_t n = 0;

	load(&reader, &store, &b, POINTS);
	assert_int_equal(query_declare(&q.expression, "x:u46", &error), 0);
	assert_int_equal(query_parse(&q.expression, "", &q.hard, &error), 0);
	assert_int_equal(query_run(&q, store, &dictionary, count_result, &n, &error), -EINVAL);
	assert_non_null(strstr(error.why, "did you mean 'u64'"));
	assert_int_equal(query_declare(&q.expression, "x", &error), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_by_brute_force),
		cmocka_unit_test(test_joins_as_by_brute_force),
		cmocka_unit_test(test_as_points_come),
		cmocka_unit_test(test_ways_to_ask),
		cmocka_unit_test(test_free_variables_end),
		cmocka_unit_test(test_declarations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
