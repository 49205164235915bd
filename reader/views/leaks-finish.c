/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/leaks-parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Adds TEXT to LIST, unless TEXT is in LIST already or is empty, or LIST is full. */
static void leaks_note_text(const char **list, const char *text)
{
	for (size_t i = 0; *text && i < LEAK_TEXTS_MAX; i++) {
		if (list[i] == text)
			return;
		if (!list[i]) {
			list[i] = text;
			return;
		}
	}
}

static void leaks_finish_count_block(const struct leak_watch *w, struct leak_block *b)
{
	struct leak_group *g = b->group;

	g->blocks++;
	g->bytes += b->size;
	leak_estimate_add(&g->all, b->size, g->resource == RESOURCE_MEMORY ? w->interval : 0);
	g->reach[b->reach]++;
	g->lost_bytes += b->reach == REACH_LOST ? b->size : 0;
	g->contexts |= b->context;
	if (b->since_ns && (g->first_ns == 0 || b->since_ns < g->first_ns))
		g->first_ns = b->since_ns;
	if (b->since_ns > g->last_ns)
		g->last_ns = b->since_ns;
	leaks_note_text(g->functions, b->function);
	leaks_note_text(g->texts, b->text);
}

/* Computes the values of G from sums, without its blocks, which are assumed to have equal sizes. */
static void leaks_count_sums(const struct leak_watch *w, struct leak_group *g)
{
	uint64_t mean = g->live_blocks ? g->usage_bytes / g->live_blocks : 0;
	struct leak_estimate one = { 0 };
	double n = (double)g->live_blocks;

	g->blocks = g->live_blocks;
	g->bytes = g->usage_bytes;
	g->reach[REACH_UNKNOWN] = g->live_blocks;
	g->first_ns = g->usage_first_ns;
	g->last_ns = g->usage_last_ns;
	leak_estimate_add(&one, mean, g->resource == RESOURCE_MEMORY ? w->interval : 0);
	g->all.blocks = n * one.blocks;
	g->all.bytes = (double)g->bytes * one.blocks;
	g->all.blocks_variance = n * one.blocks_variance;
	g->all.bytes_variance = n * one.bytes_variance;
}

static uint64_t leaks_age_of(const struct leak_watch *w, uint64_t since_ns)
{
	return w->end_ns > since_ns ? w->end_ns - since_ns : 0;
}

static void leaks_finish_judge(const struct leak_watch *w, struct leak_group *g)
{
	/* The time between two readings of sums: most windows that are shorter would contain no
	 * reading. */
	uint64_t looked_ns =
		w->n_usage_times > 0 ? leak_watch_age(w, w->end_ns) / w->n_usage_times * 5 / 4 : 0;
	struct leak_evidence e = {
		.lost = g->reach[REACH_LOST],
		.indirect = g->reach[REACH_INDIRECT],
		.possible =
			g->reach[REACH_POSSIBLE] + g->reach[REACH_EPOLL] + g->reach[REACH_TAGGED],
		.reachable = g->reach[REACH_REACHABLE],
		.unknown = g->reach[REACH_UNKNOWN],
		.program_ended = strcmp(w->reason, "exit") == 0 || strcmp(w->reason, "exec") == 0,
		.watched_ns = leak_watch_age(w, w->end_ns),
		.oldest_ns = leaks_age_of(w, g->first_ns ?: w->begin_ns),
		.youngest_ns = leaks_age_of(w, g->last_ns ?: w->begin_ns),
	};

	leak_trend_finish(&g->trend, leak_watch_age(w, w->end_ns), looked_ns, &g->growth);
	e.growth = g->growth;
	g->verdict = leak_verdict(&e);
}

DEFINE_ORDER_OF_POINTERS(compare_groups, struct leak_group,
	COMPARE(x->verdict, y->verdict) ?: COMPARE(y->all.bytes, x->all.bytes)
		?: COMPARE(y->blocks, x->blocks) ?: COMPARE(x->resource, y->resource)
		?: COMPARE(x->node, y->node))

/* Adds those groups of a chain that have blocks to the groups of W. */
static void leaks_list_chain(struct leak_watch *w, struct leak_group *g)
{
	for (; g; g = g->next) {
		g->left_out = g->blocks == 0;
		if (!g->left_out)
			w->groups[w->n_groups++] = g;
	}
}

static int leaks_list_groups(struct leaks *l, struct leak_watch *w)
{
	struct leak_group *g;

	w->groups = calloc(w->n_made + 1, sizeof(*w->groups));
	if (!w->groups)
		return -ENOMEM;
	for (size_t pos = 0; w->from_sums && (g = table_next(&w->by_key, &pos));)
		for (; g; g = g->next)
			if (leaks_want(l, g->resource))
				leaks_count_sums(w, g);
	for (size_t pos = 0; (g = table_next(&w->by_key, &pos));)
		leaks_list_chain(w, g);
	return 0;
}

static int leaks_finish_watch(struct leaks *l, struct leak_watch *w, uint32_t context)
{
	const struct leaks_options *o = &l->options;
	int r;

	leak_watch_finish_repetition(w, UINT64_MAX);
	if (w->open)
		leak_watch_close(w, w->newer_begin_ns ?: l->end_ns);
	leaks_name_watch(l, w);
	w->forked_ns = leaks_fork_of(l, w);
	if (!*w->reason)
		w->unmatched = w->own_unmatched;
	for (struct leak_block *b = w->first; b; b = b->after) {
		b->wanted = leaks_want(l, b->group->resource) &&
			    (!o->context || b->context & context) &&
			    leaks_age_of(w, b->since_ns ?: w->begin_ns) >= o->min_age_ns;
		if (b->wanted)
			leaks_finish_count_block(w, b);
	}
	/* Sums have no contexts and ages. */
	w->from_sums =
		w->n_snapshots == 0 && !w->logged && !w->first && !o->context && o->min_age_ns == 0;
	r = leaks_list_groups(l, w);
	if (r < 0)
		return r;
	for (size_t i = 0; i < w->n_groups; i++)
		leaks_finish_judge(w, w->groups[i]);
	SORT(w->groups, w->n_groups, compare_groups);
	return 0;
}

DEFINE_ORDER_OF_POINTERS(compare_watches, struct leak_watch,
			 COMPARE(x->begin_ns, y->begin_ns) ?: COMPARE(x->pid, y->pid))

/* Sorts the watches by time, and numbers them within each process. */
static void leaks_order_watches(struct leaks *l)
{
	SORT(l->watches, l->n_watches, compare_watches);
	for (size_t i = 0; i < l->n_watches; i++) {
		struct leak_watch *w = l->watches[i];

		w->number = w->older ? w->older->number + 1 : 1;
		if (w->older)
			w->older->newer_begin_ns = w->begin_ns;
	}
}

int leaks_finish(struct leaks *l)
{
	uint32_t context = 0;
	int r = 0;

	for (size_t i = 0; l->options.context && i < l->n_contexts; i++)
		if (strcmp(l->contexts[i].name, l->options.context) == 0)
			context |= l->contexts[i].id;
	if (l->options.context && context == 0)
		return -ENOENT;
	leaks_order_watches(l);
	for (size_t i = 0; r == 0 && i < l->n_watches; i++)
		r = leaks_finish_watch(l, l->watches[i], context);
	return r;
}

void leaks_filter(struct leaks *l,
		  bool (*keep)(void *userdata, const struct leak_watch *w,
			       const struct leak_group *g),
		  void *userdata)
{
	for (size_t i = 0; i < l->n_watches; i++) {
		struct leak_watch *w = l->watches[i];
		size_t n = 0;

		for (size_t j = 0; j < w->n_groups; j++) {
			struct leak_group *g = w->groups[j];

			g->left_out = !keep(userdata, w, g);
			if (!g->left_out)
				w->groups[n++] = g;
		}
		w->n_groups = n;
	}
}
