/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks, one per line: "process;outermost;...;innermost WEIGHT", or "... OLD NEW" for two
 * archives. Since ';' ends a name and a line feed ends a stack, names contain neither.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/flame/flame.h"

static void flame_folded_add_name(struct outbuf *out, const char *name)
{
	size_t n = strlen(name);
	char *to = outbuf_reserve(out, n);

	for (size_t i = 0; to && i < n; i++)
		to[i] = name[i] == ';' ? ':' : (unsigned char)name[i] < ' ' ? ' ' : name[i];
}

/* Adds a stack as one line. LIST has room for one stack. */
static void flame_folded_add_stack(struct outbuf *out, const struct call_tree *t, uint32_t node,
				   uint32_t *list)
{
	size_t n = 0;

	for (uint32_t i = node; i != 0; i = t->nodes[i].parent)
		list[n++] = i;
	while (n-- > 0) {
		flame_folded_add_name(out, t->nodes[list[n]].name);
		outbuf_append(out, n > 0 ? ";" : " ", 1);
	}
}

int flame_folded(struct flame *f, struct outbuf *out)
{
	const struct call_tree *t = f->tree;
	_cleanup_free_ uint32_t *list = calloc(t->max_depth + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; (i = call_tree_next(t, i)) != 0;) {
		const uint64_t *self = t->nodes[i].self;

		if (self[CALL_NOW] == 0 && self[CALL_OLD] == 0)
			continue;
		flame_folded_add_stack(out, t, i, list);
		if (f->old)
			outbuf_print(out, "%" PRIu64 " ", self[CALL_OLD]);
		outbuf_print(out, "%" PRIu64 "\n", self[CALL_NOW]);
		f->n_drawn++;
	}
	return out->error;
}
