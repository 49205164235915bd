/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/query/query-expression.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { WORD_MAX = 256, EXPONENT_MAX = 400 };

struct query_parser {
	struct query_expression *e;
	const char *text, *at;
	unsigned depth;
	/* The first word that refers to a point, for each point; NULL = no word does. */
	const char *uses[QUERY_SIDES];
	const char *none;       /* the position of `none`, if there is one */
	bool first;             /* it is the first expression */
	bool is_inner, in_none; /* within an operator other than `and`; within `none` */
	struct query_error *error;
};

enum query_sort {
	SORT_TRUTH,
	SORT_NUMBER,
	SORT_TEXT,
	SORT_VARIABLE,
};

static const char *const query_sorts[] = {
	[SORT_TRUTH] = "truth value",
	[SORT_NUMBER] = "number",
	[SORT_TEXT] = "text",
};

/*
 * The meaning of the first word of a list. Words that begin with v/ or p/ refer to the point, and
 * also exist with e/, e2/, e3/ and b/.
 */
static const struct query_operator {
	const char *word;
	enum query_kind kind;
	enum query_sort result_sort, operand_sort;
	unsigned min, max; /* minimum and maximum number of operands */
	unsigned point;
} query_operators[] = {
	{ "and", QUERY_AND, SORT_TRUTH, SORT_TRUTH, 1, UINT16_MAX },
	{ "or", QUERY_OR, SORT_TRUTH, SORT_TRUTH, 1, UINT16_MAX },
	{ "not", QUERY_NOT, SORT_TRUTH, SORT_TRUTH, 1, 1 },
	{ "none", QUERY_NONE, SORT_TRUTH, SORT_TRUTH, 1, UINT16_MAX },
	{ ">", QUERY_GT, SORT_TRUTH, SORT_NUMBER, 2, 2 },
	{ ">=", QUERY_GE, SORT_TRUTH, SORT_NUMBER, 2, 2 },
	{ "<", QUERY_LT, SORT_TRUTH, SORT_NUMBER, 2, 2 },
	{ "<=", QUERY_LE, SORT_TRUTH, SORT_NUMBER, 2, 2 },
	{ "=", QUERY_EQ, SORT_TRUTH, SORT_NUMBER, 2, 2 },
	{ "distinct-vars", QUERY_DISTINCT, SORT_TRUTH, SORT_VARIABLE, 2, QUERY_VARIABLES_MAX },
	{ "v/value", QUERY_VALUE, SORT_NUMBER, SORT_VARIABLE, 1, 1 },
	{ "v/size", QUERY_SIZE, SORT_NUMBER, SORT_VARIABLE, 1, 1 },
	{ "+", QUERY_ADD, SORT_NUMBER, SORT_NUMBER, 1, UINT16_MAX },
	{ "-", QUERY_SUBTRACT, SORT_NUMBER, SORT_NUMBER, 1, UINT16_MAX },
	{ "*", QUERY_MULTIPLY, SORT_NUMBER, SORT_NUMBER, 1, UINT16_MAX },
	{ "/", QUERY_DIVIDE, SORT_NUMBER, SORT_NUMBER, 2, 2 },
	{ "is", QUERY_IS, SORT_TRUTH, SORT_TEXT, 2, 2 },
	{ "matches", QUERY_MATCHES, SORT_TRUTH, SORT_TEXT, 2, 2 },
	{ "contains", QUERY_CONTAINS, SORT_TRUTH, SORT_TEXT, 2, 2 },
	{ "v/name", QUERY_NAME, SORT_TEXT, SORT_VARIABLE, 1, 1 },
	{ "v/type", QUERY_TYPE, SORT_TEXT, SORT_VARIABLE, 1, 1 },
	{ "v/text", QUERY_CONTENT, SORT_TEXT, SORT_VARIABLE, 1, 1 },
	{ "p/function", QUERY_FUNCTION, SORT_TEXT, SORT_VARIABLE, 0, 0 },
	{ "p/statement", QUERY_STATEMENT, SORT_NUMBER, SORT_VARIABLE, 0, 0 },
	{ "p/time", QUERY_TIME, SORT_NUMBER, SORT_VARIABLE, 0, 0 },
	{ "p/process", QUERY_PROCESS, SORT_NUMBER, SORT_VARIABLE, 0, 0 },
	{ "p/thread", QUERY_THREAD, SORT_NUMBER, SORT_VARIABLE, 0, 0 },
};

const char *const query_point_prefixes[QUERY_SIDES] = {
	[1] = "e/",
	[2] = "e2/",
	[3] = "e3/",
	[QUERY_BETWEEN] = "b/",
};

void query_expression_deinit(struct query_expression *e)
{
	for (size_t i = 0; i < e->n_nodes; i++) {
		if (e->nodes[i].kind == QUERY_NUMBER)
			mpq_clear(e->nodes[i].exact);
		free(e->nodes[i].text);
	}
	for (size_t i = 0; i < e->n_variables; i++) {
		free(e->variables[i].name);
		free(e->variables[i].types);
	}
	free(e->nodes);
	free(e->children);
	*e = (struct query_expression){ 0 };
}

__attribute__((format(printf, 3, 4))) static int
query_complain(const struct query_parser *p, const char *at, const char *format, ...)
{
	va_list args;

	p->error->at = (size_t)(at - p->text);
	va_start(args, format);
	vsnprintf(p->error->why, sizeof(p->error->why), format, args);
	va_end(args);
	return -EINVAL;
}

/* ---- words ---- */

static void query_skip(struct query_parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

/* Copies the next word to TO. Returns its position. */
static int query_parse_word(struct query_parser *p, char to[static WORD_MAX])
{
	size_t n;

	query_skip(p);
	n = strcspn(p->at, " \t\r\n()");
	if (n == 0)
		return query_complain(p, p->at,
				      *p->at == '\0'  ? "the expression ends too early"
				      : *p->at == ')' ? "a word is missing"
						      : "a word is expected, not a list");
	if (n >= WORD_MAX)
		return query_complain(p, p->at, "a word of more than %d bytes", WORD_MAX - 1);
	memcpy(to, p->at, n);
	to[n] = '\0';
	p->at += n;
	return 0;
}

/* ---- nodes ---- */

static int query_add_node(struct query_expression *e, const struct query_node *node, uint32_t *ret)
{
	if (e->n_nodes == QUERY_NODES_MAX)
		return -E2BIG;
	if (GROW(e->nodes, e->nodes_room, e->n_nodes + 1) < 0)
		return -ENOMEM;
	e->nodes[e->n_nodes] = *node;
	*ret = (uint32_t)e->n_nodes++;
	return 0;
}

/* Parses TEXT exactly: decimal digits with a point or an exponent. */
static bool query_set_decimal(mpq_t to, const char *text)
{
	char digits[WORD_MAX] = "", *end;
	const char *p = text + (*text == '-' || *text == '+');
	size_t n = 0;
	long scale = 0, exponent = 0;
	bool point = false, any = false;
	mpz_t power;

	for (; isdigit((unsigned char)*p) || (*p == '.' && !point); p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		digits[n++] = *p;
		scale -= point;
		any = true;
	}
	if (any && (*p == 'e' || *p == 'E')) {
		exponent = strtol(p + 1, &end, 10);
		if (end == p + 1)
			return false;
		p = end;
	}
	if (!any || *p != '\0' || exponent > EXPONENT_MAX || exponent < -EXPONENT_MAX)
		return false;
	mpz_set_str(mpq_numref(to), digits, 10);
	mpz_set_ui(mpq_denref(to), 1);
	scale += exponent;
	mpz_init(power);
	mpz_ui_pow_ui(power, 10, (unsigned long)(scale < 0 ? -scale : scale));
	mpz_mul(scale < 0 ? mpq_denref(to) : mpq_numref(to),
		scale < 0 ? mpq_denref(to) : mpq_numref(to), power);
	mpz_clear(power);
	mpq_canonicalize(to);
	if (*text == '-')
		mpq_neg(to, to);
	return true;
}

static bool query_set_number(mpq_t to, const char *text)
{
	bool minus = *text == '-';
	const char *digits = text + (minus || *text == '+');

	if (strncmp(digits, "0x", 2) != 0)
		return query_set_decimal(to, text);
	if (!isxdigit((unsigned char)digits[2]) || mpz_set_str(mpq_numref(to), digits + 2, 16) < 0)
		return false;
	mpz_set_ui(mpq_denref(to), 1);
	if (minus)
		mpq_neg(to, to);
	return true;
}

static int query_parse_number(struct query_parser *p, uint32_t *ret)
{
	struct query_node node = { .kind = QUERY_NUMBER };
	const char *begin = p->at;
	char word[WORD_MAX];
	int r = query_parse_word(p, word);

	if (r < 0)
		return r;
	mpq_init(node.exact);
	if (!query_set_number(node.exact, word)) {
		mpq_clear(node.exact);
		return query_complain(p, begin,
				      "'%.40s' is not a number; (v/value NAME) is the value of "
				      "a variable",
				      word);
	}
	node.is_small = mpz_fits_slong_p(mpq_numref(node.exact)) &&
			mpz_fits_slong_p(mpq_denref(node.exact));
	if (node.is_small) {
		node.small = mpz_get_si(mpq_numref(node.exact));
		node.small_denominator = mpz_get_si(mpq_denref(node.exact));
	}
	r = query_add_node(p->e, &node, ret);
	if (r < 0)
		mpq_clear(node.exact);
	return r == -E2BIG ? query_complain(p, begin, "the expression has too many parts") : r;
}

/* Parses the text after a quotation mark. A backslash makes the next character literal. */
static int query_parse_text(struct query_parser *p, uint32_t *ret)
{
	struct query_node node = { .kind = QUERY_TEXT };
	const char *begin = p->at++;
	char text[WORD_MAX];
	size_t n = 0;
	int r;

	for (; *p->at != '"'; p->at++) {
		p->at += *p->at == '\\';
		if (*p->at == '\0')
			return query_complain(p, begin, "a quotation mark is not closed");
		if (n == sizeof(text) - 1)
			return query_complain(p, begin, "a text of more than %d bytes",
					      WORD_MAX - 1);
		text[n++] = *p->at;
	}
	p->at++;
	node.text = strndup(text, n);
	if (!node.text)
		return -ENOMEM;
	r = query_add_node(p->e, &node, ret);
	if (r < 0)
		free(node.text);
	return r == -E2BIG ? query_complain(p, begin, "the expression has too many parts") : r;
}

/* ---- variables ---- */

static int query_add_variable(struct query_expression *e, const char *name, const char *types)
{
	struct query_variable *v = &e->variables[e->n_variables];

	v->name = strdup(name);
	v->types = strdup(types ?: "");
	v->free = types != NULL;
	e->n_variables++;
	return v->name && v->types ? 0 : -ENOMEM;
}

int query_declare(struct query_expression *e, const char *text, struct query_error *error)
{
	const char *colon = strchr(text, ':');
	_cleanup_free_ char *name = strndup(text, colon ? (size_t)(colon - text) : strlen(text));
	const struct query_parser p = { .e = e, .text = text, .error = error };

	if (!name)
		return -ENOMEM;
	if (!*name || strpbrk(name, " \t\r\n()"))
		return query_complain(&p, text, "a variable is NAME or NAME:TYPE,TYPE");
	for (size_t i = 0; i < e->n_variables; i++)
		if (strcmp(e->variables[i].name, name) == 0)
			return query_complain(&p, text, "'%.40s' is declared twice", name);
	if (e->n_variables == QUERY_VARIABLES_MAX)
		return query_complain(&p, text, "more than %d variables", QUERY_VARIABLES_MAX);
	return query_add_variable(e, name, colon ? colon + 1 : "");
}

/*
 * Assigns V to the point that the operator O refers to; distinct-vars refers to no point. Returns
 * false if V belongs to another point.
 */
static bool query_use_variable(struct query_variable *v, const struct query_operator *o)
{
	if (o->kind == QUERY_DISTINCT)
		return true;
	if (!v->used) {
		v->used = true;
		v->point = o->point;
	}
	return v->point == o->point;
}

/* Parses the name of a variable. Several points can have an undeclared variable of the same name. A
 * declared variable belongs to one point. */
static int query_parse_variable(struct query_parser *p, const struct query_operator *o,
				uint32_t *ret)
{
	struct query_variable *variables = p->e->variables;
	const char *begin = p->at;
	char word[WORD_MAX];
	int r = query_parse_word(p, word);

	for (uint32_t i = 0; r == 0 && i < p->e->n_variables; i++) {
		if (strcmp(variables[i].name, word) != 0)
			continue;
		*ret = i;
		if (query_use_variable(&variables[i], o))
			return 0;
		if (variables[i].free)
			return query_complain(p, begin,
					      "'%.40s' is a variable of the point and of an "
					      "earlier one; declare two",
					      word);
	}
	if (r < 0)
		return r;
	if (p->e->n_variables == QUERY_VARIABLES_MAX)
		return query_complain(p, begin, "more than %d variables", QUERY_VARIABLES_MAX);
	*ret = (uint32_t)p->e->n_variables;
	r = query_add_variable(p->e, word, NULL);
	variables[*ret].used = true;
	variables[*ret].point = o->point;
	return r;
}

/* ---- lists ---- */

static int query_parse_operand(struct query_parser *p, enum query_sort wanted, uint32_t *ret);

/*
 * Finds the operator WORD, which must outlive *RET. The part of WORD after e/ is that of a word
 * which begins with v/ or p/. Returns false if there is none.
 */
static bool query_operator_of(const char *word, struct query_operator *ret)
{
	unsigned point = QUERY_SIDES - 1;
	size_t n;

	while (point > 0 &&
	       strncmp(word, query_point_prefixes[point], strlen(query_point_prefixes[point])) != 0)
		point--;
	n = point > 0 ? strlen(query_point_prefixes[point]) : 0;
	for (size_t i = 0; i < ARRAY_SIZE(query_operators); i++) {
		const struct query_operator *o = &query_operators[i];
		bool of_point = o->word[0] != '\0' && o->word[1] == '/';

		if (point > 0 ? !of_point || strcmp(o->word + 2, word + n) != 0
			      : strcmp(o->word, word) != 0)
			continue;
		*ret = *o;
		ret->word = word;
		ret->point = point;
		return true;
	}
	return false;
}

/* Parses operands up to the end of the list into an array. The caller frees the array. */
static int query_parse_operands(struct query_parser *p, const struct query_operator *o,
				uint32_t **list, size_t *n)
{
	size_t room = 0;
	int r = 0;

	for (;; ++*n) {
		uint32_t one;

		query_skip(p);
		if (*p->at == ')' || r < 0)
			return r;
		if (*p->at == '\0')
			return query_complain(p, p->at, "a bracket is not closed");
		if (*n == o->max)
			return query_complain(p, p->at, "'%s' takes %u operand%s, not more",
					      o->word, o->max, o->max == 1 ? "" : "s");
		r = o->operand_sort == SORT_VARIABLE
			    ? query_parse_variable(p, o, &one)
			    : query_parse_operand(p, o->operand_sort, &one);
		if (r < 0)
			return r;
		if (GROW(*list, room, *n + 1) < 0)
			return -ENOMEM;
		(*list)[*n] = one;
	}
}

static int query_add_list(struct query_parser *p, const struct query_operator *o,
			  const uint32_t *list, size_t n, uint32_t *ret)
{
	struct query_expression *e = p->e;
	struct query_node node = { .kind = o->kind,
				   .first = (uint32_t)e->n_children,
				   .n = (uint32_t)n,
				   .point = o->point };

	if (n > 0 && GROW(e->children, e->children_room, e->n_children + n) < 0)
		return -ENOMEM;
	if (n > 0)
		memcpy(e->children + e->n_children, list, n * sizeof(*list));
	e->n_children += n;
	if (o->point != QUERY_BETWEEN && o->point > e->n_earlier)
		e->n_earlier = o->point;
	e->has_none |= o->kind == QUERY_NONE;
	if (o->operand_sort == SORT_VARIABLE && n == 1)
		node.variable = list[0];
	return query_add_node(e, &node, ret);
}

/* Refuses the operator O, which begins at BEGIN, if it is not possible at this place. */
static int query_check_place(struct query_parser *p, const struct query_operator *o,
			     const char *begin)
{
	if (o->point == QUERY_BETWEEN && !p->in_none)
		return query_complain(p, begin,
				      "'%s' is of a point between two others: it is possible only "
				      "within (none ...)",
				      o->word);
	if (!p->uses[o->point])
		p->uses[o->point] = begin;
	if (o->kind != QUERY_NONE)
		return 0;
	if (p->is_inner)
		return query_complain(p, begin,
				      "'none' must be the whole expression, or an operand of the "
				      "outermost 'and'");
	if (p->none)
		return query_complain(p, begin,
				      "'none' is possible only once; it can contain 'or'");
	if (!p->first)
		return query_complain(p, begin, "'none' is not possible in a soft expression");
	p->none = begin;
	return 0;
}

/* Parses the operands of O, as query_parse_operands(), with the place of them noted. */
static int query_parse_inner(struct query_parser *p, const struct query_operator *o,
			     uint32_t **list, size_t *n)
{
	bool is_inner = p->is_inner, in_none = p->in_none;
	int r;

	p->is_inner |= o->kind != QUERY_AND;
	p->in_none |= o->kind == QUERY_NONE;
	r = query_parse_operands(p, o, list, n);
	p->is_inner = is_inner;
	p->in_none = in_none;
	return r;
}

/* Parses a list after its opening bracket. */
static int query_parse_list(struct query_parser *p, enum query_sort wanted, uint32_t *ret)
{
	_cleanup_free_ uint32_t *list = NULL;
	struct query_operator o;
	const char *begin = p->at;
	char word[WORD_MAX];
	size_t n = 0;
	int r = query_parse_word(p, word);

	if (r < 0)
		return r;
	if (!query_operator_of(word, &o))
		return query_complain(p, begin, "'%.40s' is no operator", word);
	if (o.result_sort != wanted)
		return query_complain(p, begin, "'%s' is a %s where a %s is expected", o.word,
				      query_sorts[o.result_sort], query_sorts[wanted]);
	r = query_check_place(p, &o, begin) ?: query_parse_inner(p, &o, &list, &n);
	if (r < 0)
		return r;
	if (n < o.min)
		return query_complain(p, p->at, "'%s' takes %u operand%s, not %zu", o.word, o.min,
				      o.min == 1 ? "" : "s", n);
	p->at++;
	r = query_add_list(p, &o, list, n, ret);
	return r == -E2BIG ? query_complain(p, begin, "the expression has too many parts") : r;
}

/* Parses an operand without brackets. */
static int query_parse_plain(struct query_parser *p, enum query_sort wanted, uint32_t *ret)
{
	bool is_text = *p->at == '"';

	if (wanted == SORT_TRUTH)
		return query_complain(p, p->at,
				      "a comparison is expected, as in (> (v/value x) 0)");
	if (is_text != (wanted == SORT_TEXT))
		return query_complain(p, p->at, "a %s where a %s is expected%s",
				      is_text ? "text" : "word", query_sorts[wanted],
				      is_text ? "" : ", in quotation marks");
	return is_text ? query_parse_text(p, ret) : query_parse_number(p, ret);
}

static int query_parse_operand(struct query_parser *p, enum query_sort wanted, uint32_t *ret)
{
	int r;

	query_skip(p);
	if (*p->at == '\0')
		return query_complain(p, p->at, "a bracket is not closed");
	if (*p->at != '(')
		return query_parse_plain(p, wanted, ret);
	if (p->depth == QUERY_DEPTH_MAX)
		return query_complain(p, p->at, "more than %d levels of brackets", QUERY_DEPTH_MAX);
	p->at++;
	p->depth++;
	r = query_parse_list(p, wanted, ret);
	p->depth--;
	return r;
}

/*
 * Refuses an expression that uses a point and not the ones after it, since those could be any
 * points. The expressions before it use the first BEFORE earlier points.
 */
static int query_check_points(const struct query_parser *p, unsigned before)
{
	if (p->none && p->e->n_earlier == 0)
		return query_complain(p, p->none,
				      "'none' is about the points between that of e/ and the "
				      "point, but e/ has no condition");
	for (unsigned i = before + 1; i < p->e->n_earlier; i++)
		if (!p->uses[i])
			return query_complain(p, p->uses[p->e->n_earlier],
					      "%s is a point before that of %s, which has no "
					      "condition: use %s first",
					      query_point_prefixes[p->e->n_earlier],
					      query_point_prefixes[i], query_point_prefixes[i]);
	return 0;
}

int query_parse(struct query_expression *e, const char *text, uint32_t *ret_root,
		struct query_error *error)
{
	struct query_parser p = {
		.e = e, .text = text, .at = text, .first = e->n_nodes == 0, .error = error
	};
	unsigned before = e->n_earlier;
	int r;

	query_skip(&p);
	if (*p.at == '\0')
		return query_add_node(e, &(struct query_node){ .kind = QUERY_TRUE }, ret_root);
	r = query_parse_operand(&p, SORT_TRUTH, ret_root);
	query_skip(&p);
	if (r == 0 && *p.at)
		return query_complain(&p, p.at,
				      "unexpected text after the end of the "
				      "expression");
	return r < 0 ? r : query_check_points(&p, before);
}
