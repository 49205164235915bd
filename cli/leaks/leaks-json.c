/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report as JSON: {processes: [{pid, process, leaks: [...], unmatched_frees, lost, ...}]}.
 */
#include <math.h>

#include "cli/leaks/leaks-view.h"

/* TEXT; null if it is empty. */
static const char *leaks_json_text(const char *text)
{
	return text && *text ? text : NULL;
}

static struct json_object *leaks_json_frame(const struct leaks_frame *f)
{
	const struct frame *s = f->frame;
	const struct mapping *map = f->place->mapping;

	return JSON_OBJECT(JSON_OF(f, address),
			   JSON("function", leaks_json_text(s ? s->function : NULL)),
			   JSON("module", map ? map->path : leaks_json_text(s ? s->module : NULL)),
			   JSON("source", leaks_json_text(s ? s->source : NULL)),
			   JSON("line", s && s->line ? json_u64(s->line) : NULL),
			   JSON_OF(f, inlined), JSON("uncertain", json_boolean(f->called != NULL)),
			   JSON("calls", leaks_json_text(f->called)));
}

/*
 * Returns the frames of a group as JSON. *RET_R is a negative errno if there is no memory.
 * *RET_WHOLE = true: the outermost frame starts a thread.
 */
static struct json_object *leaks_json_frames(const struct leaks_input *in,
					     const struct leak_group *g, bool *ret_whole,
					     int *ret_r)
{
	struct json_object *list = json_object_new_array();
	struct leaks_frame frame;
	struct leaks_walk walk;
	int r;

	leaks_walk_begin(&walk, in, g);
	while ((r = leaks_walk_next(&walk, &frame)) > 0)
		json_append_item(list, leaks_json_frame(&frame));
	if (r < 0)
		*ret_r = r;
	*ret_whole = g->node != 0 && walk.whole;
	return list;
}

static struct json_object *leaks_json_growth(const struct leak_growth *g)
{
	return JSON_OBJECT(JSON_OF(g, windows, window_ns, grew, fell),
			   JSON("bytes_per_second", g->per_second));
}

static struct json_object *leaks_json_reach(const struct leak_group *g)
{
	return JSON_OBJECT(JSON("lost", g->reach[REACH_LOST]), JSON_OF(g, lost_bytes),
			   JSON("indirect", g->reach[REACH_INDIRECT]),
			   JSON("possible", g->reach[REACH_POSSIBLE]),
			   JSON("epoll", g->reach[REACH_EPOLL]),
			   JSON("tagged", g->reach[REACH_TAGGED]),
			   JSON("reachable", g->reach[REACH_REACHABLE]),
			   JSON("unknown", g->reach[REACH_UNKNOWN]));
}

static struct json_object *leaks_json_group(const struct leaks_input *in,
					    const struct leak_watch *w, const struct leak_group *g,
					    struct leaks_diff *diff, int *ret_r)
{
	struct leaks_before *b = NULL;
	bool whole = false, sampled = leak_watch_is_sampled(w);
	const struct leaks *l = in->leaks;
	struct json_object *o = JSON_OBJECT(
		JSON("resource", resource_names[g->resource]),
		JSON("blocks", (uint64_t)llround(g->all.blocks)),
		JSON("bytes", (uint64_t)llround(g->all.bytes)),
		JSON_IF(sampled, "sampled_blocks", g->blocks),
		JSON_IF(sampled, "sampled_bytes", g->bytes),
		JSON_IF(sampled, "blocks_error", leak_estimate_error(g->all.blocks_variance)),
		JSON_IF(sampled, "bytes_error", leak_estimate_error(g->all.bytes_variance)),
		JSON_OF(g, first_ns, last_ns), JSON("verdict", leak_verdict_names[g->verdict]),
		JSON("functions", JSON_LIST(f, g->functions, LEAK_TEXTS_MAX, *f)),
		JSON("texts", JSON_LIST(t, g->texts, LEAK_TEXTS_MAX, *t)),
		JSON("growth", leaks_json_growth(&g->growth)), JSON("reach", leaks_json_reach(g)),
		JSON("contexts", JSON_LIST(c, l->contexts, l->n_contexts,
					   g->contexts & c->id ? c->name : NULL)));

	if (diff) {
		int r = leaks_diff_find(diff, in, w, g, &b);

		if (r < 0)
			*ret_r = r;
		JSON_ADD(o, JSON("old_blocks", b ? b->blocks : 0),
			 JSON("old_bytes", b ? b->bytes : 0));
	}
	JSON_ADD(o, JSON("frames", leaks_json_frames(in, g, &whole, ret_r)));
	return JSON_ADD(o, JSON("stack_complete", whole));
}

static struct json_object *leaks_json_watch(const struct leaks_input *in,
					    const struct leaks_request *q,
					    const struct leak_watch *w, struct leaks_diff *diff,
					    int *ret_r)
{
	size_t n = w->n_groups < q->top ? w->n_groups : q->top;

	return JSON_OBJECT(
		JSON("pid", w->real_pid), JSON("process", leaks_process(w)),
		JSON("program", leaks_json_text(w->program)),
		JSON("leaks", JSON_LIST(g, w->groups, n, leaks_json_group(in, w, *g, diff, ret_r))),
		JSON("left_out", w->n_groups - n), JSON("unmatched_frees", w->unmatched),
		JSON_OF(w, lost, full, no_stack, failed, replaced),
		JSON("missing_blocks", w->missing), JSON_OF(w, number, begin_ns, end_ns),
		JSON("reason", leaks_json_text(w->reason)), JSON_OF(w, complete),
		JSON("watched", (bool)!*w->unwatched),
		JSON_IF(*w->unwatched, "unwatched", leaks_json_text(w->unwatched)),
		JSON_IF(*w->gap, "gap", leaks_json_text(w->gap)),
		JSON_IF(w->forked_ns, "forked_ns", w->forked_ns),
		JSON_IF(w->vforked, "vforked", w->vforked),
		JSON_IF(*w->unsearched, "unsearched", leaks_json_text(w->unsearched)),
		JSON("snapshots", w->n_snapshots),
		JSON_IF(w->n_snapshots > 0, "snapshot_ns", w->snapshot_ns),
		JSON_OF(w, from_sums, resources, allocators, interval, min_bytes));
}

static struct json_object *leaks_json_gone(const struct leaks_diff *d, const struct leaks_before *b,
					   int *ret_r)
{
	struct json_object *o;
	bool whole = false;

	if (b->seen)
		return NULL;
	o = JSON_OBJECT(JSON("process", leaks_process(b->watch)),
			JSON("resource", resource_names[b->group->resource]),
			JSON("old_blocks", b->blocks), JSON("old_bytes", b->bytes),
			JSON("frames", leaks_json_frames(d->old, b->group, &whole, ret_r)));
	return JSON_ADD(o, JSON("stack_complete", whole));
}

static struct json_object *leaks_json_suppression(const struct suppression *s)
{
	if (s->n_groups == 0)
		return NULL;
	return JSON_OBJECT(JSON("name", json_from_text(s->name)), JSON("stacks", s->n_groups),
			   JSON("blocks", s->n_blocks), JSON("bytes", s->n_bytes));
}

static struct json_object *leaks_json_suppressed(const struct leaks_input *in,
						 const struct suppressions *all)
{
	return JSON_OBJECT(JSON("stacks", in->n_suppressed), JSON("blocks", in->suppressed_blocks),
			   JSON("bytes", in->suppressed_bytes),
			   JSON("by", JSON_LIST(s, all->list, all->n, leaks_json_suppression(s))));
}

int leaks_print_json(const struct leaks_input *in, const struct leaks_request *q,
		     struct leaks_diff *diff)
{
	const struct leaks *l = in->leaks;
	int r = 0;
	struct json_object *o =
		JSON_OBJECT(JSON("processes", JSON_LIST(w, l->watches, l->n_watches,
							leaks_json_watch(in, q, *w, diff, &r))),
			    JSON("lost_events", l->n_lost),
			    JSON_IF(profile_n_unmapped(l->profile), "mappings_without_room",
				    profile_n_unmapped(l->profile)),
			    JSON_IF(q->suppressions.n, "suppressed",
				    leaks_json_suppressed(in, &q->suppressions)));

	if (diff)
		JSON_ADD(o, JSON("gone",
				 JSON_LIST(b, diff->list, diff->n, leaks_json_gone(diff, *b, &r))));
	json_print_pretty(o);
	return r;
}
