/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/query/query-names.h"

#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "cli/common/verb.h"

/* Returns true if name AT is the name of a type and not of a variable. */
static bool query_names_is_type(const struct tracedb_dictionary *dictionary, size_t at)
{
	for (size_t i = 0; i < dictionary->n_types; i++)
		if (dictionary->types[i].name == at)
			return true;
	return false;
}

static void query_names_compare(struct query_names *n, size_t i, const char *wanted,
				const char *name, bool is_type)
{
	struct value_nearest near = { .text = wanted,
				      .distance = *n->nearest[i] ? n->distance[i] : VALUE_NEAR };

	if (strcmp(wanted, name) == 0)
		n->seen[i] = true;
	else if (!is_type && strlen(name) < QUERY_NAME_MAX && value_nearest_try(&near, name))
		snprintf(n->nearest[i], QUERY_NAME_MAX, "%s", name);
	n->distance[i] = near.distance;
}

void query_names_add(struct query_names *n, const struct query_expression *e,
		     const struct tracedb_dictionary *dictionary)
{
	for (size_t i = 0; i < e->n_variables; i++)
		for (size_t k = 0; !e->variables[i].free && k < dictionary->n_names; k++)
			query_names_compare(n, i, e->variables[i].name, dictionary->names[k],
					    query_names_is_type(dictionary, k));
}

int query_names_complain(const struct query_names *n, const struct query_expression *e,
			 const char *name, bool has_blocks)
{
	for (size_t i = 0; i < e->n_variables; i++) {
		const char *wanted = e->variables[i].name;
		bool of_block = strcmp(wanted, "address") == 0 || strcmp(wanted, "bytes") == 0;

		if (e->variables[i].free || n->seen[i])
			continue;
		if (of_block && !has_blocks)
			return cli_failed("%s: no point has a variable '%s': allocations were not "
					  "recorded (record with -e memory --memory-log)",
					  name, wanted);
		return cli_failed("%s: no point has a variable '%s'%s%s%s", name, wanted,
				  *n->nearest[i] ? "; did you mean '" : "", n->nearest[i],
				  *n->nearest[i] ? "'?" : "");
	}
	return CLI_OK;
}

/* ---- values ---- */

/*
 * Returns true if LIST, names separated by commas, contains NAME. An empty list contains all names.
 */
static bool query_names_lists(const char *list, const char *name)
{
	size_t n = strlen(name);

	if (*list == '\0')
		return true;
	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, name, n) == 0 && (at[n] == '\0' || at[n] == ','))
			return true;
	}
	return false;
}

/* Returns true if V can be the variable in SLOT. */
static bool query_names_allows(const struct query_variable *v,
			       const struct tracedb_dictionary *dictionary,
			       const struct tracedb_slot *slot)
{
	if (v->free)
		return query_names_lists(v->types,
					 dictionary->names[dictionary->types[slot->type].name]);
	return strcmp(dictionary->names[slot->name], v->name) == 0;
}

void query_names_add_values(struct query_names *n, const struct query_expression *e,
			    const struct tracedb_dictionary *dictionary,
			    const struct tracedb_store *store)
{
	uint32_t all = tracedb_store_shapes(store);

	/* (if there are fewer shapes than before, the store has removed its shapes) */
	for (uint32_t i = all < n->n_shapes ? 0 : n->n_shapes; i < all; i++) {
		const struct tracedb_shape *shape = tracedb_store_shape(store, i);

		for (uint32_t k = 0; k < shape->n_variables; k++)
			for (size_t v = 0; v < e->n_variables; v++)
				if (query_names_allows(&e->variables[v], dictionary,
						       &shape->slots[k]))
					n->formats[v] |= 1u << shape->slots[k].format;
	}
	n->n_shapes = all;
}

/*
 * If NODE needs a kind of value that no format in FORMATS has, returns the name of that kind;
 * otherwise NULL.
 */
static const char *query_names_missing(const struct query_node *node, unsigned formats)
{
	switch (node->kind) {
	case QUERY_VALUE:
		return formats & ~(1u << TRACEDB_BLOB) ? NULL : "a number";
	case QUERY_SIZE:
		return formats & 1u << TRACEDB_POINTER ? NULL : "a pointer with a size";
	case QUERY_CONTENT:
		return formats & 1u << TRACEDB_BLOB ? NULL : "a text";
	default:
		return NULL;
	}
}

/* Prints that the variable V, whose values have FORMATS, never has WHAT, which NODE needs. */
static void query_names_say(const struct query_node *node, const struct query_variable *v,
			    unsigned formats, const char *what, const char *name)
{
	/* (a call whose argument is a text or a buffer has its bytes instead of its address) */
	if (node->kind == QUERY_SIZE && !v->free && formats == 1u << TRACEDB_BLOB)
		cli_error(
			"%s: '%s' was recorded as a text, without its address, so the size of its "
			"block is unknown: record it as 'ptr %s'",
			name, v->name, v->name);
	else
		cli_error("%s: '%s' is never %s, so comparisons that need one are false", name,
			  v->name, what);
}

bool query_names_say_valueless(const struct query_names *n, const struct query_expression *e,
			       const char *name)
{
	unsigned said[QUERY_VARIABLES_MAX] = { 0 };
	bool any = false;

	for (size_t i = 0; i < e->n_nodes; i++) {
		const struct query_node *node = &e->nodes[i];
		const char *what;
		uint32_t v = node->variable;

		/* (only the other nodes have a variable) */
		if (node->kind != QUERY_VALUE && node->kind != QUERY_SIZE &&
		    node->kind != QUERY_CONTENT)
			continue;
		what = n->formats[v] ? query_names_missing(node, n->formats[v]) : NULL;
		if (!what || said[v] & 1u << node->kind)
			continue;
		said[v] |= 1u << node->kind;
		query_names_say(node, &e->variables[v], n->formats[v], what, name);
		any = true;
	}
	return any;
}
