/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/query/query-plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/value.h"

/* The maximum number of assignments in a prepared plan. */
enum { ASSIGNMENTS_PREPARED = 4096 };

/* The source of a number in a comparison. */
enum query_source {
	FROM_NUMBER,    /* a constant */
	FROM_SIGNED,    /* a signed word */
	FROM_UNSIGNED,  /* an unsigned word */
	FROM_SIZE,      /* a word with a size; TRACEDB_NO_SIZE = no size */
	FROM_HIGH,      /* the upper half of a word */
	FROM_LOW,       /* the lower half of a word */
	FROM_STATEMENT, /* the point's statement */
	FROM_FLOAT,     /* a word with a float */
	FROM_ELSEWHERE, /* a computed number */
};

struct query_operand {
	enum query_source from;
	uint32_t word;
	int64_t number;
};

/* Ends of the evaluation: the condition is true, or it is false. */
#define STEP_TRUE  UINT32_MAX
#define STEP_FALSE (UINT32_MAX - 1)

struct query_step {
	enum query_kind kind; /* kind of the comparison; QUERY_TRUE = NODE is evaluated */
	uint32_t node;
	uint32_t yes, no;
	struct query_operand a, b;
};

/* ---- sides ---- */

static int query_allow_type(bool *types, const struct tracedb_dictionary *dictionary,
			    const char *type, struct query_error *error)
{
	struct value_nearest near = { .text = type, .distance = VALUE_NEAR };
	bool any = false;

	for (size_t i = 0; i < dictionary->n_types; i++) {
		const char *name = dictionary->names[dictionary->types[i].name];

		value_nearest_try(&near, name);
		if (strcmp(name, type) == 0)
			any = types[i] = true;
	}
	if (any)
		return 0;
	error->at = 0;
	snprintf(error->why, sizeof(error->why), "the trace has no type '%.40s'%s%.40s%s", type,
		 near.nearest ? "; did you mean '" : "", near.nearest ?: "",
		 near.nearest ? "'?" : "");
	return -EINVAL;
}

/* The types that a free variable can have, by number; NULL = all. */
static int query_allow_types(bool **ret, const struct query_variable *v,
			     const struct tracedb_dictionary *dictionary, struct query_error *error)
{
	_cleanup_free_ char *copy = strdup(v->types);
	char *rest = copy, *type;
	int r = 0;

	if (!copy)
		return -ENOMEM;
	if (!v->free || !*copy)
		return 0;
	*ret = calloc(dictionary->n_types + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	while (r == 0 && (type = strsep(&rest, ",")))
		r = query_allow_type(*ret, dictionary, type, error);
	return r;
}

int query_side_init(struct query_side *side, const struct query_expression *e,
		    const struct tracedb_dictionary *dictionary, unsigned point,
		    struct query_error *error)
{
	*side = (struct query_side){
		.e = e,
		.dictionary = dictionary,
		.point = point,
		.steps_left = QUERY_STEPS_MAX,
		.tries_left = QUERY_TRIES_MAX,
	};
	for (uint32_t i = 0; i < e->n_variables; i++) {
		int r;

		if (e->variables[i].point != point)
			continue;
		side->variables[side->n_variables] = i;
		r = query_allow_types(&side->types[side->n_variables++], &e->variables[i],
				      dictionary, error);
		if (r < 0)
			return r;
	}
	return 0;
}

void query_side_deinit(struct query_side *side)
{
	for (size_t i = 0; i < side->n_variables; i++)
		free(side->types[i]);
}

/* ---- conditions that a shape excludes ---- */

/*
 * Returns true if variable I of SIDE can be a variable of this name. Two equal names can have two
 * numbers; both match.
 */
static bool query_side_allows(const struct query_side *side, size_t i,
			      const struct tracedb_slot *slot)
{
	const struct query_variable *v = &side->e->variables[side->variables[i]];

	if (v->free)
		return !side->types[i] || side->types[i][slot->type];
	return strcmp(side->dictionary->names[slot->name], v->name) == 0;
}

static int query_plan_add_members(struct query_plan *p, const struct query_side *side, size_t i,
				  const struct tracedb_shape *shape)
{
	p->members[i] = calloc((size_t)shape->n_variables + 1, sizeof(*p->members[i]));
	if (!p->members[i])
		return -ENOMEM;
	for (uint32_t j = 0; j < shape->n_variables; j++)
		if (query_side_allows(side, i, &shape->slots[j]))
			p->members[i][p->n_members[i]++] = j;
	p->never |= p->n_members[i] == 0;
	return 0;
}

/* Returns true if node AT has no number, for any point of the shape. */
static bool query_has_none(const struct query_context *c, uint32_t at)
{
	const struct query_node *node = &c->e->nodes[at];
	const uint32_t *children = query_children(c->e, node);

	switch (node->kind) {
	case QUERY_VALUE:
		return query_slot(c, node->variable)->format == TRACEDB_BLOB;
	case QUERY_SIZE:
		return query_slot(c, node->variable)->format != TRACEDB_POINTER;
	case QUERY_TIME:
		return c->points[node->point].shape->n_auxiliary <= QUERY_AUXILIARY_TIME;
	case QUERY_PROCESS:
	case QUERY_THREAD:
		return c->points[node->point].shape->n_auxiliary <= QUERY_AUXILIARY_THREAD;
	case QUERY_ADD:
	case QUERY_SUBTRACT:
	case QUERY_MULTIPLY:
	case QUERY_DIVIDE:
		for (uint32_t i = 0; i < node->n; i++)
			if (query_has_none(c, children[i]))
				return true;
		return false;
	default:
		return false;
	}
}

static struct query_operand query_operand_of_auxiliary(const struct query_point *p,
						       enum query_source from, uint32_t i)
{
	return (struct query_operand){ from, p->shape->n_words - p->shape->n_auxiliary + i, 0 };
}

static struct query_operand query_operand_of_value(const struct tracedb_slot *slot)
{
	static const enum query_source sources[] = {
		[TRACEDB_UNSIGNED] = FROM_UNSIGNED, [TRACEDB_SIGNED] = FROM_SIGNED,
		[TRACEDB_FLOAT] = FROM_FLOAT,       [TRACEDB_POINTER] = FROM_UNSIGNED,
		[TRACEDB_BLOB] = FROM_ELSEWHERE,
	};

	return (struct query_operand){ sources[slot->format], slot->word, 0 };
}

/* Returns the location of the number at node AT. */
static struct query_operand query_operand(const struct query_context *c, uint32_t at)
{
	const struct query_node *node = &c->e->nodes[at];
	const struct query_point *p = &c->points[node->point];

	switch (node->kind) {
	case QUERY_NUMBER:
		if (!node->is_small || node->small_denominator != 1)
			return (struct query_operand){ FROM_ELSEWHERE, 0, 0 };
		return (struct query_operand){ FROM_NUMBER, 0, node->small };
	case QUERY_VALUE:
		return query_operand_of_value(query_slot(c, node->variable));
	case QUERY_SIZE:
		return (struct query_operand){ FROM_SIZE, query_slot(c, node->variable)->word + 1,
					       0 };
	case QUERY_STATEMENT:
		return (struct query_operand){ FROM_STATEMENT, 0, 0 };
	case QUERY_TIME:
		return query_operand_of_auxiliary(p, FROM_UNSIGNED, QUERY_AUXILIARY_TIME);
	case QUERY_PROCESS:
		return query_operand_of_auxiliary(p, FROM_HIGH, QUERY_AUXILIARY_THREAD);
	case QUERY_THREAD:
		return query_operand_of_auxiliary(p, FROM_LOW, QUERY_AUXILIARY_THREAD);
	default:
		return (struct query_operand){ FROM_ELSEWHERE, 0, 0 };
	}
}

/* ---- steps, from last to first, since each contains its successors ---- */

struct query_compiler {
	struct query_plan *plan;
	struct query_side *side;
	const struct query_context *c;
	int error;
};

static uint32_t query_add_step(struct query_compiler *k, const struct query_step *step)
{
	struct query_plan *p = k->plan;

	if (k->error == 0 && k->side->steps_left == 0)
		k->error = -ENOBUFS;
	if (k->error == 0)
		k->error = GROW(p->steps, p->steps_room, p->n_steps + 1);
	if (k->error < 0)
		return STEP_FALSE;
	k->side->steps_left--;
	p->steps[p->n_steps] = *step;
	return (uint32_t)p->n_steps++;
}

static uint32_t query_compile_comparison(struct query_compiler *k, uint32_t at, uint32_t yes,
					 uint32_t no)
{
	const struct query_node *node = &k->c->e->nodes[at];
	const uint32_t *children = query_children(k->c->e, node);
	struct query_step step = { .kind = node->kind, .node = at, .yes = yes, .no = no };

	if (query_has_none(k->c, children[0]) || query_has_none(k->c, children[1]))
		return no;
	step.a = query_operand(k->c, children[0]);
	step.b = query_operand(k->c, children[1]);
	if (step.a.from == FROM_ELSEWHERE || step.b.from == FROM_ELSEWHERE)
		step.kind = QUERY_TRUE;
	return query_add_step(k, &step);
}

/* Returns true if the text at node AT is equal for all points of a shape. */
static bool query_is_fixed(const struct query_context *c, uint32_t at)
{
	const struct query_node *node = &c->e->nodes[at];

	return node->kind == QUERY_TEXT || node->kind == QUERY_NAME || node->kind == QUERY_TYPE ||
	       (node->kind == QUERY_CONTENT &&
		query_slot(c, node->variable)->format != TRACEDB_BLOB);
}

static uint32_t query_compile_texts(struct query_compiler *k, uint32_t at, uint32_t yes,
				    uint32_t no)
{
	const uint32_t *children = query_children(k->c->e, &k->c->e->nodes[at]);

	if (query_is_fixed(k->c, children[0]) && query_is_fixed(k->c, children[1]))
		return query_is_true(k->c, at) ? yes : no;
	return query_add_step(
		k, &(struct query_step){ .kind = QUERY_TRUE, .node = at, .yes = yes, .no = no });
}

/*
 * Compiles node AT. If the node is true, the evaluation continues at step YES, otherwise at step
 * NO. Returns its first step, or YES or NO if the result is known already.
 */
static uint32_t query_compile(struct query_compiler *k, uint32_t at, uint32_t yes, uint32_t no)
{
	const struct query_node *node = &k->c->e->nodes[at];
	const uint32_t *children = query_children(k->c->e, node);
	uint32_t next = node->kind == QUERY_OR ? no : yes;

	switch (node->kind) {
	case QUERY_TRUE:
		return yes;
	case QUERY_NOT:
		return query_compile(k, children[0], no, yes);
	case QUERY_AND:
		for (uint32_t i = node->n; i > 0; i--)
			next = query_compile(k, children[i - 1], next, no);
		return next;
	case QUERY_OR:
		for (uint32_t i = node->n; i > 0; i--)
			next = query_compile(k, children[i - 1], yes, next);
		return next;
	case QUERY_DISTINCT:
		return query_is_true(k->c, at) ? yes : no;
	case QUERY_IS:
	case QUERY_MATCHES:
	case QUERY_CONTAINS:
		return query_compile_texts(k, at, yes, no);
	default:
		return query_compile_comparison(k, at, yes, no);
	}
}

/* ---- plans ---- */

/* Adds the assignment of K, unless the shape excludes it. */
static int query_plan_add(struct query_compiler *k, const uint32_t *bound)
{
	struct query_plan *p = k->plan;
	size_t width = k->side->n_variables + 1, n_steps = p->n_steps;
	uint32_t next = STEP_TRUE, *to;

	for (size_t i = k->side->n_conjuncts; i > 0; i--)
		next = query_compile(k, k->side->conjuncts[i - 1], next, STEP_FALSE);
	if (k->error < 0 || next == STEP_FALSE) {
		k->side->steps_left += p->n_steps - n_steps;
		p->n_steps = n_steps;
		return k->error;
	}
	if (GROW(p->assignments, p->assignments_room, (p->n_assignments + 1) * width) < 0)
		return -ENOMEM;
	to = p->assignments + p->n_assignments++ * width;
	*to++ = next;
	for (size_t i = 0; i < k->side->n_variables; i++)
		*to++ = bound[k->side->variables[i]];
	return 0;
}

/* Adds all assignments of variable I and of the variables after it. */
static int query_plan_add_all(struct query_compiler *k, uint32_t *bound, size_t i)
{
	int r = 0;

	if (i == k->side->n_variables)
		return query_plan_add(k, bound);
	for (uint32_t j = 0; r == 0 && j < k->plan->n_members[i]; j++) {
		bound[k->side->variables[i]] = k->plan->members[i][j];
		r = query_plan_add_all(k, bound, i + 1);
	}
	return r;
}

static int query_plan_prepare(struct query_plan *p, struct query_side *side,
			      const struct tracedb_shape *shape)
{
	uint32_t bound[QUERY_VARIABLES_MAX] = { 0 };
	struct query_context c = { .e = side->e, .dictionary = side->dictionary, .bound = bound };
	struct query_compiler k = { .plan = p, .side = side, .c = &c };
	int r;

	c.points[side->point].shape = shape;
	r = query_plan_add_all(&k, bound, 0);
	if (r == -ENOBUFS) {
		side->steps_left += p->n_steps;
		p->n_steps = p->n_assignments = 0;
		p->unprepared = true;
		return 0;
	}
	p->never |= p->n_assignments == 0;
	return r;
}

int query_plan_make(struct query_plan *p, struct query_side *side,
		    const struct tracedb_shape *shape, struct query_error *error)
{
	uint64_t n = 1;
	int r = 0;

	p->made = true;
	for (size_t i = 0; r == 0 && i < side->n_variables; i++)
		r = query_plan_add_members(p, side, i, shape);
	for (size_t i = 0; r == 0 && !p->never && i < side->n_variables; i++) {
		if (p->n_members[i] > QUERY_ASSIGNMENTS_MAX / n) {
			error->at = 0;
			snprintf(error->why, sizeof(error->why),
				 "a point has more than %d assignments of the free variables; "
				 "declare fewer of them, or name their types (--var NAME:TYPE)",
				 QUERY_ASSIGNMENTS_MAX);
			return -E2BIG;
		}
		n *= p->n_members[i];
	}
	if (r < 0 || p->never)
		return r;
	p->unprepared = n > ASSIGNMENTS_PREPARED;
	return p->unprepared ? 0 : query_plan_prepare(p, side, shape);
}

void query_plan_deinit(struct query_plan *p)
{
	for (size_t i = 0; i < QUERY_VARIABLES_MAX; i++)
		free(p->members[i]);
	free(p->assignments);
	free(p->steps);
}

/* ---- points ---- */

/* Loads an operand from a point. Returns false if it has no number. */
static inline bool query_load(const struct query_operand *o, const struct tracedb_row *row,
			      __int128 *ret)
{
	switch (o->from) {
	case FROM_NUMBER:
		*ret = o->number;
		return true;
	case FROM_SIGNED:
		*ret = (int64_t)row->words[o->word];
		return true;
	case FROM_SIZE:
		*ret = row->words[o->word];
		return row->words[o->word] != TRACEDB_NO_SIZE;
	case FROM_HIGH:
		*ret = row->words[o->word] >> 32;
		return true;
	case FROM_LOW:
		*ret = (uint32_t)row->words[o->word];
		return true;
	case FROM_STATEMENT:
		*ret = row->statement;
		return true;
	default:
		*ret = row->words[o->word];
		return true;
	}
}

static double query_load_float(const struct query_operand *o, const struct tracedb_row *row)
{
	double f;

	memcpy(&f, row->words + o->word, sizeof(f));
	return f;
}

/* Compares F and N exactly. F is finite, and N has at most 65 bits. */
static int query_compare_float(double f, __int128 n)
{
	__int128 whole;

	if (f >= 0x1p65 || f <= -0x1p65)
		return f > 0 ? 1 : -1;
	whole = (__int128)f;
	return COMPARE(whole, n) ?: COMPARE(f, (double)whole);
}

/* Compares two numbers, at least one of which is a float. */
static bool query_compare_floats(const struct query_step *s, const struct tracedb_row *row)
{
	double f = 0, g = 0;
	__int128 n = 0;

	if (s->a.from == FROM_FLOAT)
		f = query_load_float(&s->a, row);
	else if (!query_load(&s->a, row, &n))
		return false;
	if (s->b.from == FROM_FLOAT)
		g = query_load_float(&s->b, row);
	else if (!query_load(&s->b, row, &n))
		return false;
	if (!isfinite(f) || !isfinite(g))
		return false;
	return query_compare(s->kind, s->b.from != FROM_FLOAT   ? query_compare_float(f, n)
				      : s->a.from != FROM_FLOAT ? -query_compare_float(g, n)
								: COMPARE(f, g));
}

static bool query_step_is_true(const struct query_step *s, const struct query_context *c,
			       const struct tracedb_row *row)
{
	__int128 a, b;

	if (s->kind == QUERY_TRUE)
		return query_is_true(c, s->node);
	if (s->a.from == FROM_FLOAT || s->b.from == FROM_FLOAT)
		return query_compare_floats(s, row);
	return query_load(&s->a, row, &a) && query_load(&s->b, row, &b) &&
	       query_compare(s->kind, COMPARE(a, b));
}

static int query_plan_run_prepared(const struct query_plan *p, const struct query_side *side,
				   const struct query_context *c, uint32_t *bound, query_plan_fn fn,
				   void *userdata)
{
	const struct tracedb_row *row = c->points[side->point].row;
	const uint32_t *at = p->assignments;
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->n_assignments; i++, at += side->n_variables + 1) {
		uint32_t next = at[0];

		for (size_t j = 0; j < side->n_variables; j++)
			bound[side->variables[j]] = at[j + 1];
		while (next < STEP_FALSE) {
			const struct query_step *s = &p->steps[next];

			next = query_step_is_true(s, c, row) ? s->yes : s->no;
		}
		if (next == STEP_TRUE)
			r = fn(userdata);
	}
	return r;
}

/* Tries all assignments of variable I and of the variables after it. */
static int query_plan_try(const struct query_plan *p, struct query_side *side,
			  const struct query_context *c, uint32_t *bound, query_plan_fn fn,
			  void *userdata, size_t i)
{
	int r = 0;

	if (i < side->n_variables) {
		for (uint32_t j = 0; r == 0 && j < p->n_members[i]; j++) {
			bound[side->variables[i]] = p->members[i][j];
			r = query_plan_try(p, side, c, bound, fn, userdata, i + 1);
		}
		return r;
	}
	if (side->tries_left == 0)
		return -ERANGE;
	side->tries_left--;
	for (size_t k = 0; k < side->n_conjuncts; k++)
		if (!query_is_true(c, side->conjuncts[k]))
			return 0;
	return fn(userdata);
}

int query_plan_run(const struct query_plan *p, struct query_side *side,
		   const struct query_context *c, uint32_t *bound, query_plan_fn fn, void *userdata)
{
	return p->never        ? 0
	       : p->unprepared ? query_plan_try(p, side, c, bound, fn, userdata, 0)
			       : query_plan_run_prepared(p, side, c, bound, fn, userdata);
}
