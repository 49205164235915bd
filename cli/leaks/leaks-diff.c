/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Matches the groups of two archives. Groups are equal if the names of their processes, their
 * resources, and the names in their stacks are equal. Addresses are ignored.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/leaks/leaks-view.h"

/* Makes a key that is equal in both archives. */
static int leaks_diff_make_key(const struct leaks_input *in, const struct leak_watch *w,
			       const struct leak_group *g, struct outbuf *to)
{
	char label[PROFILE_LABEL_MAX];
	struct leaks_frame frame;
	struct leaks_walk walk;
	int r;

	outbuf_print(to, "%s\n%s\n", leaks_process(w), resource_names[g->resource]);
	leaks_walk_begin(&walk, in, g);
	while ((r = leaks_walk_next(&walk, &frame)) > 0)
		outbuf_print(to, "%s\n", profile_names_label(label, frame.place, frame.frame));
	outbuf_append(to, "", 1);
	return r < 0 ? r : to->error;
}

static int leaks_diff_entry(struct leaks_diff *d, const struct leaks_input *in,
			    const struct leak_watch *w, const struct leak_group *g, bool make,
			    struct leaks_before **ret)
{
	_cleanup_(outbuf_deinit) struct outbuf key = { 0 };
	struct leaks_before *first, *b;
	uint64_t hash;
	int r = leaks_diff_make_key(in, w, g, &key);

	if (r < 0)
		return r;
	hash = table_hash(key.data, key.size);
	first = table_get(&d->groups, hash);
	for (b = first; b && strcmp(b->key, (char *)key.data) != 0;)
		b = b->next;
	*ret = b;
	if (b || !make)
		return 0;
	if (GROW(d->list, d->room, d->n + 1) < 0)
		return -ENOMEM;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	d->list[d->n++] = b;
	*b = (struct leaks_before){
		.key = strdup((char *)key.data), .group = g, .watch = w, .next = first
	};
	*ret = b;
	return b->key ? table_set(&d->groups, hash, b) : -ENOMEM;
}

int leaks_diff_init(struct leaks_diff *d, const struct leaks_input *old)
{
	const struct leaks *l = old->leaks;
	struct leaks_before *b;
	int r = 0;

	*d = (struct leaks_diff){ .old = old };
	for (size_t i = 0; i < l->n_watches; i++) {
		const struct leak_watch *w = l->watches[i];

		for (size_t j = 0; r == 0 && j < w->n_groups; j++) {
			r = leaks_diff_entry(d, old, w, w->groups[j], true, &b);
			if (r < 0)
				break;
			b->blocks += w->groups[j]->blocks;
			b->bytes += w->groups[j]->bytes;
		}
	}
	return r;
}

void leaks_diff_deinit(struct leaks_diff *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->list[i]->key);
		free(d->list[i]);
	}
	free(d->list);
	table_deinit(&d->groups);
}

int leaks_diff_find(struct leaks_diff *d, const struct leaks_input *in, const struct leak_watch *w,
		    const struct leak_group *g, struct leaks_before **ret)
{
	int r = leaks_diff_entry(d, in, w, g, false, ret);

	if (r == 0 && *ret)
		(*ret)->seen = true;
	return r;
}
