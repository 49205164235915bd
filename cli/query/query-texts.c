/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/query/query-texts.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "cli/common/verb.h"

static bool query_texts_is_name(const struct query_node *node)
{
	return node->kind == QUERY_FUNCTION || node->kind == QUERY_TYPE || node->kind == QUERY_NAME;
}

void query_texts_init(struct query_texts *t, const struct query_expression *e)
{
	for (size_t i = 0; i < e->n_nodes && t->n < QUERY_TEXTS_MAX; i++) {
		const struct query_node *node = &e->nodes[i], *name, *text;

		if (node->kind < QUERY_IS || node->kind > QUERY_CONTAINS)
			continue;
		name = &e->nodes[query_children(e, node)[0]];
		text = &e->nodes[query_children(e, node)[1]];
		if (node->kind == QUERY_IS && name->kind == QUERY_TEXT) {
			text = name;
			name = &e->nodes[query_children(e, node)[1]];
		}
		if (query_texts_is_name(name) && text->kind == QUERY_TEXT)
			t->list[t->n++] = (struct query_texts_check){ .what = name->kind,
								      .how = node->kind,
								      .text = text->text,
								      .distance = VALUE_NEAR };
	}
}

static bool query_texts_fulfils(const struct query_texts_check *c, const char *name)
{
	switch (c->how) {
	case QUERY_IS:
		return strcmp(c->text, name) == 0;
	case QUERY_MATCHES:
		return fnmatch(c->text, name, 0) == 0;
	default:
		return strstr(name, c->text) != NULL;
	}
}

void query_texts_add(struct query_texts *t, enum query_kind what, const char *name)
{
	for (size_t i = 0; i < t->n; i++) {
		struct query_texts_check *c = &t->list[i];
		struct value_nearest near = { .text = c->text, .distance = c->distance };

		if (c->what != what || c->seen)
			continue;
		c->seen = query_texts_fulfils(c, name);
		if (c->how == QUERY_IS && strlen(name) < QUERY_TEXT_MAX &&
		    value_nearest_try(&near, name))
			snprintf(c->nearest, QUERY_TEXT_MAX, "%s", name);
		c->distance = near.distance;
	}
}

bool query_texts_say(const struct query_texts *t, const char *name, bool has_functions)
{
	bool any = false;

	for (size_t i = 0; i < t->n; i++) {
		const struct query_texts_check *c = &t->list[i];
		const char *what = c->what == QUERY_FUNCTION ? "point has a function"
				   : c->what == QUERY_TYPE   ? "variable has a type"
							     : "variable has a name";

		if (c->seen)
			continue;
		any = true;
		if (c->what == QUERY_FUNCTION && !has_functions)
			cli_error("%s: a trace-db file has no function names, so comparisons "
				  "with them are false, unless the table of its statements is "
				  "beside it",
				  name);
		else
			cli_error("%s: no %s %s'%s'%s%s%s", name, what,
				  c->how == QUERY_MATCHES    ? "that matches "
				  : c->how == QUERY_CONTAINS ? "that contains "
							     : "",
				  c->text, *c->nearest ? "; did you mean '" : "", c->nearest,
				  *c->nearest ? "'?" : "");
	}
	return any;
}
