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

/*
 * Conjuncts by the points that they refer to: point 0, point 1 and so on alone; then those about
 * several points, the earliest of which is point 0 (there are none), point 1 and so on. The
 * operands of `none` are those of point QUERY_BETWEEN.
 */
enum { ALONE, TOGETHER = QUERY_SIDES, GROUPS = 2 * QUERY_SIDES };

/*
 * An assignment that is a result unless another assignment of the point fulfils more soft
 * predicates.
 */
struct query_kept {
	uint32_t bound[QUERY_VARIABLES_MAX];
	struct tracedb_row rows[QUERY_POINTS_MAX];
};

struct query_search {
	const struct query *q;
	struct query_context context;
	uint32_t *conjuncts; /* conjuncts of the groups, consecutive; owned */
	size_t first_conjunct[GROUPS], n_conjuncts[GROUPS];
	struct query_side sides[QUERY_SIDES];
	struct query_plan *plans[QUERY_SIDES]; /* plans of each side, by shape; owned */
	size_t n_plans[QUERY_SIDES];
	struct query_join joins[QUERY_SIDES]; /* the candidates for each earlier point */
	uint64_t n_earlier, n_pairs;

	struct tracedb_cursor at;                        /* position of the next row */
	struct tracedb_cursor cursors[QUERY_POINTS_MAX]; /* to read the points of results */
	struct tracedb_row rows[QUERY_SIDES];            /* the current points */
	uint32_t before[QUERY_SIDES];                    /* of each earlier one, see query_join */
	bool decided;            /* the earlier points are chosen, or there are none */
	unsigned between_points; /* the points that `none` refers to, see query_join_points() */
	struct tracedb_stored_point of; /* the point of rows[0], valid if has_of */
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
			     const struct tracedb_row *rows, uint64_t *key)
{
	const struct query_expression *e = &s->q->expression;

	for (size_t i = 0; i < e->n_variables; i++) {
		const struct tracedb_row *row = &rows[e->variables[i].point];
		const struct tracedb_slot *slot;

		/* (its point is not part of the result) */
		if (e->variables[i].point == QUERY_BETWEEN)
			continue;
		slot = &tracedb_store_shape(s->context.store, row->shape)->slots[bound[i]];
		key[i] = (uint64_t)slot->name << 32 | slot->type;
	}
}

/*
 * Finds out whether the result is new. Results with equal statements, names and types count once.
 * Returns 1 if it is.
 */
static int query_is_new(struct query_search *s, const uint32_t *bound,
			const struct tracedb_row *rows)
{
	uint64_t key[QUERY_POINTS_MAX + QUERY_VARIABLES_MAX] = { 0 }, hash;
	size_t n = QUERY_POINTS_MAX + s->q->expression.n_variables;

	if (s->q->keep_duplicates)
		return 1;
	for (unsigned i = 0; i <= s->q->expression.n_earlier; i++)
		key[i] = rows[i].statement;
	query_hash_bound(s, bound, rows, key + QUERY_POINTS_MAX);
	hash = table_hash(key, n * sizeof(key[0])) | 1;
	if (table_get(&s->seen, hash))
		return 0;
	return table_set(&s->seen, hash, s) < 0 ? -ENOMEM : 1;
}

/* Passes a result to FN. Returns the result of FN. */
static int query_report(struct query_search *s, const uint32_t *bound,
			const struct tracedb_row *rows)
{
	struct query_result_earlier earlier[QUERY_POINTS_MAX];
	unsigned n = s->q->expression.n_earlier;
	int r = query_is_new(s, bound, rows);

	if (r <= 0)
		return r;
	r = s->has_of ? 0 : tracedb_store_point(s->context.store, &s->cursors[0], &rows[0], &s->of);
	s->has_of = r == 0;
	for (unsigned i = 1; r == 0 && i <= n; i++) {
		earlier[i - 1].number = rows[i].point;
		r = tracedb_store_point(s->context.store, &s->cursors[i], &rows[i],
					&earlier[i - 1].of);
	}
	if (r < 0)
		return r;
	s->n_results++;
	return s->fn(s->userdata,
		     &(struct query_result){ rows[0].point, &s->of, bound, earlier, n });
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
		r = query_report(s, s->bound, s->rows);
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
	memcpy(s->kept[s->n_kept].rows, s->rows, sizeof(s->kept->rows));
	s->n_kept++;
	return 0;
}

static int query_report_kept(struct query_search *s)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->n_kept && !query_search_is_over(s); i++)
		r = query_report(s, s->kept[i].bound, s->kept[i].rows);
	s->n_kept = s->most = 0;
	return r;
}

/* ---- joined points ---- */

/* Returns true if the conditions about POINT and later points are true. */
static bool query_is_joined(const struct query_search *s, unsigned point)
{
	const uint32_t *conjuncts = s->conjuncts + s->first_conjunct[TOGETHER + point];

	for (size_t i = 0; i < s->n_conjuncts[TOGETHER + point]; i++)
		if (!query_is_true(&s->context, conjuncts[i]))
			return false;
	return true;
}

/* Makes entry I of its join the earlier point POINT. */
static void query_set_earlier(struct query_search *s, unsigned point, size_t i)
{
	const struct query_side *side = &s->sides[point];
	const struct query_join *j = &s->joins[point];
	const uint32_t *bound = j->bound + i * side->n_variables;
	struct tracedb_cursor at = { .point = j->list[i].point, .word = j->list[i].word };

	tracedb_store_next_row(s->context.store, &at, &s->rows[point]);
	s->context.points[point].shape =
		tracedb_store_shape(s->context.store, s->rows[point].shape);
	s->before[point] = j->list[i].before;
	for (size_t k = 0; k < side->n_variables; k++)
		s->bound[side->variables[k]] = bound[k];
}

/* Returns true if the candidates for POINT can be determined when the next point is known. */
static bool query_is_known_before(const struct query_search *s, unsigned point)
{
	return point <= s->q->expression.n_earlier &&
	       (s->joins[point].follows || !s->joins[point].keyed);
}

/* Returns the newest candidate for POINT, by number + 1; 0 = none. */
static size_t query_newest(const struct query_search *s, unsigned point)
{
	return point > 1 && query_is_known_before(s, point)
		       ? s->before[point - 1]
		       : query_join_newest(&s->joins[point], &s->context);
}

/* Returns the first earlier point with which the operands of `none` can be evaluated; 0 = none. */
static unsigned query_between_at(const struct query_search *s)
{
	unsigned point = QUERY_POINTS_MAX - 1;

	while (point > 1 && !(s->between_points & 1u << point))
		point--;
	return s->q->expression.has_none ? point : 0;
}

/*
 * Searches a point between the point of e/ and the point that fulfils the operands of `none`.
 * Returns 1 if there is one, 0 if not, or -ENOBUFS.
 */
static int query_find_between(struct query_search *s)
{
	const struct query_earlier *list = s->joins[QUERY_BETWEEN].list;

	for (size_t i = query_newest(s, QUERY_BETWEEN);
	     i > 0 && list[i - 1].point > s->rows[1].point; i = list[i - 1].previous) {
		if (s->n_pairs++ == (s->q->pairs_max ?: QUERY_PAIRS_MAX))
			return -ENOBUFS;
		query_set_earlier(s, QUERY_BETWEEN, i - 1);
		if (query_is_joined(s, QUERY_BETWEEN))
			return 1;
	}
	return 0;
}

static int query_choose_earlier(struct query_search *s, unsigned point);

/* Chooses the points before POINT, which is chosen, if the conditions so far are true. */
static int query_choose_next(struct query_search *s, unsigned point)
{
	int r;

	if (!query_is_joined(s, point))
		return 0;
	r = point == query_between_at(s) ? query_find_between(s) : 0;
	/* (if it depends on the point alone, it is also after all other points of e/) */
	if (r > 0)
		s->decided = (s->between_points & ~(1u << QUERY_BETWEEN)) <= 1;
	return r > 0 ? 0 : r < 0 ? r : query_choose_earlier(s, point + 1);
}

/*
 * Chooses the earlier points from POINT on: each is the last one before the next for which the
 * predicates are true. Then `decided` is true, and the result is kept.
 */
static int query_choose_earlier(struct query_search *s, unsigned point)
{
	const struct query_earlier *list;
	int r = 0;

	if (point > s->q->expression.n_earlier) {
		s->decided = true;
		return query_keep(s);
	}
	list = s->joins[point].list;
	for (size_t i = query_newest(s, point); r == 0 && i > 0 && !s->decided;
	     i = list[i - 1].previous) {
		if (s->n_pairs++ == (s->q->pairs_max ?: QUERY_PAIRS_MAX))
			return -ENOBUFS;
		/* (not before the next point) */
		if (list[i - 1].point >= s->rows[point - 1].point)
			continue;
		query_set_earlier(s, point, i - 1);
		r = query_choose_next(s, point);
	}
	return r;
}

static void query_count(const struct query_search *s, unsigned point)
{
	if (s->q->n_candidates)
		s->q->n_candidates[point]++;
}

/* Handles an assignment of the point. */
static int query_on_later(void *search)
{
	struct query_search *s = search;

	query_count(s, 0);
	s->decided = false;
	return query_choose_earlier(s, 1);
}

/* Adds an assignment of the current row as a candidate for POINT. */
static int query_add_earlier(struct query_search *s, unsigned point)
{
	const struct query_side *side = &s->sides[point];
	struct query_earlier to_add = { .point = s->rows[0].point, .word = s->rows[0].word };
	uint32_t bound[QUERY_VARIABLES_MAX];
	int r;

	query_count(s, point);
	if (query_is_known_before(s, point + 1)) {
		to_add.before = (uint32_t)query_join_newest(&s->joins[point + 1], &s->context);
		/* (a point without a point before it is in no result) */
		if (to_add.before == 0)
			return 0;
	}
	if (s->n_earlier == (s->q->earlier_max ?: QUERY_EARLIER_MAX))
		return -ENOSPC;
	for (size_t k = 0; k < side->n_variables; k++)
		bound[k] = s->bound[side->variables[k]];
	r = query_join_add(&s->joins[point], &s->context, &to_add, bound, side->n_variables);
	s->n_earlier += r > 0;
	return r < 0 ? r : 0;
}

/* An assignment of the current row as the point of a side. */
struct query_candidate {
	struct query_search *search;
	unsigned point;
};

static int query_on_earlier(void *candidate)
{
	const struct query_candidate *c = candidate;

	return query_add_earlier(c->search, c->point);
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

/* Handles the current row as POINT. Returns 1 if no more results are wanted. */
static int query_match_side(struct query_search *s, unsigned point, struct query_error *error)
{
	struct query_candidate candidate = { s, point };
	int r;
	const struct query_plan *plan = query_plan_of(s, point, s->rows[0].shape, error, &r);

	if (!plan)
		return r;
	s->context.points[point].row = &s->rows[0];
	s->context.points[point].shape = tracedb_store_shape(s->context.store, s->rows[0].shape);
	r = point == 0
		    ? query_plan_run(plan, &s->sides[0], &s->context, s->bound, query_on_later, s)
		    : query_plan_run(plan, &s->sides[point], &s->context, s->bound,
				     query_on_earlier, &candidate);
	s->context.points[point].row = &s->rows[point];
	return r;
}

/* Returns the number of the first earlier point that is not found by a value; 0 = all are. */
static unsigned query_unkeyed(const struct query_search *s)
{
	for (unsigned i = 1; i <= s->q->expression.n_earlier; i++)
		if (!s->joins[i].keyed)
			return i;
	return s->q->expression.has_none && !s->joins[QUERY_BETWEEN].keyed ? QUERY_BETWEEN : 0;
}

/* Explains REASON, a limit that the query has reached. Returns -E2BIG. */
static int query_explain(const struct query_search *s, int reason, struct query_error *error)
{
	unsigned unkeyed = query_unkeyed(s);
	char *to = error->why;

	error->at = 0;
	if (reason == -ERANGE)
		snprintf(to, sizeof(error->why),
			 "more than %" PRIu64 " assignments of the free variables were tried; "
			 "declare fewer of them, or name their types (--var NAME:TYPE)",
			 s->q->tries_max ?: QUERY_TRIES_MAX);
	else if (reason == -ENOSPC)
		snprintf(to, sizeof(error->why),
			 "more than %" PRIu64 " points can be earlier points; add conditions about "
			 "the earlier points alone, as (is (e/function) \"free\")",
			 s->q->earlier_max ?: QUERY_EARLIER_MAX);
	else
		snprintf(to, sizeof(error->why),
			 "more than %" PRIu64 " earlier points were tried; %s%s%s",
			 s->q->pairs_max ?: QUERY_PAIRS_MAX,
			 unkeyed ? "compare a value of " : "add conditions about one of the points",
			 unkeyed ? query_point_prefixes[unkeyed] : "",
			 unkeyed ? " with one of a later point by '=', or a text by 'is'" : "");
	return -E2BIG;
}

static int query_match_point(struct query_search *s, bool wanted, struct query_error *error)
{
	int r;

	s->has_of = false;
	r = wanted ? query_match_side(s, 0, error) : 0;
	if (s->n_kept > 0 && r >= 0)
		r = query_report_kept(s);
	/* (first as the latest of the earlier points, so that no point is before itself) */
	for (unsigned point = 1; r == 0 && point <= s->q->expression.n_earlier; point++)
		r = query_match_side(s, point, error);
	if (r == 0 && s->q->expression.has_none)
		r = query_match_side(s, QUERY_BETWEEN, error);
	return r == -ENOBUFS || r == -ENOSPC || r == -ERANGE ? query_explain(s, r, error) : r;
}

static bool query_wants(const struct query *q, uint64_t statement)
{
	return (statement & q->mask) == q->statement;
}

/* Handles all new points. If a point is picked at random, handles only number PICK of the points
 * that the mask accepts. */
static int query_walk(struct query_search *s, uint64_t pick, struct query_error *error)
{
	bool picks = s->q->seed != 0, joins = s->q->expression.n_earlier > 0;
	int r = 0;

	while (r == 0 && !query_search_is_over(s) &&
	       tracedb_store_next_row(s->context.store, &s->at, &s->rows[0])) {
		bool wanted = query_wants(s->q, s->rows[0].statement);

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

	if (node->kind != QUERY_AND && node->kind != QUERY_NONE)
		return 1;
	for (uint32_t i = 0; i < node->n; i++)
		n += query_n_conjuncts(e, e->children[node->first + i]);
	return n;
}

/* Returns the group of conjunct AT. IN_NONE: it is an operand of `none`. */
static unsigned query_group(const struct query_expression *e, uint32_t at, bool in_none)
{
	unsigned points = query_join_points(e, at), earliest = 0;

	if (in_none)
		return (points == 1u << QUERY_BETWEEN ? ALONE : TOGETHER) + QUERY_BETWEEN;
	while (points >> earliest > 1)
		earliest++;
	return points <= 1 || points == 1u << earliest ? ALONE + earliest : TOGETHER + earliest;
}

/* Adds the conjuncts of GROUP to S. */
static void query_add_conjuncts(struct query_search *s, uint32_t at, unsigned group, bool in_none,
				size_t *n)
{
	const struct query_expression *e = &s->q->expression;
	const struct query_node *node = &e->nodes[at];

	if (node->kind == QUERY_AND || node->kind == QUERY_NONE) {
		for (uint32_t i = 0; i < node->n; i++)
			query_add_conjuncts(s, e->children[node->first + i], group,
					    in_none || node->kind == QUERY_NONE, n);
		return;
	}
	if (query_group(e, at, in_none) != group)
		return;
	if (in_none)
		s->between_points |= query_join_points(e, at);
	s->conjuncts[*n] = at;
	++*n;
	s->n_conjuncts[group]++;
	if (group >= TOGETHER)
		query_join_find_key(&s->joins[group - TOGETHER], e, at, group - TOGETHER);
}

static int query_split(struct query_search *s)
{
	size_t n = 0;

	s->conjuncts =
		calloc(query_n_conjuncts(&s->q->expression, s->q->hard) + 1, sizeof(*s->conjuncts));
	for (unsigned group = 0; s->conjuncts && group < GROUPS; group++) {
		s->first_conjunct[group] = n;
		query_add_conjuncts(s, s->q->hard, group, false, &n);
	}
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
		.bound = s->bound,
	};
	r = query_split(s);
	for (unsigned i = 0; r == 0 && i < QUERY_SIDES; i++) {
		r = query_side_init(&s->sides[i], &q->expression, dictionary, i, error);
		if (q->tries_max)
			s->sides[i].tries_left = q->tries_max;
		s->sides[i].conjuncts = s->conjuncts + s->first_conjunct[ALONE + i];
		s->sides[i].n_conjuncts = s->n_conjuncts[ALONE + i];
		s->context.points[i].row = &s->rows[i];
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
	for (unsigned side = 0; shapes && side < QUERY_SIDES; side++)
		query_drop_plans(s, side);
}

struct query_search *query_search_free(struct query_search *s)
{
	if (!s)
		return NULL;
	for (unsigned side = 0; side < QUERY_SIDES; side++) {
		query_drop_plans(s, side);
		query_side_deinit(&s->sides[side]);
		query_join_deinit(&s->joins[side]);
	}
	for (unsigned i = 0; i < QUERY_POINTS_MAX; i++)
		tracedb_cursor_deinit(&s->cursors[i]);
	free(s->conjuncts);
	free(s->kept);
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
