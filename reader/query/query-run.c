/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/query/query-run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "reader/query/query-join.h"
#include "reader/query/query-plan.h"

/* The maximum number of pairs in a query that joins points. */
#define PAIRS_MAX (UINT64_C(1) << 28)

enum { LATER, EARLIER, SIDES };

/*
 * An assignment that is a result unless another assignment of the point fulfils more soft
 * predicates.
 */
struct query_kept {
	uint32_t bound[QUERY_VARIABLES_MAX];
	struct tracedb_row earlier;
};

struct query_search {
	const struct query *q;
	struct query_context context;
	/* Conjuncts about the later point, about the earlier point, and about both; owned. */
	uint32_t *conjuncts;
	size_t n_conjuncts[SIDES + 1];
	struct query_side sides[SIDES];
	struct query_plan *plans[SIDES]; /* plans of each side, by shape; owned */
	size_t n_plans[SIDES];
	struct query_join join;
	uint64_t n_pairs;

	struct tracedb_cursor at;            /* position of the next row */
	struct tracedb_cursor points[SIDES]; /* cursors to read the points of results */
	struct tracedb_row row, earlier;     /* the current pair */
	struct tracedb_stored_point of;      /* the point of `row`, valid if has_of */
	bool has_of;
	uint32_t bound[QUERY_VARIABLES_MAX];

	struct query_kept *kept; /* assignments of the point that can be results; owned */
	size_t n_kept, kept_room;
	unsigned most;
	struct table seen; /* hashes of results */
	uint64_t n_results;
	bool ended;        /* the limit of results has ended the search */
	uint64_t n_wanted; /* number of points so far that the mask accepts */
	query_result_fn fn;
	void *userdata;
};

void query_deinit(struct query *q)
{
	query_expression_deinit(&q->expression);
}

/* ---- results ---- */

static void query_hash_bound(const struct query_search *s, const uint32_t *bound,
			     const struct tracedb_row *earlier, uint64_t *key)
{
	const struct query_expression *e = &s->q->expression;

	for (size_t i = 0; i < e->n_variables; i++) {
		const struct tracedb_row *row = e->variables[i].earlier ? earlier : &s->row;
		const struct tracedb_slot *slot =
			&tracedb_store_shape(s->context.store, row->shape)->slots[bound[i]];

		key[i] = (uint64_t)slot->name << 32 | slot->type;
	}
}

/*
 * Finds out whether the result is new. Results with equal statements, names and types count once.
 * Returns 1 if it is.
 */
static int query_is_new(struct query_search *s, const uint32_t *bound,
			const struct tracedb_row *earlier)
{
	uint64_t key[2 + QUERY_VARIABLES_MAX] = { s->row.statement, earlier->statement }, hash;
	size_t n = 2 + s->q->expression.n_variables;

	if (s->q->keep_duplicates)
		return 1;
	query_hash_bound(s, bound, earlier, key + 2);
	hash = table_hash(key, n * sizeof(key[0])) | 1;
	if (table_get(&s->seen, hash))
		return 0;
	return table_set(&s->seen, hash, s) < 0 ? -ENOMEM : 1;
}

/* Passes a result to FN. Returns the result of FN. */
static int query_report(struct query_search *s, const uint32_t *bound,
			const struct tracedb_row *earlier)
{
	struct tracedb_stored_point before;
	bool joins = s->q->expression.joins;
	int r = query_is_new(s, bound, earlier);

	if (r <= 0)
		return r;
	r = s->has_of ? 0
		      : tracedb_store_point(s->context.store, &s->points[LATER], &s->row, &s->of);
	s->has_of = r == 0;
	if (r == 0 && joins)
		r = tracedb_store_point(s->context.store, &s->points[EARLIER], earlier, &before);
	if (r < 0)
		return r;
	s->n_results++;
	return s->fn(s->userdata, &(struct query_result){ s->row.point, &s->of, bound,
							  earlier->point, joins ? &before : NULL });
}

bool query_search_is_over(const struct query_search *s)
{
	return s->q->limit && s->n_results >= s->q->limit;
}

/* Handles an assignment for which the hard predicate is true. Returns 1 if no more results are
 * wanted. */
static int query_keep(struct query_search *s)
{
	unsigned n = 0;
	int r;

	if (s->q->n_softs == 0) {
		r = query_report(s, s->bound, &s->earlier);
		s->ended = r == 0 && query_search_is_over(s);
		return s->ended ? 1 : r;
	}
	for (size_t i = 0; i < s->q->n_softs; i++)
		n += query_is_true(&s->context, s->q->softs[i]);
	if (n < s->most)
		return 0;
	if (n > s->most)
		s->n_kept = 0;
	s->most = n;
	if (GROW(s->kept, s->kept_room, s->n_kept + 1) < 0)
		return -ENOMEM;
	memcpy(s->kept[s->n_kept].bound, s->bound, sizeof(s->bound));
	s->kept[s->n_kept++].earlier = s->earlier;
	return 0;
}

static int query_report_kept(struct query_search *s)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->n_kept && !query_search_is_over(s); i++)
		r = query_report(s, s->kept[i].bound, &s->kept[i].earlier);
	s->n_kept = s->most = 0;
	return r;
}

/* ---- pairs ---- */

static bool query_is_pair(const struct query_search *s)
{
	const uint32_t *both = s->conjuncts + s->n_conjuncts[LATER] + s->n_conjuncts[EARLIER];

	for (size_t i = 0; i < s->n_conjuncts[SIDES]; i++)
		if (!query_is_true(&s->context, both[i]))
			return false;
	return true;
}

/* Makes entry I of the join the earlier point. */
static void query_set_earlier(struct query_search *s, size_t i)
{
	const struct query_side *side = &s->sides[EARLIER];
	const uint32_t *bound = s->join.bound + i * side->n_variables;
	struct tracedb_cursor at = { .point = s->join.list[i].point, .word = s->join.list[i].word };

	tracedb_store_next_row(s->context.store, &at, &s->earlier);
	s->context.points[EARLIER].shape = tracedb_store_shape(s->context.store, s->earlier.shape);
	for (size_t k = 0; k < side->n_variables; k++)
		s->bound[side->variables[k]] = bound[k];
}

/* Handles an assignment of the later point. It is paired with the last earlier point for which the
 * predicates are true. */
static int query_on_later(void *search)
{
	struct query_search *s = search;

	if (!s->q->expression.joins)
		return query_keep(s);
	for (size_t i = query_join_newest(&s->join, &s->context); i > 0;
	     i = s->join.list[i - 1].previous) {
		if (s->n_pairs++ == PAIRS_MAX)
			return -ENOBUFS;
		query_set_earlier(s, i - 1);
		if (query_is_pair(s))
			return query_keep(s);
	}
	return 0;
}

/* Handles an assignment of an earlier point. Later points can be paired with it. */
static int query_on_earlier(void *search)
{
	struct query_search *s = search;
	const struct query_side *side = &s->sides[EARLIER];
	uint32_t bound[QUERY_VARIABLES_MAX];
	int r;

	for (size_t k = 0; k < side->n_variables; k++)
		bound[k] = s->bound[side->variables[k]];
	r = query_join_add(&s->join, &s->context, bound, side->n_variables);
	return r == -E2BIG ? -ENOBUFS : r;
}

/* ---- points ---- */

/* Returns the plan for SHAPE. NULL on failure, with a negative errno in *REASON. */
static const struct query_plan *query_plan_of(struct query_search *s, unsigned side, uint32_t shape,
					      struct query_error *error, int *reason)
{
	size_t n = s->n_plans[side], room = n;

	if (shape >= n) {
		*reason = GROW(s->plans[side], room, (size_t)shape + 1);
		if (*reason < 0)
			return NULL;
		memset(s->plans[side] + n, 0, (room - n) * sizeof(*s->plans[side]));
		s->n_plans[side] = room;
	}
	*reason = s->plans[side][shape].made
			  ? 0
			  : query_plan_make(&s->plans[side][shape], &s->sides[side],
					    tracedb_store_shape(s->context.store, shape), error);
	return *reason < 0 ? NULL : &s->plans[side][shape];
}

/* Handles the row as the point of SIDE. Returns 1 if no more results are wanted. */
static int query_match_side(struct query_search *s, unsigned side, query_plan_fn fn,
			    struct query_error *error)
{
	int r;
	const struct query_plan *plan = query_plan_of(s, side, s->row.shape, error, &r);

	if (!plan)
		return r;
	s->context.points[side].row = &s->row;
	s->context.points[side].shape = tracedb_store_shape(s->context.store, s->row.shape);
	r = query_plan_run(plan, &s->sides[side], &s->context, s->bound, fn, s);
	s->context.points[EARLIER].row = &s->earlier;
	return r;
}

static int query_match_point(struct query_search *s, bool wanted, struct query_error *error)
{
	int r;

	s->has_of = false;
	r = wanted ? query_match_side(s, LATER, query_on_later, error) : 0;
	if (s->n_kept > 0 && r >= 0)
		r = query_report_kept(s);
	if (r == 0 && s->q->expression.joins)
		r = query_match_side(s, EARLIER, query_on_earlier, error);
	if (r != -ENOBUFS && r != -ERANGE)
		return r;
	if (r == -ENOBUFS)
		snprintf(error->why, sizeof(error->why),
			 "too many pairs of points: compare a value of both by '=', or a text by "
			 "'is', or add conditions for one of them");
	else
		snprintf(error->why, sizeof(error->why),
			 "more than %" PRIu64 " assignments of the free variables were tried; "
			 "declare fewer of them, or name their types (--var NAME:TYPE)",
			 s->q->tries_max ?: QUERY_TRIES_MAX);
	error->at = 0;
	return -E2BIG;
}

static bool query_wants(const struct query *q, uint64_t statement)
{
	return (statement & q->mask) == q->statement;
}

/* Handles all new points. If a point is picked at random, handles only number PICK of the points
 * that the mask accepts. */
static int query_walk(struct query_search *s, uint64_t pick, struct query_error *error)
{
	bool picks = s->q->seed != 0, joins = s->q->expression.joins;
	int r = 0;

	while (r == 0 && !query_search_is_over(s) &&
	       tracedb_store_next_row(s->context.store, &s->at, &s->row)) {
		bool wanted = query_wants(s->q, s->row.statement);

		s->n_wanted += wanted;
		wanted = wanted && (!picks || s->n_wanted == pick + 1);
		if (wanted || joins)
			r = query_match_point(s, wanted, error);
	}
	return r;
}

/* ---- searches ---- */

/* Returns the number of conjuncts of E from node AT on. */
static size_t query_n_conjuncts(const struct query_expression *e, uint32_t at)
{
	const struct query_node *node = &e->nodes[at];
	size_t n = 0;

	if (node->kind != QUERY_AND)
		return 1;
	for (uint32_t i = 0; i < node->n; i++)
		n += query_n_conjuncts(e, e->children[node->first + i]);
	return n;
}

/* Adds the conjuncts that refer to the points WHICH to S. */
static void query_add_conjuncts(struct query_search *s, uint32_t at, unsigned which, size_t *n)
{
	const struct query_expression *e = &s->q->expression;
	const struct query_node *node = &e->nodes[at];
	unsigned points;

	if (node->kind == QUERY_AND) {
		for (uint32_t i = 0; i < node->n; i++)
			query_add_conjuncts(s, e->children[node->first + i], which, n);
		return;
	}
	points = query_join_points(e, at);
	if ((points == 0 ? LATER : points - 1) != which)
		return;
	s->conjuncts[*n] = at;
	++*n;
	s->n_conjuncts[which]++;
	if (which == SIDES)
		query_join_find_key(&s->join, e, at);
}

static int query_split(struct query_search *s)
{
	size_t n = 0;

	s->conjuncts =
		calloc(query_n_conjuncts(&s->q->expression, s->q->hard) + 1, sizeof(*s->conjuncts));
	for (unsigned which = LATER; s->conjuncts && which <= SIDES; which++)
		query_add_conjuncts(s, s->q->hard, which, &n);
	return s->conjuncts ? 0 : -ENOMEM;
}

int query_search_new(struct query_search **ret, const struct query *q,
		     const struct tracedb_dictionary *dictionary, query_result_fn fn,
		     void *userdata, struct query_error *error)
{
	_cleanup_(query_search_freep) struct query_search *s = calloc(1, sizeof(*s));
	int r = s ? 0 : -ENOMEM;

	if (r < 0)
		return r;
	s->q = q;
	s->fn = fn;
	s->userdata = userdata;
	s->context = (struct query_context){
		.e = &q->expression,
		.dictionary = dictionary,
		.function = q->function,
		.function_userdata = q->function_userdata,
		.points = { { .row = &s->row }, { .row = &s->earlier } },
		.bound = s->bound,
	};
	r = query_split(s);
	for (unsigned side = 0; r == 0 && side < SIDES; side++) {
		r = query_side_init(&s->sides[side], &q->expression, dictionary, side == EARLIER,
				    error);
		if (q->tries_max)
			s->sides[side].tries_left = q->tries_max;
		s->sides[side].conjuncts =
			s->conjuncts + (side == EARLIER ? s->n_conjuncts[LATER] : 0);
		s->sides[side].n_conjuncts = s->n_conjuncts[side];
	}
	if (r == 0)
		*ret = TAKE_PTR(s);
	return r;
}

int query_search_run(struct query_search *s, const struct tracedb_store *store,
		     struct query_error *error)
{
	int r;

	s->context.store = store;
	r = query_walk(s, 0, error);
	return s->ended ? 0 : r;
}

static void query_drop_plans(struct query_search *s, unsigned side)
{
	for (size_t i = 0; i < s->n_plans[side]; i++)
		query_plan_deinit(&s->plans[side][i]);
	free(s->plans[side]);
	s->plans[side] = NULL;
	s->n_plans[side] = 0;
	s->sides[side].steps_left = QUERY_STEPS_MAX;
}

void query_search_cleared(struct query_search *s, bool shapes)
{
	s->at.point = s->at.word = 0;
	for (unsigned side = 0; shapes && side < SIDES; side++)
		query_drop_plans(s, side);
}

struct query_search *query_search_free(struct query_search *s)
{
	if (!s)
		return NULL;
	for (unsigned side = 0; side < SIDES; side++) {
		query_drop_plans(s, side);
		query_side_deinit(&s->sides[side]);
		tracedb_cursor_deinit(&s->points[side]);
	}
	free(s->conjuncts);
	free(s->kept);
	query_join_deinit(&s->join);
	table_deinit(&s->seen);
	free(s);
	return NULL;
}

/* ---- a random point ---- */

enum { MT_WORDS = 624, MT_SHIFT = 397 };

/* Returns the first output of the Mersenne Twister (MT19937) that is seeded with SEED. */
static uint32_t query_twist(uint32_t seed)
{
	uint32_t state[MT_WORDS], y;

	state[0] = seed;
	for (uint32_t i = 1; i < MT_WORDS; i++)
		state[i] = 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + i;
	y = (state[0] & 0x80000000u) | (state[1] & 0x7fffffffu);
	y = state[MT_SHIFT] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
	y ^= y >> 11;
	y ^= y << 7 & 0x9d2c5680u;
	y ^= y << 15 & 0xefc60000u;
	return y ^ y >> 18;
}

/* Returns the number of the point that is picked among those that the mask accepts. */
static uint64_t query_pick(const struct query *q, const struct tracedb_store *store)
{
	struct tracedb_cursor at = { 0 };
	struct tracedb_row row;
	uint64_t n = 0;

	while (tracedb_store_next_row(store, &at, &row))
		n += query_wants(q, row.statement);
	return (uint64_t)query_twist(q->seed) * n >> 32;
}

int query_run(const struct query *q, const struct tracedb_store *store,
	      const struct tracedb_dictionary *dictionary, query_result_fn fn, void *userdata,
	      struct query_error *error)
{
	_cleanup_(query_search_freep) struct query_search *s = NULL;
	int r = query_search_new(&s, q, dictionary, fn, userdata, error);

	if (r < 0)
		return r;
	s->context.store = store;
	r = query_walk(s, q->seed ? query_pick(q, store) : 0, error);
	return s->ended ? 0 : r;
}
