/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/query/query-names.h"

#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "cli/common/verb.h"

/* Whether name AT is the name of a type and not of a variable. */
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
