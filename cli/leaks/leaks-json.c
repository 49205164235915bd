/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report for programs: {processes: [{pid, process, leaks: [...], unmatched_frees, lost, ...}]}.
 */
#include <math.h>
#include <string.h>

#include "cli/leaks/leaks-view.h"

static struct json_object *json_frame(const struct leaks_frame *f)
{
	struct json_object *o = json_object_new_object();
	const struct mapping *map = f->place->mapping;

	json_add_u64(o, "address", f->address);
	json_add_string(o, "function", f->frame && *f->frame->function ? f->frame->function : NULL);
	json_add_string(o, "module",
			map                             ? map->path
			: f->frame && *f->frame->module ? f->frame->module
							: NULL);
	json_add_string(o, "source", f->frame && *f->frame->source ? f->frame->source : NULL);
	if (f->frame && f->frame->line)
		json_add_u64(o, "line", f->frame->line);
	else
		json_add(o, "line", NULL);
	json_add(o, "inlined", json_object_new_boolean(f->inlined));
	json_add(o, "uncertain", json_object_new_boolean(f->called != NULL));
	json_add_string(o, "calls", f->called && *f->called ? f->called : NULL);
	return o;
}

/*
 * *RET_R is a negative errno if memory ran out; *RET_WHOLE: their outermost one was called by
 * nobody.
 */
static struct json_object *json_frames(const struct leaks_input *in, const struct leak_group *g,
				       bool *ret_whole, int *ret_r)
{
	struct json_object *list = json_object_new_array();
	struct leaks_frame frame;
	struct leaks_walk walk;
	int r;

	leaks_walk_begin(&walk, in, g);
	while ((r = leaks_walk_next(&walk, &frame)) > 0)
		json_object_array_add(list, json_frame(&frame));
	if (r < 0)
		*ret_r = r;
	*ret_whole = g->node != 0 && walk.whole;
	return list;
}

static struct json_object *json_texts(const char *const *texts)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < LEAK_TEXTS_MAX && texts[i]; i++)
		json_object_array_add(list, json_object_new_string(texts[i]));
	return list;
}

static struct json_object *json_growth(const struct leak_growth *g)
{
	struct json_object *o = json_object_new_object();

	json_add_u64(o, "windows", g->windows);
	json_add_u64(o, "window_ns", g->window_ns);
	json_add_u64(o, "grew", g->grew);
	json_add_u64(o, "fell", g->fell);
	json_add_double(o, "bytes_per_second", g->per_second);
	return o;
}

static struct json_object *json_reach(const struct leak_group *g)
{
	struct json_object *o = json_object_new_object();

	json_add_u64(o, "lost", g->reach[REACH_LOST]);
	json_add_u64(o, "lost_bytes", g->lost_bytes);
	json_add_u64(o, "indirect", g->reach[REACH_INDIRECT]);
	json_add_u64(o, "possible", g->reach[REACH_POSSIBLE]);
	json_add_u64(o, "reachable", g->reach[REACH_REACHABLE]);
	json_add_u64(o, "unknown", g->reach[REACH_UNKNOWN]);
	return o;
}

static struct json_object *json_contexts(const struct leaks *l, const struct leak_group *g)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < l->n_contexts; i++)
		if (g->contexts & l->contexts[i].id)
			json_object_array_add(list, json_object_new_string(l->contexts[i].name));
	return list;
}

static struct json_object *json_group(const struct leaks_input *in, const struct leak_watch *w,
				      const struct leak_group *g, struct leaks_diff *diff,
				      int *ret_r)
{
	struct json_object *o = json_object_new_object();
	struct leaks_before *b = NULL;
	bool whole = false;

	json_add_string(o, "resource", resource_names[g->resource]);
	json_add_u64(o, "blocks", (uint64_t)llround(g->all.blocks));
	json_add_u64(o, "bytes", (uint64_t)llround(g->all.bytes));
	if (leak_watch_is_sampled(w)) {
		json_add_u64(o, "sampled_blocks", g->blocks);
		json_add_u64(o, "sampled_bytes", g->bytes);
		json_add_double(o, "blocks_error", leak_estimate_error(g->all.blocks_variance));
		json_add_double(o, "bytes_error", leak_estimate_error(g->all.bytes_variance));
	}
	json_add_u64(o, "first_ns", g->first_ns);
	json_add_u64(o, "last_ns", g->last_ns);
	json_add_string(o, "verdict", leak_verdict_names[g->verdict]);
	json_add(o, "functions", json_texts(g->functions));
	json_add(o, "texts", json_texts(g->texts));
	json_add(o, "growth", json_growth(&g->growth));
	json_add(o, "reach", json_reach(g));
	json_add(o, "contexts", json_contexts(in->leaks, g));
	if (diff) {
		int r = leaks_diff_find(diff, in, w, g, &b);

		if (r < 0)
			*ret_r = r;
		json_add_u64(o, "old_blocks", b ? b->blocks : 0);
		json_add_u64(o, "old_bytes", b ? b->bytes : 0);
	}
	json_add(o, "frames", json_frames(in, g, &whole, ret_r));
	json_add(o, "stack_complete", json_object_new_boolean(whole));
	return o;
}

static struct json_object *json_process(const struct leaks_input *in, const struct leaks_request *q,
					const struct leak_watch *w, struct leaks_diff *diff,
					int *ret_r)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	json_add_u64(o, "pid", w->real_pid);
	json_add_string(o, "process", leaks_process(w));
	json_add_string(o, "program", *w->program ? w->program : NULL);
	for (size_t i = 0; i < w->n_groups && i < q->top; i++)
		json_object_array_add(list, json_group(in, w, w->groups[i], diff, ret_r));
	json_add(o, "leaks", list);
	json_add_u64(o, "left_out", w->n_groups < q->top ? 0 : w->n_groups - q->top);
	json_add_u64(o, "unmatched_frees", w->unmatched);
	json_add_u64(o, "lost", w->lost);
	json_add_u64(o, "full", w->full);
	json_add_u64(o, "no_stack", w->no_stack);
	json_add_u64(o, "failed", w->failed);
	json_add_u64(o, "replaced", w->replaced);
	json_add_u64(o, "missing_blocks", w->missing);
	json_add_u64(o, "number", w->number);
	json_add_u64(o, "begin_ns", w->begin_ns);
	json_add_u64(o, "end_ns", w->end_ns);
	json_add_string(o, "reason", *w->reason ? w->reason : NULL);
	json_add(o, "complete", json_object_new_boolean(w->complete));
	json_add_u64(o, "snapshots", w->n_snapshots);
	if (w->n_snapshots > 0)
		json_add_u64(o, "snapshot_ns", w->snapshot_ns);
	json_add(o, "from_sums", json_object_new_boolean(w->from_sums));
	json_add_string(o, "resources", w->resources);
	json_add_string(o, "allocators", w->allocators);
	json_add_u64(o, "interval", w->interval);
	json_add_u64(o, "min_bytes", w->min_bytes);
	return o;
}

static struct json_object *json_gone(const struct leaks_diff *d, int *ret_r)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < d->n; i++) {
		const struct leaks_before *b = d->list[i];
		struct json_object *o;
		bool whole = false;

		if (b->seen)
			continue;
		o = json_object_new_object();
		json_add_string(o, "process", leaks_process(b->watch));
		json_add_string(o, "resource", resource_names[b->group->resource]);
		json_add_u64(o, "old_blocks", b->blocks);
		json_add_u64(o, "old_bytes", b->bytes);
		json_add(o, "frames", json_frames(d->old, b->group, &whole, ret_r));
		json_add(o, "stack_complete", json_object_new_boolean(whole));
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *json_suppressed(const struct leaks_input *in,
					   const struct leaks_request *q)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	json_add_u64(o, "stacks", in->n_suppressed);
	json_add_u64(o, "blocks", in->suppressed_blocks);
	json_add_u64(o, "bytes", in->suppressed_bytes);
	for (size_t i = 0; i < q->suppressions.n; i++) {
		const struct suppression *s = &q->suppressions.list[i];
		struct json_object *entry;

		if (s->n_groups == 0)
			continue;
		entry = json_object_new_object();
		json_add_bytes(entry, "name", s->name, strlen(s->name));
		json_add_u64(entry, "stacks", s->n_groups);
		json_add_u64(entry, "blocks", s->n_blocks);
		json_add_u64(entry, "bytes", s->n_bytes);
		json_object_array_add(list, entry);
	}
	json_add(o, "by", list);
	return o;
}

int leaks_print_json(const struct leaks_input *in, const struct leaks_request *q,
		     struct leaks_diff *diff)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	const struct leaks *l = in->leaks;
	int r = 0;

	for (size_t i = 0; i < l->n_watches; i++)
		json_object_array_add(list, json_process(in, q, l->watches[i], diff, &r));
	json_add(o, "processes", list);
	json_add_u64(o, "lost_events", l->n_lost);
	if (profile_n_unmapped(l->profile))
		json_add_u64(o, "mappings_without_room", profile_n_unmapped(l->profile));
	if (q->suppressions.n)
		json_add(o, "suppressed", json_suppressed(in, q));
	if (diff)
		json_add(o, "gone", json_gone(diff, &r));
	json_print_pretty(o);
	return r;
}
