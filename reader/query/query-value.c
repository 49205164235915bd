/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/query/query-value.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"

/* ---- values ---- */

enum query_answer {
	ANSWER_NUMBER,
	ANSWER_NONE,  /* no number: a value without a size, a blob, or a division by 0 */
	ANSWER_EXACT, /* too large for query_small, so it must be computed exactly */
};

/* A fraction, not necessarily reduced. */
struct query_small {
	__int128 n;
	int64_t d; /* > 0 */
};

/* Returns the words of the value of VARIABLE. */
static const uint64_t *query_words(const struct query_context *c, uint32_t variable)
{
	return query_point_of(c, variable)->row->words + query_slot(c, variable)->word;
}

static double query_float(const struct query_context *c, uint32_t variable)
{
	double f;

	memcpy(&f, query_words(c, variable), sizeof(f));
	return f;
}

static enum query_answer query_small_value(const struct query_context *c, uint32_t variable,
					   __int128 *ret)
{
	switch (query_slot(c, variable)->format) {
	case TRACEDB_SIGNED:
		*ret = (int64_t)*query_words(c, variable);
		return ANSWER_NUMBER;
	case TRACEDB_UNSIGNED:
	case TRACEDB_POINTER:
		*ret = *query_words(c, variable);
		return ANSWER_NUMBER;
	case TRACEDB_FLOAT:
		return isfinite(query_float(c, variable)) ? ANSWER_EXACT : ANSWER_NONE;
	default:
		return ANSWER_NONE;
	}
}

static enum query_answer query_small_size(const struct query_context *c, uint32_t variable,
					  __int128 *ret)
{
	if (query_slot(c, variable)->format != TRACEDB_POINTER)
		return ANSWER_NONE;
	*ret = query_words(c, variable)[1];
	return *ret != TRACEDB_NO_SIZE ? ANSWER_NUMBER : ANSWER_NONE;
}

/* Multiplies A by N / D. Returns false if the result is too large. */
static bool query_small_product(const struct query_small *a, __int128 n, int64_t d,
				struct query_small *ret)
{
	return !__builtin_mul_overflow(a->n, n, &ret->n) &&
	       !__builtin_mul_overflow(a->d, d, &ret->d);
}

/* Divides A by B, which is not 0. */
static bool query_small_quotient(const struct query_small *a, const struct query_small *b,
				 struct query_small *ret)
{
	__int128 n = b->n < 0 ? -(__int128)b->d : b->d, d = b->n;

	if (d < -INT64_MAX || d > INT64_MAX)
		return false;
	return query_small_product(a, n, (int64_t)(d < 0 ? -d : d), ret);
}

/* Converts A and B to a common denominator. */
static bool query_small_align(struct query_small *a, struct query_small *b)
{
	int64_t d = a->d;

	return d == b->d ||
	       (query_small_product(a, b->d, b->d, a) && query_small_product(b, d, d, b));
}

static bool query_small_step(enum query_kind kind, struct query_small *a, struct query_small *b)
{
	switch (kind) {
	case QUERY_ADD:
		return query_small_align(a, b) && !__builtin_add_overflow(a->n, b->n, &a->n);
	case QUERY_SUBTRACT:
		return query_small_align(a, b) && !__builtin_sub_overflow(a->n, b->n, &a->n);
	case QUERY_MULTIPLY:
		return query_small_product(a, b->n, b->d, a);
	default:
		return query_small_quotient(a, b, a);
	}
}

static enum query_answer query_small(const struct query_context *c, uint32_t at,
				     struct query_small *ret);

/*
 * Computes a sum or difference. A difference of one operand is its negation. A division by 0 has no
 * result.
 */
static enum query_answer query_small_sum(const struct query_context *c,
					 const struct query_node *node, struct query_small *ret)
{
	const uint32_t *children = query_children(c->e, node);
	enum query_answer answer = query_small(c, children[0], ret), other;
	struct query_small next;

	if (node->n == 1 && node->kind == QUERY_SUBTRACT && answer == ANSWER_NUMBER)
		return __builtin_sub_overflow((__int128)0, ret->n, &ret->n) ? ANSWER_EXACT
									    : ANSWER_NUMBER;
	for (uint32_t i = 1; i < node->n && answer != ANSWER_NONE; i++) {
		other = query_small(c, children[i], &next);
		if (other == ANSWER_NONE ||
		    (other == ANSWER_NUMBER && node->kind == QUERY_DIVIDE && next.n == 0))
			return ANSWER_NONE;
		if (answer == ANSWER_EXACT || other == ANSWER_EXACT ||
		    !query_small_step(node->kind, ret, &next))
			answer = ANSWER_EXACT;
	}
	return answer;
}

/* A property of the point itself. */
static enum query_answer query_small_property(const struct query_point *p, enum query_kind kind,
					      __int128 *ret)
{
	uint32_t i = kind == QUERY_TIME ? QUERY_AUXILIARY_TIME : QUERY_AUXILIARY_THREAD;
	uint64_t word;

	*ret = p->row->statement;
	if (kind == QUERY_STATEMENT)
		return ANSWER_NUMBER;
	if (p->shape->n_auxiliary <= i)
		return ANSWER_NONE;
	word = p->row->words[p->shape->n_words - p->shape->n_auxiliary + i];
	*ret = kind == QUERY_TIME ? word : kind == QUERY_PROCESS ? word >> 32 : (uint32_t)word;
	return ANSWER_NUMBER;
}

/* The number at node AT, if it fits struct query_small. */
static enum query_answer query_small(const struct query_context *c, uint32_t at,
				     struct query_small *ret)
{
	const struct query_node *node = &c->e->nodes[at];

	*ret = (struct query_small){ 0, 1 };
	switch (node->kind) {
	case QUERY_NUMBER:
		*ret = (struct query_small){ node->small, node->small_denominator };
		return node->is_small ? ANSWER_NUMBER : ANSWER_EXACT;
	case QUERY_VALUE:
		return query_small_value(c, node->variable, &ret->n);
	case QUERY_SIZE:
		return query_small_size(c, node->variable, &ret->n);
	case QUERY_STATEMENT:
	case QUERY_TIME:
	case QUERY_PROCESS:
	case QUERY_THREAD:
		return query_small_property(&c->points[node->point], node->kind, &ret->n);
	default:
		return query_small_sum(c, node, ret);
	}
}

/* ---- exact numbers ---- */

static void query_set_integer(mpz_ptr z, __int128 value)
{
	bool minus = value < 0;
	unsigned __int128 rest = minus ? -(unsigned __int128)value : (unsigned __int128)value;

	mpz_set_ui(z, (unsigned long)(rest >> 64));
	mpz_mul_2exp(z, z, 64);
	mpz_add_ui(z, z, (unsigned long)rest);
	if (minus)
		mpz_neg(z, z);
}

static void query_set_small(mpq_t to, const struct query_small *value)
{
	query_set_integer(mpq_numref(to), value->n);
	mpz_set_ui(mpq_denref(to), (unsigned long)value->d);
	if (value->d != 1)
		mpq_canonicalize(to);
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
	const uint32_t *children = query_children(c->e, node);
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

/* Computes the number at node AT. Returns false if it has no number. */
static bool query_exact(const struct query_context *c, uint32_t at, mpq_t ret)
{
	const struct query_node *node = &c->e->nodes[at];
	enum query_answer answer;
	struct query_small small;

	if (node->kind == QUERY_NUMBER) {
		mpq_set(ret, node->exact);
		return true;
	}
	if (node->kind >= QUERY_ADD && node->kind <= QUERY_DIVIDE)
		return query_exact_sum(c, node, ret);
	answer = query_small(c, at, &small);
	if (answer == ANSWER_NUMBER)
		query_set_small(ret, &small);
	else if (answer == ANSWER_EXACT)
		mpq_set_d(ret, query_float(c, node->variable));
	return answer != ANSWER_NONE;
}

/* ---- predicates ---- */

static bool query_compare_exactly(const struct query_context *c, const struct query_node *node)
{
	const uint32_t *children = query_children(c->e, node);
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
	const uint32_t *children = query_children(c->e, node);
	struct query_small a, b;
	enum query_answer x = query_small(c, children[0], &a), y;

	if (x == ANSWER_NONE)
		return false;
	y = query_small(c, children[1], &b);
	if (y == ANSWER_NONE)
		return false;
	if (x == ANSWER_EXACT || y == ANSWER_EXACT || !query_small_align(&a, &b))
		return query_compare_exactly(c, node);
	return query_compare(node->kind, COMPARE(a.n, b.n));
}

/* ---- text ---- */

struct query_text {
	const char *bytes; /* NULL = no text */
	size_t n;
};

static struct query_text query_text_of(const char *text)
{
	return (struct query_text){ text, text ? strlen(text) : 0 };
}

static struct query_text query_text_at(const struct query_context *c, uint32_t at)
{
	const struct query_node *node = &c->e->nodes[at];
	const struct tracedb_dictionary *d = c->dictionary;
	const struct tracedb_slot *slot;
	const uint64_t *words;

	if (node->kind == QUERY_TEXT)
		return query_text_of(node->text);
	if (node->kind == QUERY_FUNCTION)
		return query_text_of(c->function
					     ? c->function(c->function_userdata,
							   c->points[node->point].row->statement)
					     : NULL);
	slot = query_slot(c, node->variable);
	if (node->kind == QUERY_NAME)
		return query_text_of(d->names[slot->name]);
	if (node->kind == QUERY_TYPE)
		return query_text_of(d->names[d->types[slot->type].name]);
	if (slot->format != TRACEDB_BLOB)
		return (struct query_text){ 0 };
	words = query_words(c, node->variable);
	return (struct query_text){ (const char *)tracedb_store_bytes(c->store, words), words[1] };
}

static bool query_text_matches(const struct query_text *text, const char *pattern)
{
	_cleanup_free_ char *copy = strndup(text->bytes, text->n);

	return copy && fnmatch(pattern, copy, 0) == 0;
}

static bool query_compare_texts(const struct query_context *c, const struct query_node *node)
{
	const uint32_t *children = query_children(c->e, node);
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
	const uint32_t *variables = query_children(c->e, node);

	for (uint32_t i = 0; i < node->n; i++)
		for (uint32_t j = 0; j < i; j++)
			if (query_point_of(c, variables[i]) == query_point_of(c, variables[j]) &&
			    c->bound[variables[i]] == c->bound[variables[j]])
				return false;
	return true;
}

bool query_is_true(const struct query_context *c, uint32_t at)
{
	const struct query_node *node = &c->e->nodes[at];
	const uint32_t *children;

	if (node->kind == QUERY_TRUE)
		return true;
	children = query_children(c->e, node);
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

/* ---- keys ---- */

/* VALUE, if it is an integer of at most 127 bits; otherwise 0. */
static __int128 query_wide(mpq_t value)
{
	unsigned __int128 bits = 0;
	mpz_t rest;

	if (mpz_cmp_ui(mpq_denref(value), 1) != 0 || mpz_sizeinbase(mpq_numref(value), 2) > 127)
		return 0;
	mpz_init(rest);
	mpz_tdiv_q_2exp(rest, mpq_numref(value), 64);
	bits = (unsigned __int128)mpz_get_ui(rest) << 64 | mpz_get_ui(mpq_numref(value));
	mpz_clear(rest);
	return mpq_sgn(value) < 0 ? -(__int128)bits : (__int128)bits;
}

/* The key of an integer is its value in 128 bits, regardless of how it was computed. All fractions
 * have the same key. */
static bool query_key_of_number(const struct query_context *c, uint32_t at, uint64_t *ret)
{
	struct query_small number;
	enum query_answer answer = query_small(c, at, &number);
	bool good = answer != ANSWER_NONE;
	mpq_t exact;

	if (good && (answer == ANSWER_EXACT || number.d != 1)) {
		mpq_init(exact);
		good = query_exact(c, at, exact);
		number.n = query_wide(exact);
		mpq_clear(exact);
	}
	*ret = table_hash(&number.n, sizeof(number.n));
	return good;
}

bool query_key(const struct query_context *c, uint32_t at, uint64_t *ret)
{
	const struct query_node *node = &c->e->nodes[at];
	struct query_text text;

	if (!query_is_text(node->kind))
		return query_key_of_number(c, at, ret);
	text = query_text_at(c, at);
	*ret = table_hash(text.bytes ?: "", text.n);
	return text.bytes != NULL;
}
