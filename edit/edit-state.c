/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"
#include "edit/edit-find.h"
#include "edit/edit-kept.h"

/* What is more is not kept. */
#define BYTES_MAX ((size_t)128 << 20)

/* Threads and processes that have ended are forgotten after so long, or when there are more of them. */
#define ENDED_NS ((uint64_t)1000000000)
enum { ENDED_MAX = 1024 };

enum kind {
	NOTHING,
	PROCESS,
	THREAD,
	OBJECT,
	/* A child has what its parent has, until exec: */
	MODULE,
	MMAP,
	MAPPING,
	COUNTER,
	FRAME,
	SAMPLING,
	/* Of what programs allocate, as long as they are watched: */
	WATCH,
	STACK,       /* the event */
	STACK_TRACE, /* and its frames */
	USAGE,
	ALLOC, /* that lives */
	CONTEXT,
	SHED,
};

/* What tells items apart; the last one of a key holds. Without holes: its bytes are hashed. */
struct key {
	uint64_t kind, from;
	uint64_t a, b, c;
};

struct item {
	struct edit_kept *kept;      /* a reference */
	struct item *before, *after; /* in the order of the archive */
	struct item *newer, *older;  /* of the same pid */
	struct key key;
	uint64_t pid;   /* whose end is its end; 0 = nobody's */
	bool inherited; /* the record speaks of an ancestor */
	bool ended;
};

/* The end of a thread, and of its process, too, if that ends with it. */
struct ended {
	const struct fxt_provider *from;
	uint64_t ts_ns, pid, tid;
	bool process_ends;
};

struct edit_state {
	struct table items; /* hash of the key -> struct item, owned */
	struct item *first, *last;
	struct table by_pid; /* pid -> newest struct item of it */
	size_t bytes;
	struct edit_viewer *viewer;
	struct {
		uint64_t ts_ns, tid, id; /* of the last event `stack`; id 0 = it has its frames */
	} named;
	struct ended ended[ENDED_MAX]; /* a ring, in their order */
	unsigned first_ended, n_ended;
};

int edit_state_new(struct edit_state **ret)
{
	_cleanup_(edit_state_freep) struct edit_state *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	r = edit_viewer_new(&s->viewer);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

static void unlink_pid(struct edit_state *s, struct item *item)
{
	if (item->pid == 0)
		return;
	if (item->older)
		item->older->newer = item->newer;
	if (item->newer) {
		item->newer->older = item->older;
		return;
	}
	table_remove(&s->by_pid, item->pid);
	/* Cannot fail: a place was given back just now. */
	if (item->older)
		table_set(&s->by_pid, item->pid, item->older);
}

static int link_pid(struct edit_state *s, struct item *item)
{
	struct item *newest = item->pid ? table_get(&s->by_pid, item->pid) : NULL;
	int r = item->pid ? table_set(&s->by_pid, item->pid, item) : 0;

	if (r == 0 && newest) {
		item->older = newest;
		newest->newer = item;
	}
	return r;
}

static uint64_t hash_of(const struct key *key)
{
	return table_hash(key, sizeof(*key));
}

static size_t edit_state_bytes_of(const struct edit_kept *kept)
{
	return sizeof(struct item) + edit_kept_bytes(kept);
}

static struct item *find_item(const struct edit_state *s, const struct key *key)
{
	return table_get(&s->items, hash_of(key));
}

static void edit_state_forget(struct edit_state *s, struct item *item)
{
	unlink_pid(s, item);
	*(item->before ? &item->before->after : &s->first) = item->after;
	*(item->after ? &item->after->before : &s->last) = item->before;
	table_remove(&s->items, hash_of(&item->key));
	s->bytes -= edit_state_bytes_of(item->kept);
	edit_kept_unref(item->kept);
	free(item);
}

struct edit_state *edit_state_free(struct edit_state *s)
{
	if (!s)
		return NULL;
	while (s->first)
		edit_state_forget(s, s->first);
	table_deinit(&s->items);
	table_deinit(&s->by_pid);
	edit_viewer_free(s->viewer);
	free(s);
	return NULL;
}

/* Puts ITEM behind all others. On failure it is the caller's. */
static int edit_state_add(struct edit_state *s, struct item *item)
{
	uint64_t hash = hash_of(&item->key);
	int r = table_set(&s->items, hash, item);

	if (r == 0)
		r = link_pid(s, item);
	if (r < 0) {
		table_remove(&s->items, hash);
		return r;
	}
	item->before = s->last;
	*(s->last ? &s->last->after : &s->first) = item;
	s->last = item;
	s->bytes += edit_state_bytes_of(item->kept);
	return 0;
}

/* What KEY says is what KEPT says from now on, until PID ends. Returns 1, or -ENOMEM. */
static int edit_state_keep(struct edit_state *s, const struct key *key, uint64_t pid,
			   struct edit_kept *kept, bool inherited)
{
	struct item *item = find_item(s, key);

	if (item)
		edit_state_forget(s, item);
	if (s->bytes + edit_state_bytes_of(kept) > BYTES_MAX)
		return 1;
	item = calloc(1, sizeof(*item));
	if (!item)
		return -ENOMEM;
	*item = (struct item){ .kept = kept, .key = *key, .pid = pid, .inherited = inherited };
	if (edit_state_add(s, item) < 0) {
		free(item);
		return -ENOMEM;
	}
	edit_kept_ref(kept);
	return 1;
}

static int keep_object(struct edit_state *s, struct edit_kept *kept, const struct fxt_record *r)
{
	struct key key = { OBJECT, (uint64_t)(uintptr_t)kept->from, r->kernel_object.koid,
			   r->kernel_object.object_type, 0 };

	if (key.b == FXT_OBJECT_PROCESS)
		key.kind = PROCESS;
	else if (key.b == FXT_OBJECT_THREAD)
		key.kind = THREAD;
	return edit_state_keep(s, &key, 0, kept, false);
}

/* The frames of a stack that was named just before. */
static int keep_stack_trace(struct edit_state *s, struct edit_kept *kept,
			    const struct fxt_record *r)
{
	struct key key = { STACK_TRACE, (uint64_t)(uintptr_t)kept->from, r->thread.pid, s->named.id,
			   0 };

	if (s->named.id == 0 || s->named.ts_ns != r->ts_ns || s->named.tid != r->thread.tid)
		return 0;
	s->named.id = 0;
	return edit_state_keep(s, &key, r->thread.pid, kept, false);
}

static int keep_profiler(struct edit_state *s, struct edit_kept *kept, const struct fxt_record *r)
{
	struct key key = { MODULE, (uint64_t)(uintptr_t)kept->from, r->thread.pid, r->module.id,
			   0 };

	if (r->subtype == FXT_PROFILER_BACKTRACE)
		return keep_stack_trace(s, kept, r);
	if (r->subtype == FXT_PROFILER_MMAP) {
		key.kind = MMAP;
		key.b = r->mmap.start;
	}
	return edit_state_keep(s, &key, r->thread.pid, kept, false);
}

static int keep_counter(struct edit_state *s, struct edit_kept *kept, const struct fxt_record *r)
{
	struct key key = { COUNTER, (uint64_t)(uintptr_t)kept->from, r->thread.pid, r->event.value,
			   table_hash(r->name.bytes ? r->name.bytes : "", r->name.length) };

	return edit_state_keep(s, &key, r->thread.pid, kept, false);
}

/* Forgets what is known of PID that is of the kinds from FIRST to LAST. */
static void forget_kinds(struct edit_state *s, uint64_t pid, enum kind first, enum kind last)
{
	struct item *older;

	for (struct item *i = pid ? table_get(&s->by_pid, pid) : NULL; i; i = older) {
		older = i->older;
		if (i->key.kind >= first && i->key.kind <= last)
			edit_state_forget(s, i);
	}
}

/* The process PID has ended: its mappings and counters have, too. What it did not free is said later. */
static void forget_process(struct edit_state *s, uint64_t pid)
{
	forget_kinds(s, pid, PROCESS, SAMPLING);
}

static struct item *find_object(const struct edit_state *s, enum kind kind, unsigned type,
				const struct fxt_provider *from, uint64_t koid)
{
	struct key key = { kind, (uint64_t)(uintptr_t)from, koid, type, 0 };

	return find_item(s, &key);
}

/* One that was named anew since then lives. */
static void forget_ended_item(struct edit_state *s, struct item *item)
{
	if (item && item->ended)
		edit_state_forget(s, item);
}

/* Forgets the oldest of what has ended. */
static void edit_state_forget_ended(struct edit_state *s)
{
	const struct ended *e = &s->ended[s->first_ended];

	forget_ended_item(s, find_object(s, THREAD, FXT_OBJECT_THREAD, e->from, e->tid));
	if (e->process_ends)
		forget_ended_item(s, find_object(s, PROCESS, FXT_OBJECT_PROCESS, e->from, e->pid));
	s->first_ended = (s->first_ended + 1) % ENDED_MAX;
	s->n_ended--;
}

static void take_end(struct edit_state *s, const struct ended *end)
{
	struct item *item = find_object(s, THREAD, FXT_OBJECT_THREAD, end->from, end->tid);

	if (item)
		item->ended = true;
	item = end->process_ends ? find_object(s, PROCESS, FXT_OBJECT_PROCESS, end->from, end->pid)
				 : NULL;
	if (item)
		item->ended = true;
	if (s->n_ended == ENDED_MAX)
		edit_state_forget_ended(s);
	s->ended[(s->first_ended + s->n_ended++) % ENDED_MAX] = *end;
	while (end->ts_ns > s->ended[s->first_ended].ts_ns &&
	       end->ts_ns - s->ended[s->first_ended].ts_ns > ENDED_NS)
		edit_state_forget_ended(s);
}

/* ---- by events ---- */

/* What an event says that holds. */
struct rule {
	enum kind kind;
	bool of_process;  /* each process has its own */
	bool of_nobody;   /* it does not end with a process */
	bool ends;        /* it holds no more */
	int16_t names[2]; /* arguments that tell one from another; 0 = none */
};

static const struct rule rules[] = {
	[FXT_ROW_MAPPING] = { MAPPING, .of_process = true, .names = { FXT_NAME_START } },
	[FXT_ROW_FRAME] = { FRAME, .of_process = true, .of_nobody = true,
			    .names = { FXT_NAME_ADDRESS, FXT_NAME_DEPTH } },
	[FXT_ROW_SAMPLING] = { SAMPLING },
	[FXT_ROW_SHED] = { SHED, .names = { FXT_NAME_CLASS } },
	[FXT_ROW_RETURNED] = { SHED, .ends = true, .names = { FXT_NAME_CLASS } },
	[FXT_ROW_WATCH_BEGIN] = { WATCH, .of_process = true },
	[FXT_ROW_STACK] = { STACK, .of_process = true, .names = { FXT_NAME_ID } },
	[FXT_ROW_USAGE] = { USAGE, .of_process = true,
			    .names = { FXT_NAME_RESOURCE, FXT_NAME_STACK } },
	[FXT_ROW_ALLOC] = { ALLOC, .of_process = true,
			    .names = { FXT_NAME_RESOURCE, FXT_NAME_ADDRESS } },
	[FXT_ROW_FREE] = { ALLOC, .of_process = true, .ends = true,
			   .names = { FXT_NAME_RESOURCE, FXT_NAME_ADDRESS } },
	/* (blocks of one that has ended still speak of it) */
	[FXT_ROW_CONTEXT] = { CONTEXT, .names = { FXT_NAME_ID } },
};

static int take_by_rule(struct edit_state *s, struct edit_kept *kept, const struct fxt_record *r,
			enum fxt_row_id row)
{
	const struct rule *rule = &rules[row];
	const struct key key = {
		.kind = rule->kind,
		.from = (uint64_t)(uintptr_t)kept->from,
		.a = rule->of_process ? edit_process_of(r) : 0,
		.b = edit_find_number(r, rule->names[0]),
		.c = edit_find_number(r, rule->names[1]),
	};
	struct item *item;

	if (!rule->ends)
		return edit_state_keep(s, &key, rule->of_nobody ? 0 : key.a, kept, false);
	item = find_item(s, &key);
	if (item)
		edit_state_forget(s, item);
	return 0;
}

static bool says_process_ends(const struct fxt_record *r)
{
	struct fxt_arg arg;

	return edit_find_arg(r, FXT_NAME_PROCESS_ENDS, FXT_ARG_BOOL, &arg) && arg.boolean;
}

static void take_exit(struct edit_state *s, const struct edit_kept *kept,
		      const struct fxt_record *r)
{
	struct ended end = { kept->from, r->ts_ns, r->thread.pid, r->thread.tid, false };

	end.process_ends = says_process_ends(r);
	if (end.process_ends)
		forget_process(s, r->thread.pid);
	take_end(s, &end);
}

/* The process PID runs another program. */
static void forget_program(struct edit_state *s, uint64_t pid)
{
	forget_kinds(s, pid, MODULE, MAPPING);
}

/* The thread that called it has its process's id now. No other record has its end. */
static void take_exec(struct edit_state *s, const struct edit_kept *kept,
		      const struct fxt_record *r)
{
	struct ended end = { kept->from, r->ts_ns, r->thread.pid, 0, false };

	forget_program(s, r->thread.pid);
	end.tid = edit_find_koid(r, FXT_NAME_OLD_THREAD);
	if (end.tid)
		take_end(s, &end);
}

/* CHILD has what PARENT has, by rules of writer/maps. */
static int inherit(struct edit_state *s, uint64_t parent, uint64_t child)
{
	struct item *i = table_get(&s->by_pid, parent);
	int r = 0;

	forget_program(s, child);
	while (i && i->older)
		i = i->older;
	for (; r >= 0 && i; i = i->newer) {
		struct key key = i->key;

		key.a = child;
		key.c += key.kind == MODULE; /* ids of its own begin anew */
		if (key.kind >= MODULE && key.kind <= MAPPING)
			r = edit_state_keep(s, &key, child, i->kept, true);
	}
	return r < 0 ? r : 0;
}

static int take_fork(struct edit_state *s, const struct fxt_record *r)
{
	uint64_t parent = r->thread.pid, child = edit_find_koid(r, FXT_NAME_CHILD_PROCESS);

	return parent && child && child != parent ? inherit(s, parent, child) : 0;
}

static int edit_state_take_event(struct edit_state *s, struct edit_kept *kept,
				 const struct fxt_record *r)
{
	enum fxt_row_id row = fxt_record_row(r);

	if (r->subtype == FXT_EVENT_COUNTER)
		return keep_counter(s, kept, r);
	switch (row) {
	case FXT_ROW_FORK:
		return take_fork(s, r);
	case FXT_ROW_EXEC:
		take_exec(s, kept, r);
		return 0;
	case FXT_ROW_EXIT:
		take_exit(s, kept, r);
		return 0;
	case FXT_ROW_STACK:
		s->named.id = edit_find_number(r, FXT_NAME_ID);
		s->named.ts_ns = r->ts_ns;
		s->named.tid = r->thread.tid;
		break;
	case FXT_ROW_WATCH_BEGIN:
	case FXT_ROW_WATCH_END:
		forget_kinds(s, r->thread.pid, WATCH, ALLOC);
		break;
	default:
		break;
	}
	return row < ARRAY_SIZE(rules) && rules[row].kind ? take_by_rule(s, kept, r, row) : 0;
}

int edit_state_take(struct edit_state *s, struct edit_kept *kept, const struct fxt_record *r)
{
	switch (r->type) {
	case FXT_RECORD_KERNEL_OBJECT:
		return keep_object(s, kept, r);
	case FXT_RECORD_PROFILER:
		return keep_profiler(s, kept, r);
	case FXT_RECORD_EVENT:
		return edit_state_take_event(s, kept, r);
	default:
		return 0;
	}
}

/* R, which may be changed, speaks of the process PID, which has inherited what it says. */
static void set_process(struct fxt_record *r, uint64_t pid)
{
	struct fxt_arg arg;

	/* (the value is its last word; the words are those of a copy of ours) */
	if (r->type == FXT_RECORD_EVENT && edit_find_arg(r, FXT_NAME_PROCESS, FXT_ARG_KOID, &arg))
		((uint64_t *)(uintptr_t)arg.words)[arg.n_words - 1] = pid;
	else
		r->thread.pid = r->thread.tid = pid;
}

int edit_state_give(struct edit_state *s, edit_state_fn write, void *userdata)
{
	struct fxt_record record;
	int r = 0;

	while (r == 0 && s->first) {
		r = edit_viewer_look(s->viewer, s->first->kept, &record);
		if (r == 0 && s->first->inherited)
			set_process(&record, s->first->pid);
		if (r == 0)
			r = write(userdata, s->first->kept->from, &record);
		edit_state_forget(s, s->first);
	}
	return r;
}
