/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Predicates over the variables of a trace point, in Lisp's notation:
 *
 * 	TRUTH  = (and TRUTH ...) | (or TRUTH ...) | (not TRUTH)
 * 	       | (> NUMBER NUMBER), and so for >=, <, <=, =
 * 	       | (distinct-vars NAME NAME ...)
 * 	NUMBER = 17 | -17 | 0x11 | 1.5 | (v/value NAME) | (v/size NAME)
 * 	       | (+ NUMBER ...), and so for -, *, /
 *
 * NAME is a free variable, if it is declared, or else stands for the variable of that name in the
 * point. An empty expression is true.
 *
 * These are extensions:
 *
 * 	TRUTH  = (is TEXT TEXT) | (matches TEXT TEXT) | (contains TEXT TEXT)
 * 	TEXT   = "text" | (v/name NAME) | (v/type NAME) | (v/text NAME) | (p/function)
 * 	NUMBER = (p/statement) | (p/time) | (p/process) | (p/thread)
 *
 * Earlier points are an extension, too: e/value, e/size, e/name, e/type, e/text, e/function,
 * e/statement, e/time, e/process and e/thread refer to a point before the point, e2/value and so on
 * to a point before that, and e3/value and so on to a point before that. A variable belongs to one
 * of these points.
 *
 * 	TRUTH  = (none TRUTH ...)
 *
 * is true if no point between the point of e/ and the point fulfils each TRUTH; b/value and so on
 * refer to that point. It is possible once, as an operand of the outermost `and`.
 *
 * The second text of `matches` is a pattern as in file names. v/text is the content of a blob. p/
 * are properties of the point: time (ns), process and thread are in the auxiliary data that kymo
 * writes (cli/query/trace-points.h).
 */
#pragma once

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

enum {
	QUERY_VARIABLES_MAX = 16,         /* maximum number of free and named variables together */
	QUERY_POINTS_MAX = 4,             /* the point, and those before it: e/, e2/, e3/ */
	QUERY_BETWEEN = QUERY_POINTS_MAX, /* number of the point of b/ */
	QUERY_SIDES,
	QUERY_NODES_MAX = 1 << 16,
	QUERY_DEPTH_MAX = 1000,
	QUERY_WHY_MAX = 160,
};

enum query_kind {
	QUERY_TRUE,
	QUERY_AND,
	QUERY_OR,
	QUERY_NOT,
	QUERY_NONE,
	QUERY_GT,
	QUERY_GE,
	QUERY_LT,
	QUERY_LE,
	QUERY_EQ,
	QUERY_DISTINCT,
	QUERY_NUMBER,
	QUERY_VALUE,
	QUERY_SIZE,
	QUERY_ADD,
	QUERY_SUBTRACT,
	QUERY_MULTIPLY,
	QUERY_DIVIDE,
	QUERY_IS,
	QUERY_MATCHES,
	QUERY_CONTAINS,
	QUERY_TEXT,
	QUERY_NAME,
	QUERY_TYPE,
	QUERY_CONTENT,
	QUERY_FUNCTION,
	QUERY_STATEMENT,
	QUERY_TIME,
	QUERY_PROCESS,
	QUERY_THREAD,
	QUERY_KINDS,
};

static inline bool query_is_text(enum query_kind kind)
{
	return kind >= QUERY_TEXT && kind <= QUERY_FUNCTION;
}

struct query_node {
	enum query_kind kind;
	uint32_t first, n; /* children in `children`; for QUERY_DISTINCT, numbers of variables */
	/* Variable, for QUERY_VALUE, QUERY_SIZE, QUERY_NAME, QUERY_TYPE, QUERY_CONTENT. */
	uint32_t variable;
	/*
	 * For these kinds and for properties: 0 = of the point, 1 = of the one of e/, and so on;
	 * QUERY_BETWEEN = of the one of b/.
	 */
	unsigned point;
	char *text;    /* text, for QUERY_TEXT; owned */
	bool is_small; /* for QUERY_NUMBER: the number is small / small_denominator */
	int64_t small, small_denominator;
	mpq_t exact; /* the number, if it is not small */
};

/* A variable of the expression. */
struct query_variable {
	char *name; /* owned */
	/*
	 * Declared: stands for any variable of its types; otherwise, for the variable with this
	 * name.
	 */
	bool free;
	bool used;      /* it is known to which point the variable belongs: */
	unsigned point; /* 0 = the point, 1 = the one of e/, and so on */
	char *types;    /* types of a free variable, separated by commas; "" = all. Owned */
};

struct query_expression {
	struct query_node *nodes; /* owned; the last node is the whole expression */
	size_t n_nodes, nodes_room;
	uint32_t *children; /* owned */
	size_t n_children, children_room;
	struct query_variable variables[QUERY_VARIABLES_MAX];
	size_t n_variables;
	unsigned n_earlier; /* number of earlier points; 0 = the expression joins no points */
	bool has_none;
};

/* Returns the children of NODE; NULL as long as no node of the expression has children. */
static inline const uint32_t *query_children(const struct query_expression *e,
					     const struct query_node *node)
{
	return e->children ? e->children + node->first : NULL;
}

/* The beginnings of words that refer to earlier points, by number: [1] = "e/", and so on. */
extern const char *const query_point_prefixes[QUERY_SIDES];

/* An error in an expression, and its position in bytes. */
struct query_error {
	size_t at;
	char why[QUERY_WHY_MAX];
};

/*
 * Declares a free variable: "NAME" or "NAME:TYPE,TYPE". Returns 0, -EINVAL with ERROR, or -ENOMEM.
 */
int query_declare(struct query_expression *e, const char *text, struct query_error *error);

/*
 * Parses TEXT and adds it to E. *RET_ROOT is its node. Returns 0, -EINVAL with ERROR, or -ENOMEM. E
 * must be deinitialised in any case.
 */
int query_parse(struct query_expression *e, const char *text, uint32_t *ret_root,
		struct query_error *error);

void query_expression_deinit(struct query_expression *e);
