/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/leaks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More names of a process are not remembered: the oldest is forgotten. */
enum { NAMES_MAX = 32 };

/* What is known of a process, and who watches it. Texts are of the leaks. */
struct process {
	uint32_t real_pid;
	unsigned n_watches;
	const char *task;         /* as its kernel object calls it; that has no time */
	struct leak_watch *watch; /* the one that begins last; NULL = none */
	struct process_name {
		uint64_t ts_ns; /* from then on */
		const char *name, *program;
	} names[NAMES_MAX]; /* in the order of the archive */
	size_t n_names;
};

/* The last EVENT_USAGE of a stack's id. */
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
	struct leak_sum *sum;

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
	for (size_t pos = 0; (sum = table_next(&w->sums, &pos));)
		free(sum);
	table_deinit(&w->stacks);
	table_deinit(&w->by_key);
	table_deinit(&w->by_id);
	table_deinit(&w->sums);
	free(w->groups);
	free(w);
}

struct leaks *leaks_free(struct leaks *l)
{
	struct process *p;

	if (!l)
		return NULL;
	for (size_t i = 0; i < l->n_watches; i++)
		leak_watch_free(l->watches[i]);
	free(l->watches);
	for (size_t pos = 0; (p = table_next(&l->by_pid, &pos));)
		free(p);
	table_deinit(&l->by_pid);
	text_set_deinit(&l->texts);
	profile_free(l->profile);
	free(l);
	return NULL;
}

static const char *keep_text(struct leaks *l, const char *text)
{
	return *text ? text_set_keep(&l->texts, text) : "";
}

/* ---- processes ---- */

static struct process *get_process(struct leaks *l, uint32_t pid)
{
	struct process *p = table_get(&l->by_pid, (uint64_t)pid + 1);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	*p = (struct process){ .real_pid = pid, .task = "" };
	if (table_set(&l->by_pid, (uint64_t)pid + 1, p) < 0) {
		free(p);
		return NULL;
	}
	return p;
}

/* (events may come late: those of one program when the next one is watched already) */
struct leak_watch *leaks_watch_at(const struct leaks *l, uint32_t pid, uint64_t ts_ns)
{
	const struct process *p = table_get(&l->by_pid, (uint64_t)pid + 1);
	struct leak_watch *w = p ? p->watch : NULL;

	while (w && w->begin_ns > ts_ns)
		w = w->older;
	return w && (w->end_ns == 0 || ts_ns <= w->end_ns) ? w : NULL;
}

static void push_name(struct process *p, const struct process_name *name)
{
	if (p->n_names == NAMES_MAX) {
		memmove(p->names, p->names + 1, (NAMES_MAX - 1) * sizeof(*p->names));
		p->n_names--;
	}
	p->names[p->n_names++] = *name;
}

static int take_rename(struct leaks *l, const struct event *ev)
{
	struct process *p = get_process(l, ev->pid);
	struct process_name name = { ev->ts_ns, keep_text(l, ev->rename.to), "" };
	struct process_name before = { 0, keep_text(l, ev->rename.from), "" };

	if (!p || !name.name || !before.name)
		return -ENOMEM;
	if (p->n_names == 0 && *before.name)
		push_name(p, &before);
	name.program = p->n_names ? p->names[p->n_names - 1].program : "";
	push_name(p, &name);
	return 0;
}

/* The kernel gives a program its name a moment before it says that it runs. */
static int take_exec(struct leaks *l, const struct event *ev)
{
	struct process *p = get_process(l, ev->pid);
	const char *slash = strrchr(ev->exec.file, '/');
	struct process_name name = { ev->ts_ns, "", keep_text(l, ev->exec.file) };
	struct process_name *last;

	if (!p || !name.program)
		return -ENOMEM;
	last = p->n_names ? &p->names[p->n_names - 1] : NULL;
	if (last && *last->name &&
	    strncmp(slash ? slash + 1 : ev->exec.file, last->name, strlen(last->name)) == 0) {
		last->ts_ns = ev->ts_ns;
		last->program = name.program;
		return 0;
	}
	name.name = last ? last->name : "";
	push_name(p, &name);
	return 0;
}

/* A child is what its parent was. */
static int take_fork(struct leaks *l, const struct event *ev)
{
	const struct process *parent = table_get(&l->by_pid, (uint64_t)ev->pid + 1);
	struct process *child;

	if (!parent || parent->n_names == 0 || ev->fork.child_pid == ev->pid)
		return 0;
	child = get_process(l, ev->fork.child_pid);
	if (!child)
		return -ENOMEM;
	push_name(child, &parent->names[parent->n_names - 1]);
	return 0;
}

/* What the process of W was called when it ended, before anything that it was called from then on. */
static void name_watch(const struct leaks *l, struct leak_watch *w)
{
	const struct process *p = table_get(&l->by_pid, (uint64_t)w->pid + 1);
	bool execs = strcmp(w->reason, "exec") == 0;

	w->real_pid = p->real_pid;
	w->name = w->program = "";
	for (size_t i = 0; i < p->n_names; i++) {
		if (p->names[i].ts_ns > w->end_ns || (execs && p->names[i].ts_ns == w->end_ns))
			continue;
		w->name = p->names[i].name;
		w->program = p->names[i].program;
	}
	if (!*w->name)
		w->name = p->task;
}

/* ---- watches ---- */

static void close_watch(struct leak_watch *w, uint64_t ts_ns)
{
	w->open = false;
	w->end_ns = ts_ns > w->begin_ns ? ts_ns : w->begin_ns;
}

static bool is_wanted(const struct leaks_options *o, uint32_t pid, uint32_t real_pid)
{
	for (size_t i = 0; i < o->n_pids; i++)
		if (o->pids[i] == pid || o->pids[i] == real_pid)
			return true;
	return o->n_pids == 0;
}

static int add_watch(struct leaks *l, struct leak_watch *w)
{
	if (l->n_watches == l->room_watches) {
		size_t room = l->room_watches ? 2 * l->room_watches : 16;
		struct leak_watch **more = realloc(l->watches, room * sizeof(struct leak_watch *));

		if (!more)
			return -ENOMEM;
		l->watches = more;
		l->room_watches = room;
	}
	l->watches[l->n_watches++] = w;
	return 0;
}

static int take_watch(struct leaks *l, const struct event *ev)
{
	struct process *p = get_process(l, ev->pid);
	struct leak_watch *w, **link;

	if (!p)
		return -ENOMEM;
	l->n_processes_seen += p->n_watches++ == 0;
	if (!is_wanted(&l->options, ev->pid, p->real_pid))
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
		.resources = keep_text(l, ev->watch.resources),
		.allocators = keep_text(l, ev->watch.allocators),
		.reason = "",
		.complete = ev->watch.complete,
		.interval = ev->watch.interval,
		.min_bytes = ev->watch.min_bytes,
		.open = true,
	};
	if (!w->resources || !w->allocators || add_watch(l, w) < 0) {
		free(w);
		return -ENOMEM;
	}
	for (link = &p->watch; *link && (*link)->begin_ns > w->begin_ns;)
		link = &(*link)->older;
	w->older = *link;
	*link = w;
	return 0;
}

static int take_watched(struct leaks *l, const struct event *ev)
{
	struct leak_watch *w = leaks_watch_at(l, ev->pid, ev->ts_ns);

	if (!w)
		return 0;
	w->reason = keep_text(l, ev->watched.reason);
	if (!w->reason)
		return -ENOMEM;
	w->unmatched = ev->watched.unmatched;
	w->failed = ev->watched.failed;
	w->lost = ev->watched.lost;
	w->full = ev->watched.full;
	w->no_stack = ev->watched.no_stack;
	close_watch(w, ev->ts_ns);
	return 0;
}

/* ---- groups ---- */

static struct leak_group *get_group(struct leak_watch *w, enum resource resource, uint64_t stack)
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
	g->node = node ? (uint32_t)(node - 1) : 0;
	g->next = first;
	if (table_set(&w->by_key, hash, g) < 0) {
		free(g);
		return NULL;
	}
	w->n_made++;
	return g;
}

static uint64_t age_at(const struct leak_watch *w, uint64_t ts_ns)
{
	return ts_ns > w->begin_ns ? ts_ns - w->begin_ns : 0;
}

static void add_live(struct leak_watch *w, struct leak_group *g, uint64_t size, uint64_t ts_ns)
{
	g->live_bytes += size;
	if (w->n_usage_times == 0)
		leak_trend_set(&g->trend, age_at(w, ts_ns), g->live_bytes);
}

static void take_live(struct leak_watch *w, struct leak_group *g, uint64_t size, uint64_t ts_ns)
{
	g->live_bytes -= size;
	if (w->n_usage_times == 0)
		leak_trend_set(&g->trend, age_at(w, ts_ns), g->live_bytes);
}

static int take_stack(struct leaks *l, const struct event *ev)
{
	struct leak_watch *w = leaks_watch_at(l, ev->pid, ev->ts_ns);
	uint32_t node;
	int r;

	if (!w || ev->sample.id == 0)
		return 0;
	r = profile_keep_stack(l->profile, ev, &node);
	if (r < 0)
		return r;
	return table_set(&w->stacks, ev->sample.id, (void *)((uintptr_t)node + 1));
}

/* ---- blocks ---- */

static uint64_t hash_block(enum resource resource, uint64_t id)
{
	const uint64_t key[] = { resource, id };

	return table_hash(key, sizeof(key));
}

static struct leak_block *find_block(const struct leak_watch *w, enum resource resource,
				     uint64_t id)
{
	struct leak_block *b = table_get(&w->by_id, hash_block(resource, id));

	while (b && (b->group->resource != resource || b->id != id))
		b = b->next;
	return b;
}

static void remove_block(struct leak_watch *w, struct leak_block *b, uint64_t ts_ns)
{
	uint64_t hash = hash_block(b->group->resource, b->id);
	struct leak_block *first = table_get(&w->by_id, hash), **link = &first;

	while (*link != b)
		link = &(*link)->next;
	*link = b->next;
	/* Cannot fail: its place is there. */
	if (first)
		table_set(&w->by_id, hash, first);
	else
		table_remove(&w->by_id, hash);
	*(b->before ? &b->before->after : &w->first) = b->after;
	if (b->after)
		b->after->before = b->before;
	take_live(w, b->group, b->size, ts_ns);
	free(b);
}

/* Fills in what EV says. */
static int describe(struct leaks *l, struct leak_block *b, const struct event *ev)
{
	b->since_ns = ev->kind == EVENT_ALLOC ? ev->ts_ns : ev->block.since_ns;
	b->thread = ev->kind == EVENT_ALLOC ? ev->tid : ev->block.thread;
	b->context = ev->block.context;
	b->reach = ev->block.reach;
	b->function = keep_text(l, ev->block.function);
	b->text = keep_text(l, ev->block.text);
	return b->function && b->text ? 0 : -ENOMEM;
}

static int add_block(struct leaks *l, struct leak_watch *w, const struct event *ev)
{
	uint64_t hash = hash_block(ev->block.resource, ev->block.id);
	struct leak_group *g = get_group(w, ev->block.resource, ev->block.stack);
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
	if (describe(l, b, ev) < 0 || table_set(&w->by_id, hash, b) < 0) {
		free(b);
		return -ENOMEM;
	}
	if (w->first)
		w->first->before = b;
	w->first = b;
	add_live(w, g, b->size, ev->ts_ns);
	return 0;
}

static bool wants_resource(const struct leaks *l, enum resource resource)
{
	return l->options.resources == 0 || l->options.resources & 1u << resource;
}

static int take_alloc(struct leaks *l, struct leak_watch *w, const struct event *ev)
{
	struct leak_block *b = find_block(w, ev->block.resource, ev->block.id);

	w->logged = true;
	if (b) {
		w->replaced++;
		remove_block(w, b, ev->ts_ns);
	}
	return add_block(l, w, ev);
}

static void take_free(struct leak_watch *w, const struct event *ev)
{
	struct leak_block *b = find_block(w, ev->block.resource, ev->block.id);

	w->logged = true;
	if (b)
		remove_block(w, b, ev->ts_ns);
	else
		w->own_unmatched++;
}

/* Those that the last snapshot, of TS_NS, did not have are not there any more; but for those that were made since, and
 * were recorded before it had been read. */
static void sweep(struct leak_watch *w, uint64_t ts_ns)
{
	struct leak_block *after;

	for (struct leak_block *b = w->first; b; b = after) {
		after = b->after;
		if (b->sequence != w->sequence && b->since_ns <= ts_ns)
			remove_block(w, b, ts_ns);
	}
}

static void take_snapshot(struct leak_watch *w, const struct event *ev)
{
	w->n_snapshots++;
	w->snapshot_ns = ev->ts_ns;
	w->sequence++;
	w->missing = ev->snapshot.blocks;
	if (w->missing == 0)
		sweep(w, ev->ts_ns);
}

/* A block of a snapshot. It may be one that is known. */
static int take_block(struct leaks *l, struct leak_watch *w, const struct event *ev)
{
	struct leak_block *b = find_block(w, ev->block.resource, ev->block.id);
	struct leak_group *g = get_group(w, ev->block.resource, ev->block.stack);
	int r = 0;

	if (!g)
		return -ENOMEM;
	if (b && (b->group != g || b->size != ev->block.size)) {
		remove_block(w, b, ev->ts_ns);
		b = NULL;
	}
	if (b) {
		b->sequence = w->sequence;
		r = describe(l, b, ev);
	} else {
		r = add_block(l, w, ev);
	}
	if (r == 0 && w->missing > 0 && --w->missing == 0)
		sweep(w, ev->ts_ns);
	return r;
}

/* ---- sums ---- */

static struct leak_sum *get_sum(struct leak_watch *w, const struct event *ev)
{
	uint64_t key[] = { ev->usage.resource, ev->usage.stack };
	uint64_t hash = table_hash(key, sizeof(key));
	struct leak_sum *sum = table_get(&w->sums, hash);

	if (sum)
		return sum;
	sum = calloc(1, sizeof(*sum));
	if (!sum)
		return NULL;
	sum->group = get_group(w, ev->usage.resource, ev->usage.stack);
	if (!sum->group || table_set(&w->sums, hash, sum) < 0) {
		free(sum);
		return NULL;
	}
	return sum;
}

static int take_usage(struct leak_watch *w, const struct event *ev)
{
	struct leak_sum *sum = get_sum(w, ev);
	struct leak_group *g;

	if (!sum)
		return -ENOMEM;
	g = sum->group;
	if (ev->ts_ns != w->last_usage_ns || w->n_usage_times == 0) {
		w->last_usage_ns = ev->ts_ns;
		w->n_usage_times++;
	}
	/* (of several ids with one stack each has its own) */
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
	leak_trend_set(&g->trend, age_at(w, ev->ts_ns), g->usage_bytes);
	return 0;
}

/* ---- events ---- */

static int take_context(struct leaks *l, const struct event *ev)
{
	struct leak_context *c = l->contexts;

	for (; c < l->contexts + l->n_contexts; c++)
		if (c->id == ev->context.id && strcmp(c->name, ev->context.name) == 0)
			return 0;
	if (l->n_contexts == LEAK_CONTEXTS_MAX)
		return 0;
	c->id = ev->context.id;
	c->name = keep_text(l, ev->context.name);
	if (!c->name)
		return -ENOMEM;
	l->n_contexts++;
	return 0;
}

static int take_of_watch(struct leaks *l, const struct event *ev)
{
	struct leak_watch *w = leaks_watch_at(l, ev->pid, ev->ts_ns);

	if (!w) {
		l->n_stray++;
		return 0;
	}
	switch (ev->kind) {
	case EVENT_SNAPSHOT:
		take_snapshot(w, ev);
		return 0;
	case EVENT_USAGE:
		return take_usage(w, ev);
	case EVENT_ALLOC:
		return take_alloc(l, w, ev);
	case EVENT_BLOCK:
		return take_block(l, w, ev);
	default:
		take_free(w, ev);
		return 0;
	}
}

static int take_task(struct leaks *l, const struct event *ev)
{
	struct process *p;

	bool is_process = ev->task.is_process;

	if (!is_process && (ev->tid != ev->pid || ev->task.real_tid == 0))
		return 0;
	p = get_process(l, ev->pid);
	if (!p)
		return -ENOMEM;
	if (is_process)
		p->task = keep_text(l, ev->task.comm);
	else
		p->real_pid = ev->task.real_tid;
	return p->task ? 0 : -ENOMEM;
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
		return take_task(l, ev);
	case EVENT_RENAME:
		return ev->pid == ev->tid ? take_rename(l, ev) : 0;
	case EVENT_EXEC:
		return take_exec(l, ev);
	case EVENT_FORK:
		return take_fork(l, ev);
	case EVENT_LOST:
		if (strcmp(ev->lost.class_name, event_class_names[CLASS_MEMORY]) == 0)
			l->n_lost += ev->lost.count;
		return 0;
	case EVENT_WATCH:
		return take_watch(l, ev);
	case EVENT_WATCHED:
		return take_watched(l, ev);
	case EVENT_SAMPLE:
		return ev->sample.kind == SAMPLE_NAMED ? take_stack(l, ev) : 0;
	case EVENT_SNAPSHOT:
	case EVENT_USAGE:
	case EVENT_ALLOC:
	case EVENT_FREE:
	case EVENT_BLOCK:
		return take_of_watch(l, ev);
	case EVENT_CONTEXT:
		return take_context(l, ev);
	default:
		return 0;
	}
}

/* ---- the end ---- */

/* TEXT is one more of those at LIST, if there is room. */
static void note_text(const char **list, const char *text)
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

static void count_block(const struct leak_watch *w, struct leak_block *b)
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
	note_text(g->functions, b->function);
	note_text(g->texts, b->text);
}

/* What is known of a group without its blocks. All of a stack are about as large, usually. */
static void count_sums(const struct leak_watch *w, struct leak_group *g)
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

static uint64_t age_of(const struct leak_watch *w, uint64_t since_ns)
{
	return w->end_ns > since_ns ? w->end_ns - since_ns : 0;
}

static void judge(const struct leak_watch *w, struct leak_group *g)
{
	/* How often sums were written: windows that are shorter would see nothing in most of them. */
	uint64_t looked_ns =
		w->n_usage_times > 0 ? age_at(w, w->end_ns) / w->n_usage_times * 5 / 4 : 0;
	struct leak_evidence e = {
		.lost = g->reach[REACH_LOST],
		.possible = g->reach[REACH_POSSIBLE],
		.unknown = g->reach[REACH_UNKNOWN],
		.program_ended = strcmp(w->reason, "exit") == 0 || strcmp(w->reason, "exec") == 0,
		.watched_ns = age_at(w, w->end_ns),
		.oldest_ns = age_of(w, g->first_ns ?: w->begin_ns),
		.youngest_ns = age_of(w, g->last_ns ?: w->begin_ns),
	};

	leak_trend_finish(&g->trend, age_at(w, w->end_ns), looked_ns, &g->growth);
	e.growth = g->growth;
	g->verdict = leak_verdict(&e);
}

static int compare_groups(const void *a, const void *b)
{
	const struct leak_group *x = *(struct leak_group *const *)a;
	const struct leak_group *y = *(struct leak_group *const *)b;

	if (x->verdict != y->verdict)
		return x->verdict < y->verdict ? -1 : 1;
	if (x->all.bytes != y->all.bytes)
		return x->all.bytes > y->all.bytes ? -1 : 1;
	if (x->blocks != y->blocks)
		return x->blocks > y->blocks ? -1 : 1;
	if (x->resource != y->resource)
		return x->resource < y->resource ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Adds G and those of its hash, if they have blocks. */
static void list_chain(struct leak_watch *w, struct leak_group *g)
{
	for (; g; g = g->next) {
		g->left_out = g->blocks == 0;
		if (!g->left_out)
			w->groups[w->n_groups++] = g;
	}
}

static int list_groups(struct leaks *l, struct leak_watch *w)
{
	struct leak_group *g;

	w->groups = calloc(w->n_made + 1, sizeof(*w->groups));
	if (!w->groups)
		return -ENOMEM;
	for (size_t pos = 0; w->from_sums && (g = table_next(&w->by_key, &pos));)
		for (; g; g = g->next)
			if (wants_resource(l, g->resource))
				count_sums(w, g);
	for (size_t pos = 0; (g = table_next(&w->by_key, &pos));)
		list_chain(w, g);
	return 0;
}

static int finish_watch(struct leaks *l, struct leak_watch *w, uint32_t context)
{
	const struct leaks_options *o = &l->options;
	int r;

	if (w->open)
		close_watch(w, w->newer_begin_ns ?: l->end_ns);
	name_watch(l, w);
	if (!*w->reason)
		w->unmatched = w->own_unmatched;
	for (struct leak_block *b = w->first; b; b = b->after) {
		b->wanted = wants_resource(l, b->group->resource) &&
			    (!o->context || b->context & context) &&
			    age_of(w, b->since_ns ?: w->begin_ns) >= o->min_age_ns;
		if (b->wanted)
			count_block(w, b);
	}
	/* (of what there are only sums for, nobody knows contexts and ages) */
	w->from_sums =
		w->n_snapshots == 0 && !w->logged && !w->first && !o->context && o->min_age_ns == 0;
	r = list_groups(l, w);
	if (r < 0)
		return r;
	for (size_t i = 0; i < w->n_groups; i++)
		judge(w, w->groups[i]);
	qsort(w->groups, w->n_groups, sizeof(*w->groups), compare_groups);
	return 0;
}

static int compare_watches(const void *a, const void *b)
{
	const struct leak_watch *x = *(struct leak_watch *const *)a;
	const struct leak_watch *y = *(struct leak_watch *const *)b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* By time, and those of one process with their numbers. */
static void order_watches(struct leaks *l)
{
	if (l->n_watches > 0)
		qsort(l->watches, l->n_watches, sizeof(*l->watches), compare_watches);
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
	order_watches(l);
	for (size_t i = 0; r == 0 && i < l->n_watches; i++)
		r = finish_watch(l, l->watches[i], context);
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
