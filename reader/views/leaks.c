/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/leaks-parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* The values of the last EVENT_USAGE with one id of a stack. */
struct leak_sum {
	struct leak_group *group;
	uint64_t blocks, bytes, allocations;
};

int leaks_new(struct leaks **ret, const struct leaks_options *options)
{
	_cleanup_(leaks_freep) struct leaks *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->options = *options;
	r = profile_new(&l->profile, &(struct profile_options){ .to_ns = UINT64_MAX });
	if (r < 0)
		return r;
	*ret = TAKE_PTR(l);
	return 0;
}

void leak_watch_free(struct leak_watch *w)
{
	struct leak_group *g, *next_group;
	struct leak_block *b;

	while ((b = w->first)) {
		w->first = b->after;
		free(b);
	}
	for (size_t pos = 0; (g = table_next(&w->by_key, &pos));) {
		for (; g; g = next_group) {
			next_group = g->next;
			free(g);
		}
	}
	table_deinit(&w->stacks);
	table_deinit(&w->by_key);
	table_deinit(&w->by_id);
	table_deinit_free(&w->sums);
	free(w->groups);
	free(w);
}

struct leaks *leaks_free(struct leaks *l)
{
	if (!l)
		return NULL;
	for (size_t i = 0; i < l->n_watches; i++)
		leak_watch_free(l->watches[i]);
	free(l->watches);
	table_deinit_free(&l->by_pid);
	text_set_deinit(&l->texts);
	profile_free(l->profile);
	return free_ptr(l);
}

const char *leaks_keep_text(struct leaks *l, const char *text)
{
	return *text ? text_set_keep(&l->texts, text) : "";
}

/* (look at older watches, too: late events of a program can come when the next one is already
 * traced) */
struct leak_watch *leaks_watch_at(const struct leaks *l, uint32_t pid, uint64_t ts_ns)
{
	const struct leak_process *p = table_get(&l->by_pid, (uint64_t)pid + 1);
	struct leak_watch *w = p ? p->watch : NULL;

	while (w && w->begin_ns > ts_ns)
		w = w->older;
	return w && (w->end_ns == 0 || ts_ns <= w->end_ns) ? w : NULL;
}

/* ---- watches ---- */

void leak_watch_close(struct leak_watch *w, uint64_t ts_ns)
{
	w->open = false;
	w->end_ns = ts_ns > w->begin_ns ? ts_ns : w->begin_ns;
}

uint64_t leak_watch_age(const struct leak_watch *w, uint64_t ts_ns)
{
	return ts_ns > w->begin_ns ? ts_ns - w->begin_ns : 0;
}

static bool leaks_is_wanted(const struct leaks_options *o, uint32_t pid, uint32_t real_pid)
{
	for (size_t i = 0; i < o->n_pids; i++)
		if (o->pids[i] == pid || o->pids[i] == real_pid)
			return true;
	return o->n_pids == 0;
}

static int leaks_add_watch(struct leaks *l, struct leak_watch *w)
{
	if (GROW(l->watches, l->room_watches, l->n_watches + 1) < 0)
		return -ENOMEM;
	l->watches[l->n_watches++] = w;
	return 0;
}

/*
 * Returns true if EV is a repetition of the begin of W: of two archives that were cut from one
 * recording, the second one begins with such repetitions.
 */
static bool leaks_is_repeated(const struct leak_watch *w, const struct event *ev)
{
	return w && w->open && !w->ran_other && ev->ts_ns >= w->begin_ns &&
	       w->complete == ev->watch.complete && w->interval == ev->watch.interval &&
	       w->min_bytes == ev->watch.min_bytes &&
	       strcmp(w->resources, ev->watch.resources) == 0 &&
	       strcmp(w->unwatched, ev->watch.unwatched) == 0 &&
	       strcmp(w->allocators, ev->watch.allocators) == 0;
}

static int leaks_on_watch_begin(struct leaks *l, const struct event *ev)
{
	struct leak_process *p = leaks_get_process(l, ev->pid);
	struct leak_watch *w, **link;

	if (!p)
		return -ENOMEM;
	if (leaks_is_repeated(p->watch, ev)) {
		leak_watch_finish_repetition(p->watch, ev->ts_ns);
		p->watch->repeated_ns = ev->ts_ns;
		p->watch->sequence++;
		return 0;
	}
	l->n_processes_seen += p->n_watches++ == 0;
	if (!leaks_is_wanted(&l->options, ev->pid, p->real_pid))
		return 0;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	*w = (struct leak_watch){
		.pid = ev->pid,
		.number = p->n_watches,
		.name = "",
		.program = "",
		.begin_ns = ev->ts_ns,
		.resources = leaks_keep_text(l, ev->watch.resources),
		.allocators = leaks_keep_text(l, ev->watch.allocators),
		.unwatched = leaks_keep_text(l, ev->watch.unwatched),
		.reason = "",
		.gap = "",
		.unsearched = "",
		.complete = ev->watch.complete,
		.interval = ev->watch.interval,
		.min_bytes = ev->watch.min_bytes,
		.open = true,
	};
	if (!w->resources || !w->allocators || !w->unwatched || leaks_add_watch(l, w) < 0) {
		free(w);
		return -ENOMEM;
	}
	for (link = &p->watch; *link && (*link)->begin_ns > w->begin_ns;)
		link = &(*link)->older;
	w->older = *link;
	*link = w;
	return 0;
}

static int leaks_on_watch_end(struct leaks *l, const struct event *ev)
{
	struct leak_watch *w = leaks_watch_at(l, ev->pid, ev->ts_ns);

	if (!w)
		return 0;
	leak_watch_finish_repetition(w, ev->ts_ns);
	w->reason = leaks_keep_text(l, ev->watched.reason);
	w->gap = leaks_keep_text(l, ev->watched.gap);
	w->unsearched = leaks_keep_text(l, ev->watched.unsearched);
	if (!w->reason || !w->gap || !w->unsearched)
		return -ENOMEM;
	/*
	 * An allocator got its probes late, after W's begin was written: a program that is stopped,
	 * for example by a debugger, loads its libraries late.
	 */
	if (*w->gap && w->has_memory)
		w->unwatched = "";
	w->complete &= !*w->gap;
	w->vforked = ev->watched.vforked;
	w->searched = ev->watched.searched;
	w->unmatched = ev->watched.unmatched;
	w->failed = ev->watched.failed;
	w->lost = ev->watched.lost;
	w->full = ev->watched.full;
	w->no_stack = ev->watched.no_stack;
	leak_watch_close(w, ev->ts_ns);
	return 0;
}

/* ---- groups ---- */

static struct leak_group *leaks_get_group(struct leak_watch *w, enum resource resource,
					  uint64_t stack)
{
	uint64_t node = (uint64_t)(uintptr_t)(stack ? table_get(&w->stacks, stack) : NULL);
	const uint64_t key[] = { resource, node };
	uint64_t hash = table_hash(key, sizeof(key));
	struct leak_group *first = table_get(&w->by_key, hash), *g;

	for (g = first; g; g = g->next)
		if (g->resource == resource && g->node == (node ? node - 1 : 0))
			return g;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->resource = resource;
	w->has_memory |= resource == RESOURCE_MEMORY;
	g->node = node ? (uint32_t)(node - 1) : 0;
	g->next = first;
	if (table_set(&w->by_key, hash, g) < 0) {
		free(g);
		return NULL;
	}
	w->n_made++;
	return g;
}

static void leaks_add_live(struct leak_watch *w, struct leak_group *g, uint64_t size,
			   uint64_t ts_ns)
{
	g->live_bytes += size;
	if (w->n_usage_times == 0)
		leak_trend_set(&g->trend, leak_watch_age(w, ts_ns), g->live_bytes);
}

static void leaks_subtract_live(struct leak_watch *w, struct leak_group *g, uint64_t size,
				uint64_t ts_ns)
{
	g->live_bytes -= size;
	if (w->n_usage_times == 0)
		leak_trend_set(&g->trend, leak_watch_age(w, ts_ns), g->live_bytes);
}

static int leaks_on_stack(struct leaks *l, const struct event *ev)
{
	struct leak_watch *w = leaks_watch_at(l, ev->pid, ev->ts_ns);
	uint32_t node;
	int r;

	if (!w || ev->sample.id == 0)
		return 0;
	if (ev->ts_ns == w->repeated_ns && table_get(&w->stacks, ev->sample.id))
		return 0;
	r = profile_keep_stack(l->profile, ev, &node);
	return r < 0 ? r : table_set(&w->stacks, ev->sample.id, (void *)((uintptr_t)node + 1));
}

/* ---- blocks ---- */

static uint64_t leaks_hash_block(enum resource resource, uint64_t id)
{
	const uint64_t key[] = { resource, id };

	return table_hash(key, sizeof(key));
}

static struct leak_block *leaks_find_block(const struct leak_watch *w, enum resource resource,
					   uint64_t id)
{
	struct leak_block *b = table_get(&w->by_id, leaks_hash_block(resource, id));

	while (b && (b->group->resource != resource || b->id != id))
		b = b->next;
	return b;
}

static void leaks_remove_block(struct leak_watch *w, struct leak_block *b, uint64_t ts_ns)
{
	uint64_t hash = leaks_hash_block(b->group->resource, b->id);
	struct leak_block *first = table_get(&w->by_id, hash), **link = &first;

	while (*link != b)
		link = &(*link)->next;
	*link = b->next;
	/* This cannot fail, since the entry exists. */
	if (first)
		table_set(&w->by_id, hash, first);
	else
		table_remove(&w->by_id, hash);
	*(b->before ? &b->before->after : &w->first) = b->after;
	if (b->after)
		b->after->before = b->before;
	leaks_subtract_live(w, b->group, b->size, ts_ns);
	free(b);
}

/* Updates B from EV. */
static int leaks_describe(struct leaks *l, struct leak_block *b, const struct event *ev)
{
	b->since_ns = ev->kind == EVENT_ALLOC ? ev->ts_ns : ev->block.since_ns;
	b->thread = ev->kind == EVENT_ALLOC ? ev->tid : ev->block.thread;
	b->context = ev->block.context;
	b->reach = ev->block.reach;
	b->function = leaks_keep_text(l, ev->block.function);
	b->text = leaks_keep_text(l, ev->block.text);
	return b->function && b->text ? 0 : -ENOMEM;
}

static int leaks_add_block(struct leaks *l, struct leak_watch *w, const struct event *ev)
{
	uint64_t hash = leaks_hash_block(ev->block.resource, ev->block.id);
	struct leak_group *g = leaks_get_group(w, ev->block.resource, ev->block.stack);
	struct leak_block *b = g ? calloc(1, sizeof(*b)) : NULL;

	if (!b)
		return -ENOMEM;
	*b = (struct leak_block){
		.id = ev->block.id,
		.size = ev->block.size,
		.sequence = w->sequence,
		.group = g,
		.next = table_get(&w->by_id, hash),
		.after = w->first,
	};
	if (leaks_describe(l, b, ev) < 0 || table_set(&w->by_id, hash, b) < 0) {
		free(b);
		return -ENOMEM;
	}
	if (w->first)
		w->first->before = b;
	w->first = b;
	leaks_add_live(w, g, b->size, ev->ts_ns);
	return 0;
}

static int leaks_on_alloc(struct leaks *l, struct leak_watch *w, const struct event *ev)
{
	struct leak_block *b = leaks_find_block(w, ev->block.resource, ev->block.id);

	w->logged = true;
	if (b) {
		w->replaced++;
		leaks_remove_block(w, b, ev->ts_ns);
	}
	return leaks_add_block(l, w, ev);
}

static void leaks_on_free(struct leak_watch *w, const struct event *ev)
{
	struct leak_block *b = leaks_find_block(w, ev->block.resource, ev->block.id);

	w->logged = true;
	if (b)
		leaks_remove_block(w, b, ev->ts_ns);
	else
		w->own_unmatched++;
}

/*
 * Removes the blocks that the last snapshot, taken at TS_NS, does not have. Blocks that were
 * allocated later are kept: they were recorded while the snapshot was read.
 */
static void leaks_sweep(struct leak_watch *w, uint64_t ts_ns)
{
	struct leak_block *after;

	for (struct leak_block *b = w->first; b; b = after) {
		after = b->after;
		if (b->sequence != w->sequence && b->since_ns <= ts_ns)
			leaks_remove_block(w, b, ts_ns);
	}
}

/* A repeated begin is followed by all live blocks. So blocks that are not repeated were freed in a
 * part of the recording that is missing. (If not every allocation was recorded, live blocks come
 * only from snapshots.) */
void leak_watch_finish_repetition(struct leak_watch *w, uint64_t ts_ns)
{
	if (w->repeated_ns && w->logged)
		leaks_sweep(w, w->repeated_ns < ts_ns ? w->repeated_ns : ts_ns);
	w->repeated_ns = 0;
}

static void leaks_on_snapshot(struct leak_watch *w, const struct event *ev)
{
	w->n_snapshots++;
	w->snapshot_ns = ev->ts_ns;
	w->sequence++;
	w->missing = ev->snapshot.blocks + ev->snapshot.lost;
	if (w->missing == 0)
		leaks_sweep(w, ev->ts_ns);
}

/*
 * Handles an event with a block, which can be known already. If the event has the time of the
 * snapshot, the block belongs to the snapshot; otherwise the block is one that lives at the begin
 * of a cut.
 */
static int leaks_on_block(struct leaks *l, struct leak_watch *w, const struct event *ev)
{
	struct leak_block *b = leaks_find_block(w, ev->block.resource, ev->block.id);
	struct leak_group *g = leaks_get_group(w, ev->block.resource, ev->block.stack);
	int r = 0;

	if (!g)
		return -ENOMEM;
	if (b && (b->group != g || b->size != ev->block.size)) {
		leaks_remove_block(w, b, ev->ts_ns);
		b = NULL;
	}
	if (b) {
		b->sequence = w->sequence;
		r = leaks_describe(l, b, ev);
	} else {
		r = leaks_add_block(l, w, ev);
	}
	if (r == 0 && w->missing > 0 && ev->ts_ns == w->snapshot_ns && --w->missing == 0)
		leaks_sweep(w, ev->ts_ns);
	return r;
}

/* ---- sums ---- */

static struct leak_sum *leaks_get_sum(struct leak_watch *w, const struct event *ev)
{
	uint64_t key[] = { ev->usage.resource, ev->usage.stack };
	uint64_t hash = table_hash(key, sizeof(key));
	struct leak_sum *sum = table_make(&w->sums, hash, sizeof(*sum));

	if (sum && !sum->group)
		sum->group = leaks_get_group(w, ev->usage.resource, ev->usage.stack);
	return sum && sum->group ? sum : NULL;
}

static int leaks_on_usage(struct leak_watch *w, const struct event *ev)
{
	struct leak_sum *sum = leaks_get_sum(w, ev);
	struct leak_group *g;

	if (!sum)
		return -ENOMEM;
	g = sum->group;
	/* A sum that only repeats the last one, after a repeated begin, does not show that nothing
	 * has grown. */
	if (ev->ts_ns == w->repeated_ns && ev->usage.bytes == sum->bytes &&
	    ev->usage.allocations == sum->allocations)
		return 0;
	if (ev->ts_ns != w->last_usage_ns || w->n_usage_times == 0) {
		w->last_usage_ns = ev->ts_ns;
		w->n_usage_times++;
	}
	/* Add only the change: several ids can have the same stack, and each id has its own sum. */
	g->live_blocks += ev->usage.blocks - sum->blocks;
	g->usage_bytes += ev->usage.bytes - sum->bytes;
	g->allocations += ev->usage.allocations - sum->allocations;
	if (g->usage_first_ns == 0)
		g->usage_first_ns = ev->ts_ns;
	if (ev->usage.allocations > sum->allocations)
		g->usage_last_ns = ev->ts_ns;
	sum->blocks = ev->usage.blocks;
	sum->bytes = ev->usage.bytes;
	sum->allocations = ev->usage.allocations;
	leak_trend_set(&g->trend, leak_watch_age(w, ev->ts_ns), g->usage_bytes);
	return 0;
}

/* ---- events ---- */

static int leaks_on_context(struct leaks *l, const struct event *ev)
{
	struct leak_context *c = l->contexts;

	for (; c < l->contexts + l->n_contexts; c++)
		if (c->id == ev->context.id && strcmp(c->name, ev->context.name) == 0)
			return 0;
	if (l->n_contexts == LEAK_CONTEXTS_MAX)
		return 0;
	c->id = ev->context.id;
	c->name = leaks_keep_text(l, ev->context.name);
	if (!c->name)
		return -ENOMEM;
	l->n_contexts++;
	return 0;
}

static int leaks_on_watch_event(struct leaks *l, const struct event *ev)
{
	struct leak_watch *w = leaks_watch_at(l, ev->pid, ev->ts_ns);

	if (!w) {
		l->n_stray++;
		return 0;
	}
	if (w->repeated_ns && ev->ts_ns > w->repeated_ns)
		leak_watch_finish_repetition(w, ev->ts_ns);
	switch (ev->kind) {
	case EVENT_SNAPSHOT:
		leaks_on_snapshot(w, ev);
		return 0;
	case EVENT_USAGE:
		return leaks_on_usage(w, ev);
	case EVENT_ALLOC:
		return leaks_on_alloc(l, w, ev);
	case EVENT_BLOCK:
		return leaks_on_block(l, w, ev);
	default:
		leaks_on_free(w, ev);
		return 0;
	}
}

int leaks_add(struct leaks *l, const struct event *ev)
{
	int r = profile_add(l->profile, ev);

	if (r < 0)
		return r;
	if (ev->ts_ns > l->end_ns)
		l->end_ns = ev->ts_ns;
	switch (ev->kind) {
	case EVENT_TASK:
		return leaks_on_task(l, ev);
	case EVENT_RENAME:
		return ev->pid == ev->tid ? leaks_on_rename(l, ev) : 0;
	case EVENT_EXEC:
		return leaks_on_exec(l, ev);
	case EVENT_FORK:
		return leaks_on_fork(l, ev);
	case EVENT_LOST:
		if (strcmp(ev->lost.class_name, event_class_names[CLASS_MEMORY]) == 0)
			l->n_lost += ev->lost.count;
		return 0;
	case EVENT_WATCH_BEGIN:
		return leaks_on_watch_begin(l, ev);
	case EVENT_WATCH_END:
		return leaks_on_watch_end(l, ev);
	case EVENT_SAMPLE:
		return ev->sample.kind == SAMPLE_NAMED ? leaks_on_stack(l, ev) : 0;
	case EVENT_SNAPSHOT:
	case EVENT_USAGE:
	case EVENT_ALLOC:
	case EVENT_FREE:
	case EVENT_BLOCK:
		return leaks_on_watch_event(l, ev);
	case EVENT_CONTEXT:
		return leaks_on_context(l, ev);
	default:
		return 0;
	}
}
