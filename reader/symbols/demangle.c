/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/symbols/demangle.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Included last, since it defines ARRAY_SIZE, too. */
#include <libiberty/demangle.h>

/*
 * Limits. Long names of real programs have some thousand components when all their references are
 * resolved, far below WORK_MAX.
 */
enum { WORK_MAX = 1000 * 1000, LEVELS_MAX = 16, RUST_BACKREFS_MAX = 24 };

/* ---- output ---- */

struct text {
	char *to;
	size_t n, room;
	jmp_buf full;
	bool may_jump;
	bool cut;
};

/*
 * Receives the output of a demangler. If the text is full, the only way to stop the demangler is a
 * jump, which is safe, since the demangler owns no memory while it prints.
 */
static void demangle_append(const char *p, size_t n, void *opaque)
{
	struct text *text = opaque;
	size_t left = text->room - 1 - text->n;

	if (n > left) {
		n = left;
		text->cut = true;
	}
	/* An empty name has no pointer. */
	if (n > 0)
		memcpy(text->to + text->n, p, n);
	text->n += n;
	if (text->cut && text->may_jump)
		longjmp(text->full, 1);
}

static size_t demangle_finish(struct text *text)
{
	if (text->cut)
		memcpy(text->to + text->n - 3, "...", 3);
	text->to[text->n] = '\0';
	return text->n;
}

/* ---- Rust ---- */

static bool demangle_has_punycode(const char *name)
{
	for (const char *u = strchr(name, 'u'); u; u = strchr(u + 1, 'u'))
		if (u[1] >= '0' && u[1] <= '9')
			return true;
	return false;
}

static size_t demangle_count(const char *name, char c)
{
	size_t n = 0;

	for (; *name; name++)
		n += *name == c;
	return n;
}

static size_t demangle_rust(char *to, size_t room, const char *name)
{
	struct text text = { .to = to, .room = room };

	/* A jump is not allowed if identifiers use Punycode: the demangler decodes these in
	 * allocated memory. */
	text.may_jump = name[1] != 'R' || !demangle_has_punycode(name);
	if (!text.may_jump && demangle_count(name, 'B') > RUST_BACKREFS_MAX)
		return 0;
	if (setjmp(text.full) == 0 &&
	    !rust_demangle_callback(name, DMGL_PARAMS, demangle_append, &text))
		return 0;
	return demangle_finish(&text);
}

/* ---- C++ ---- */

/*
 * The cost of printing a tree of components. Nodes can have several parents and are printed for
 * each, so the cost exceeds the number of nodes. A template parameter costs as much as the most
 * expensive argument. Arguments can contain parameters of the enclosing template, so the cost is
 * computed level by level.
 */
struct estimate {
	const struct demangle_component *nodes;
	size_t n_nodes;
	uint32_t *cost;      /* cost of each node; 0 = unknown */
	uint32_t parameter;  /* cost of a parameter */
	uint32_t argument;   /* cost of the most expensive argument */
	unsigned int levels; /* function names so far; each begins a level */
	bool refused;
};

enum { BEING_MADE = UINT32_MAX };

static uint32_t demangle_estimate(struct estimate *e, const struct demangle_component *node);

static uint32_t demangle_children(struct estimate *e, const struct demangle_component *node)
{
	switch (node->type) {
	case DEMANGLE_COMPONENT_NAME:
	case DEMANGLE_COMPONENT_SUB_STD:
	case DEMANGLE_COMPONENT_OPERATOR:
	case DEMANGLE_COMPONENT_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_CHARACTER:
	case DEMANGLE_COMPONENT_NUMBER:
	case DEMANGLE_COMPONENT_FUNCTION_PARAM:
	case DEMANGLE_COMPONENT_UNNAMED_TYPE:
		return 0;
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
		return e->parameter;
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
		return demangle_estimate(e, node->u.s_extended_operator.name);
	case DEMANGLE_COMPONENT_FIXED_TYPE:
		return demangle_estimate(e, node->u.s_fixed.length);
	case DEMANGLE_COMPONENT_CTOR:
		return demangle_estimate(e, node->u.s_ctor.name);
	case DEMANGLE_COMPONENT_DTOR:
		return demangle_estimate(e, node->u.s_dtor.name);
	case DEMANGLE_COMPONENT_LAMBDA:
	case DEMANGLE_COMPONENT_DEFAULT_ARG:
		return demangle_estimate(e, node->u.s_unary_num.sub);
	case DEMANGLE_COMPONENT_TEMPLATE_ARGLIST: {
		uint32_t left = demangle_estimate(e, node->u.s_binary.left);

		if (left > e->argument)
			e->argument = left;
		return left + demangle_estimate(e, node->u.s_binary.right);
	}
	case DEMANGLE_COMPONENT_TYPED_NAME:
		e->levels++;
		break;
	default:
		if (node->type > DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE) {
			e->refused = true;
			return 0;
		}
		break;
	}
	return demangle_estimate(e, node->u.s_binary.left) +
	       demangle_estimate(e, node->u.s_binary.right);
}

/*
 * Returns the cost of a component. It is at most WORK_MAX, so that a sum of two costs does not
 * overflow.
 */
static uint32_t demangle_estimate(struct estimate *e, const struct demangle_component *node)
{
	size_t i = (size_t)(node - e->nodes);
	uint32_t cost;

	if (!node || e->refused)
		return 0;
	if (node < e->nodes || i >= e->n_nodes || e->cost[i] == BEING_MADE) {
		e->refused = true;
		return 0;
	}
	if (e->cost[i])
		return e->cost[i];
	e->cost[i] = BEING_MADE;
	cost = 1 + demangle_children(e, node);
	if (cost >= WORK_MAX) {
		cost = WORK_MAX;
		e->refused = true;
	}
	return e->cost[i] = cost;
}

static bool demangle_is_too_much(const struct demangle_component *root,
				 const struct demangle_component *nodes, size_t n_nodes)
{
	_cleanup_free_ uint32_t *cost = malloc(n_nodes * sizeof(*cost));
	struct estimate e = { .nodes = nodes, .n_nodes = n_nodes, .cost = cost };
	unsigned int level = 0;

	if (!cost)
		return true;
	do {
		e.parameter = e.argument;
		e.levels = 0;
		memset(cost, 0, n_nodes * sizeof(*cost));
		demangle_estimate(&e, root);
		if (e.refused)
			return true;
		level++;
	} while (e.argument > e.parameter && level <= e.levels && level <= LEVELS_MAX);
	return e.argument > e.parameter && level > LEVELS_MAX;
}

static size_t demangle_cpp(char *to, size_t room, const char *name)
{
	struct text text = { .to = to, .room = room, .may_jump = true };
	void *volatile mem = NULL;
	volatile bool printed = true;
	void *nodes = NULL;
	struct demangle_component *root =
		cplus_demangle_v3_components(name, DMGL_PARAMS | DMGL_ANSI, &nodes);

	if (!root)
		return 0;
	mem = nodes;
	/* The library allocates two components per character. */
	if (demangle_is_too_much(root, mem, 2 * strlen(name)))
		printed = false;
	else if (setjmp(text.full) == 0)
		printed = cplus_demangle_print_callback(DMGL_PARAMS | DMGL_ANSI, root,
							demangle_append, &text);
	free(mem);
	return printed ? demangle_finish(&text) : 0;
}

size_t demangle(char *to, size_t room, const char *name)
{
	size_t n = 0;

	if (name[0] != '_' || strnlen(name, DEMANGLE_NAME_MAX + 1) > DEMANGLE_NAME_MAX)
		return 0;
	if (name[1] == 'R' || name[1] == 'Z')
		n = demangle_rust(to, room, name);
	if (n == 0 && name[1] == 'Z')
		n = demangle_cpp(to, room, name);
	return n;
}
