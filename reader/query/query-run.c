/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/query/query-run.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "base/value.h"

/* Of one point. */
#define ASSIGNMENTS_MAX (UINT64_C(1) << 32)

void query_deinit(struct query *q)
{
	query_expression_deinit(&q->expression);
}

/* ---- values ---- */

enum query_answer {
	ANSWER_NUMBER,
	ANSWER_NONE,  /* a value without a size, a blob, a division by 0 */
	ANSWER_EXACT, /* no small integer: to be computed exactly */
};

struct query_context {
	const struct query *q;
	const struct query_expression *e;
	const struct tracedb_dictionary *dictionary;
	const struct tracedb_stored_point *point;
	const uint32_t *bound;
};

static const struct tracedb_variable *query_bound(const struct query_context *c, uint32_t variable)
{
	return &c->point->variables[c->bound[variable]];
}

static enum query_answer query_small_value(const struct query_context *c,
					   const struct tracedb_variable *v, __int128 *ret)
{
	switch (c->dictionary->types[v->value.type].format) {
	case TRACEDB_SIGNED:
		*ret = v->value.s;
		return ANSWER_NUMBER;
	case TRACEDB_UNSIGNED:
	case TRACEDB_POINTER:
		*ret = v->value.u;
		return ANSWER_NUMBER;
	case TRACEDB_FLOAT:
		return isfinite(v->value.f) ? ANSWER_EXACT : ANSWER_NONE;
	default:
		return ANSWER_NONE;
	}
}

static enum query_answer query_small_size(const struct query_context *c,
					  const struct tracedb_variable *v, __int128 *ret)
{
	*ret = v->buffer_size;
	return c->dictionary->types[v->value.type].format == TRACEDB_POINTER &&
			       v->buffer_size != TRACEDB_NO_SIZE
		       ? ANSWER_NUMBER
		       : ANSWER_NONE;
}

static bool query_small_step(enum query_kind kind, __int128 a, __int128 b, __int128 *ret)
{
	switch (kind) {
	case QUERY_ADD:
		return !__builtin_add_overflow(a, b, ret);
	case QUERY_SUBTRACT:
		return !__builtin_sub_overflow(a, b, ret);
	default:
		return !__builtin_mul_overflow(a, b, ret);
	}
}

static enum query_answer query_small(const struct query_context *c, uint32_t at, __int128 *ret);

/* Sums, differences and products; of one operand, a difference is that from 0. */
static enum query_answer query_small_sum(const struct query_context *c,
					 const struct query_node *node, __int128 *ret)
{
	const uint32_t *children = c->e->children + node->first;
	enum query_answer answer = query_small(c, children[0], ret), other;
	__int128 next;

	if (node->n == 1 && node->kind == QUERY_SUBTRACT && answer == ANSWER_NUMBER)
		return query_small_step(QUERY_SUBTRACT, 0, *ret, ret) ? ANSWER_NUMBER
								      : ANSWER_EXACT;
	for (uint32_t i = 1; i < node->n && answer != ANSWER_NONE; i++) {
		other = query_small(c, children[i], &next);
		if (other == ANSWER_NONE)
			return ANSWER_NONE;
		if (answer == ANSWER_EXACT || other == ANSWER_EXACT ||
		    !query_small_step(node->kind, *ret, next, ret))
			answer = ANSWER_EXACT;
	}
	return answer;
}

enum { AUXILIARY_TIME, AUXILIARY_THREAD }; /* process in the upper half of the latter */

/* What is said of the point itself. */
static enum query_answer query_small_property(const struct query_context *c, enum query_kind kind,
					      __int128 *ret)
{
	const struct tracedb_stored_point *point = c->point;

	if (kind == QUERY_STATEMENT)
		*ret = point->statement;
	else if (point->n_auxiliary <= (kind == QUERY_TIME ? AUXILIARY_TIME : AUXILIARY_THREAD))
		return ANSWER_NONE;
	else if (kind == QUERY_TIME)
		*ret = point->auxiliary[AUXILIARY_TIME];
	else if (kind == QUERY_PROCESS)
		*ret = point->auxiliary[AUXILIARY_THREAD] >> 32;
	else
		*ret = (uint32_t)point->auxiliary[AUXILIARY_THREAD];
	return ANSWER_NUMBER;
}

/* The number at node AT, if it is a small integer. */
static enum query_answer query_small(const struct query_context *c, uint32_t at, __int128 *ret)
{
	const struct query_node *node = &c->e->nodes[at];

	*ret = 0;
	switch (node->kind) {
	case QUERY_NUMBER:
		*ret = node->small;
		return node->is_small ? ANSWER_NUMBER : ANSWER_EXACT;
	case QUERY_VALUE:
		return query_small_value(c, query_bound(c, node->variable), ret);
	case QUERY_SIZE:
		return query_small_size(c, query_bound(c, node->variable), ret);
	case QUERY_STATEMENT:
	case QUERY_TIME:
	case QUERY_PROCESS:
	case QUERY_THREAD:
		return query_small_property(c, node->kind, ret);
	case QUERY_DIVIDE:
		return ANSWER_EXACT;
	default:
		return query_small_sum(c, node, ret);
	}
}

/* ---- exact ones ---- */

static void query_set_wide(mpq_t to, __int128 value)
{
	bool minus = value < 0;
	unsigned __int128 rest = minus ? -(unsigned __int128)value : (unsigned __int128)value;
	mpz_ptr z = mpq_numref(to);

	mpz_set_ui(z, (unsigned long)(rest >> 64));
	mpz_mul_2exp(z, z, 64);
	mpz_add_ui(z, z, (unsigned long)rest);
	mpz_set_ui(mpq_denref(to), 1);
	if (minus)
		mpq_neg(to, to);
}

static bool query_exact(const struct query_context *c, uint32_t at, mpq_t ret);

static bool query_exact_step(enum query_kind kind, mpq_t to, mpq_t with)
{
	switch (kind) {
	case QUERY_ADD:
		mpq_add(to, to, with);
		return true;
	case QUERY_SUBTRACT:
		mpq_sub(to, to, with);
		return true;
	case QUERY_MULTIPLY:
		mpq_mul(to, to, with);
		return true;
	default:
		if (mpq_sgn(with) == 0)
			return false;
		mpq_div(to, to, with);
		return true;
	}
}

static bool query_exact_sum(const struct query_context *c, const struct query_node *node, mpq_t ret)
{
	const uint32_t *children = c->e->children + node->first;
	bool good = query_exact(c, children[0], ret);
	mpq_t next;

	if (good && node->n == 1 && node->kind == QUERY_SUBTRACT)
		mpq_neg(ret, ret);
	mpq_init(next);
	for (uint32_t i = 1; i < node->n && good; i++)
		good = query_exact(c, children[i], next) && query_exact_step(node->kind, ret, next);
	mpq_clear(next);
	return good;
}

/* The number at node AT. False: there is none. */
static bool query_exact(const struct query_context *c, uint32_t at, mpq_t ret)
{
	const struct query_node *node = &c->e->nodes[at];
	enum query_answer answer;
	__int128 small;

	if (node->kind == QUERY_NUMBER) {
		mpq_set(ret, node->exact);
		return true;
	}
	if (node->kind >= QUERY_ADD && node->kind <= QUERY_DIVIDE)
		return query_exact_sum(c, node, ret);
	answer = query_small(c, at, &small);
	if (answer == ANSWER_NUMBER)
		query_set_wide(ret, small);
	else if (answer == ANSWER_EXACT)
		mpq_set_d(ret, query_bound(c, node->variable)->value.f);
	return answer != ANSWER_NONE;
}

/* ---- truth ---- */

static bool query_compare(enum query_kind kind, int sign)
{
	switch (kind) {
	case QUERY_GT:
		return sign > 0;
	case QUERY_GE:
		return sign >= 0;
	case QUERY_LT:
		return sign < 0;
	case QUERY_LE:
		return sign <= 0;
	default:
		return sign == 0;
	}
}

static bool query_compare_exactly(const struct query_context *c, const struct query_node *node)
{
	const uint32_t *children = c->e->children + node->first;
	mpq_t a, b;
	bool r;

	mpq_inits(a, b, NULL);
	r = query_exact(c, children[0], a) && query_exact(c, children[1], b) &&
	    query_compare(node->kind, mpq_cmp(a, b));
	mpq_clears(a, b, NULL);
	return r;
}

static bool query_compare_node(const struct query_context *c, const struct query_node *node)
{
	const uint32_t *children = c->e->children + node->first;
	__int128 a, b;
	enum query_answer x = query_small(c, children[0], &a), y;

	if (x == ANSWER_NONE)
		return false;
	y = query_small(c, children[1], &b);
	if (y == ANSWER_NONE)
		return false;
	if (x == ANSWER_EXACT || y == ANSWER_EXACT)
		return query_compare_exactly(c, node);
	return query_compare(node->kind, COMPARE(a, b));
}

/* ---- texts ---- */

struct query_text {
	const char *bytes; /* NULL = there is none */
	size_t n;
};

static struct query_text query_text_of(const char *text)
{
	return (struct query_text){ text, text ? strlen(text) : 0 };
}

static struct query_text query_text_at(const struct query_context *c, uint32_t at)
{
	const struct query_node *node = &c->e->nodes[at];
	const struct tracedb_type *types = c->dictionary->types;
	const struct tracedb_variable *v;

	if (node->kind == QUERY_TEXT)
		return query_text_of(node->text);
	if (node->kind == QUERY_FUNCTION)
		return query_text_of(c->q->function ? c->q->function(c->q->function_userdata,
								     c->point->statement)
						    : NULL);
	v = query_bound(c, node->variable);
	if (node->kind == QUERY_NAME)
		return query_text_of(c->dictionary->names[v->value.name]);
	if (node->kind == QUERY_TYPE)
		return query_text_of(c->dictionary->names[types[v->value.type].name]);
	return types[v->value.type].format == TRACEDB_BLOB
		       ? (struct query_text){ (const char *)v->value.bytes, v->value.size }
		       : (struct query_text){ 0 };
}

static bool query_text_matches(const struct query_text *text, const char *pattern)
{
	_cleanup_free_ char *copy = strndup(text->bytes, text->n);

	return copy && fnmatch(pattern, copy, 0) == 0;
}

static bool query_compare_texts(const struct query_context *c, const struct query_node *node)
{
	const uint32_t *children = c->e->children + node->first;
	struct query_text a = query_text_at(c, children[0]), b = query_text_at(c, children[1]);
	_cleanup_free_ char *pattern = NULL;

	if (!a.bytes || !b.bytes)
		return false;
	if (node->kind == QUERY_IS)
		return a.n == b.n && memcmp(a.bytes, b.bytes, a.n) == 0;
	if (node->kind == QUERY_CONTAINS)
		return memmem(a.bytes, a.n, b.bytes, b.n) != NULL;
	pattern = strndup(b.bytes, b.n);
	return pattern && query_text_matches(&a, pattern);
}

static bool query_is_distinct(const struct query_context *c, const struct query_node *node)
{
	const uint32_t *variables = c->e->children + node->first;

	for (uint32_t i = 0; i < node->n; i++)
		for (uint32_t j = 0; j < i; j++)
			if (c->bound[variables[i]] == c->bound[variables[j]])
				return false;
	return true;
}

static bool query_is_true(const struct query_context *c, uint32_t at)
{
	const struct query_node *node = &c->e->nodes[at];
	const uint32_t *children;

	if (node->kind == QUERY_TRUE)
		return true;
	children = c->e->children + node->first;
	switch (node->kind) {
	case QUERY_NOT:
		return !query_is_true(c, children[0]);
	case QUERY_AND:
	case QUERY_OR:
		for (uint32_t i = 0; i < node->n; i++)
			if (query_is_true(c, children[i]) == (node->kind == QUERY_OR))
				return node->kind == QUERY_OR;
		return node->kind == QUERY_AND;
	case QUERY_DISTINCT:
		return query_is_distinct(c, node);
	case QUERY_IS:
	case QUERY_MATCHES:
	case QUERY_CONTAINS:
		return query_compare_texts(c, node);
	default:
		return query_compare_node(c, node);
	}
}

/* ---- points ---- */

/* What a variable of the expression may stand for. */
struct query_domain {
	bool by_name;
	uint32_t name;     /* its number; the trace has no such name: QUERY_NO_NAME */
	bool *types;       /* by number; NULL = all. Owned */
	uint32_t *members; /* of the point: which of its variables. Owned */
	size_t n, room;
};

#define QUERY_NO_NAME UINT32_MAX

struct query_search {
	const struct query *q;
	struct query_context context;
	struct query_domain domains[QUERY_VARIABLES_MAX];
	size_t n_variables;
	uint32_t bound[QUERY_VARIABLES_MAX];
	uint32_t *kept; /* assignments of the point that fulfil most soft ones. Owned */
	size_t n_kept, kept_room;
	unsigned most;
	struct table seen; /* hashes of results */
	size_t point;
	uint64_t n_results;
	query_result_fn fn;
	void *userdata;
};

static void query_search_deinit(struct query_search *s)
{
	for (size_t i = 0; i < s->n_variables; i++) {
		free(s->domains[i].types);
		free(s->domains[i].members);
	}
	free(s->kept);
	table_deinit(&s->seen);
}

static int query_allow_type(struct query_domain *d, const struct tracedb_dictionary *dictionary,
			    const char *type, struct query_error *error)
{
	struct value_nearest near = { .text = type, .distance = VALUE_NEAR };
	bool any = false;

	for (size_t i = 0; i < dictionary->n_types; i++) {
		const char *name = dictionary->names[dictionary->types[i].name];

		value_nearest_try(&near, name);
		if (strcmp(name, type) == 0)
			any = d->types[i] = true;
	}
	if (any)
		return 0;
	error->at = 0;
	snprintf(error->why, sizeof(error->why), "the trace has no type '%.40s'%s%.40s%s", type,
		 near.nearest ? "; did you mean '" : "", near.nearest ?: "",
		 near.nearest ? "'?" : "");
	return -EINVAL;
}

static int query_set_domain(struct query_domain *d, const struct query_variable *v,
			    const struct tracedb_dictionary *dictionary, struct query_error *error)
{
	_cleanup_free_ char *copy = strdup(v->types);
	char *rest = copy, *type;
	int r = 0;

	d->by_name = !v->free;
	d->name = QUERY_NO_NAME;
	if (d->by_name) {
		for (size_t i = 0; i < dictionary->n_names; i++)
			if (strcmp(dictionary->names[i], v->name) == 0)
				d->name = (uint32_t)i;
		return copy ? 0 : -ENOMEM;
	}
	if (!copy || !*copy)
		return copy ? 0 : -ENOMEM;
	d->types = calloc(dictionary->n_types + 1, sizeof(*d->types));
	if (!d->types)
		return -ENOMEM;
	while (r == 0 && (type = strsep(&rest, ",")))
		r = query_allow_type(d, dictionary, type, error);
	return r;
}

/* Two names of one text have two numbers: all of them are meant. */
static bool query_may_be(const struct query_search *s, const struct query_domain *d,
			 const struct tracedb_variable *v)
{
	const struct tracedb_dictionary *dictionary = s->context.dictionary;

	if (!d->by_name)
		return !d->types || d->types[v->value.type];
	return d->name != QUERY_NO_NAME &&
	       (v->value.name == d->name ||
		strcmp(dictionary->names[v->value.name], dictionary->names[d->name]) == 0);
}

/* Returns 1 if each variable may be something, 0 if one may not, or -ENOMEM. */
static int query_fill_domains(struct query_search *s, const struct tracedb_stored_point *point)
{
	for (size_t i = 0; i < s->n_variables; i++) {
		struct query_domain *d = &s->domains[i];

		d->n = 0;
		for (uint32_t j = 0; j < point->n_variables; j++) {
			if (!query_may_be(s, d, &point->variables[j]))
				continue;
			if (GROW(d->members, d->room, d->n + 1) < 0)
				return -ENOMEM;
			d->members[d->n++] = j;
		}
		if (d->n == 0)
			return 0;
	}
	return 1;
}

static uint64_t query_hash(const struct query_search *s, const uint32_t *bound)
{
	uint64_t key[1 + QUERY_VARIABLES_MAX] = { s->context.point->statement };

	for (size_t i = 0; i < s->n_variables; i++) {
		const struct tracedb_value *v = &s->context.point->variables[bound[i]].value;

		key[i + 1] = (uint64_t)v->name << 32 | v->type;
	}
	return table_hash(key, (s->n_variables + 1) * sizeof(key[0])) | 1;
}

/* Results of equal statements, names and types are one, the first. Returns what FN returns. */
static int query_tell(struct query_search *s, const uint32_t *bound)
{
	uint64_t hash = s->q->keep_duplicates ? 0 : query_hash(s, bound);
	int r;

	if (hash && table_get(&s->seen, hash))
		return 0;
	r = hash ? table_set(&s->seen, hash, s) : 0;
	if (r < 0)
		return r;
	s->n_results++;
	return s->fn(s->userdata, &(struct query_result){ s->point, s->context.point, bound });
}

/* One assignment that the hard predicate is true of. */
static int query_keep(struct query_search *s)
{
	unsigned n = 0;

	if (s->q->n_softs == 0)
		return query_tell(s, s->bound);
	for (size_t i = 0; i < s->q->n_softs; i++)
		n += query_is_true(&s->context, s->q->softs[i]);
	if (n < s->most)
		return 0;
	if (n > s->most)
		s->n_kept = 0;
	s->most = n;
	if (GROW(s->kept, s->kept_room, (s->n_kept + 1) * QUERY_VARIABLES_MAX) < 0)
		return -ENOMEM;
	memcpy(s->kept + s->n_kept++ * QUERY_VARIABLES_MAX, s->bound, sizeof(s->bound));
	return 0;
}

static bool query_is_over(const struct query_search *s)
{
	return s->q->limit && s->n_results >= s->q->limit;
}

/* Variable I and those behind it. */
static int query_assign(struct query_search *s, size_t i)
{
	const struct query_domain *d = &s->domains[i];
	int r = 0;

	if (i == s->n_variables)
		return query_is_true(&s->context, s->q->hard) ? query_keep(s) : 0;
	for (size_t j = 0; r == 0 && j < d->n && !query_is_over(s); j++) {
		s->bound[i] = d->members[j];
		r = query_assign(s, i + 1);
	}
	return r;
}

static int query_look_at(struct query_search *s, const struct tracedb_stored_point *point,
			 struct query_error *error)
{
	int r = query_fill_domains(s, point);
	uint64_t n = 1;

	if (r <= 0)
		return r;
	for (size_t i = 0; i < s->n_variables; i++) {
		if (s->domains[i].n > ASSIGNMENTS_MAX / n) {
			error->at = 0;
			snprintf(error->why, sizeof(error->why),
				 "point %zu has too many variables for so many free ones; name "
				 "their types (--var NAME:TYPE)",
				 s->point);
			return -E2BIG;
		}
		n *= s->domains[i].n;
	}
	s->context.point = point;
	s->context.bound = s->bound;
	s->n_kept = s->most = 0;
	r = query_assign(s, 0);
	for (size_t i = 0; r == 0 && i < s->n_kept && !query_is_over(s); i++)
		r = query_tell(s, s->kept + i * QUERY_VARIABLES_MAX);
	return r;
}

/* ---- one point by chance ---- */

enum { TWISTER_WORDS = 624, TWISTER_SHIFT = 397 };

/* The first number of the Mersenne twister (MT19937). */
static uint32_t query_twist(uint32_t seed)
{
	uint32_t state[TWISTER_WORDS], y;

	state[0] = seed;
	for (uint32_t i = 1; i < TWISTER_WORDS; i++)
		state[i] = 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + i;
	y = (state[0] & 0x80000000u) | (state[1] & 0x7fffffffu);
	y = state[TWISTER_SHIFT] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
	y ^= y >> 11;
	y ^= y << 7 & 0x9d2c5680u;
	y ^= y << 15 & 0xefc60000u;
	return y ^ y >> 18;
}

static bool query_wants(const struct query *q, const struct tracedb_stored_point *point)
{
	return (point->statement & q->mask) == q->statement;
}

/* How many points the mask leaves. */
static int query_count(const struct query *q, const struct tracedb_store *store, uint64_t *ret)
{
	_cleanup_(tracedb_cursor_deinit) struct tracedb_cursor c = { 0 };
	struct tracedb_stored_point point;
	int r;

	for (*ret = 0; (r = tracedb_store_next(store, &c, &point)) > 0;)
		*ret += query_wants(q, &point);
	return r;
}

/* ---- all of it ---- */

static int query_walk(struct query_search *s, const struct tracedb_store *store, uint64_t pick,
		      struct query_error *error)
{
	_cleanup_(tracedb_cursor_deinit) struct tracedb_cursor c = { 0 };
	struct tracedb_stored_point point;
	uint64_t n = 0;
	int r, e = 0;

	for (; e == 0 && !query_is_over(s) && (r = tracedb_store_next(store, &c, &point)) != 0;
	     s->point++) {
		if (r < 0)
			return r;
		if (!query_wants(s->q, &point))
			continue;
		if (!s->q->seed || n == pick)
			e = query_look_at(s, &point, error);
		n++;
	}
	return e;
}

int query_run(const struct query *q, const struct tracedb_store *store,
	      const struct tracedb_dictionary *dictionary, query_result_fn fn, void *userdata,
	      struct query_error *error)
{
	_cleanup_(query_search_deinit) struct query_search s = {
		.q = q,
		.context = { .q = q, .e = &q->expression, .dictionary = dictionary },
		.fn = fn,
		.userdata = userdata,
	};
	uint64_t n = 0, pick = 0;
	int r = q->seed ? query_count(q, store, &n) : 0;

	while (r == 0 && s.n_variables < q->expression.n_variables) {
		size_t i = s.n_variables++;

		r = query_set_domain(&s.domains[i], &q->expression.variables[i], dictionary, error);
	}
	if (n > 0)
		pick = (uint64_t)query_twist(q->seed) * n >> 32;
	return r < 0 ? r : query_walk(&s, store, pick, error);
}
