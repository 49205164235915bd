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
	PROCESS,
	THREAD,
	OBJECT,
	MODULE,
	MMAP,
	COUNTER,
	MAPPING,
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
	struct edit_kept *kept;      /* owned */
	struct item *before, *after; /* in the order of the archive */
	struct item *newer, *older;  /* of the same pid */
	uint64_t hash;
	enum kind kind;
	uint64_t pid; /* whose end is its end; 0 = nobody's */
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

static size_t edit_state_bytes_of(const struct edit_kept *kept)
{
	return sizeof(struct item) + edit_kept_bytes(kept);
}

static void edit_state_forget(struct edit_state *s, struct item *item)
{
	unlink_pid(s, item);
	*(item->before ? &item->before->after : &s->first) = item->after;
	*(item->after ? &item->after->before : &s->last) = item->before;
	table_remove(&s->items, item->hash);
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

static int edit_state_keep(struct edit_state *s, const struct key *key, uint64_t pid,
			   struct edit_kept *kept)
{
	uint64_t hash = table_hash(key, sizeof(*key));
	struct item *item = table_get(&s->items, hash);
	int e;

	if (item)
		edit_state_forget(s, item);
	if (s->bytes + edit_state_bytes_of(kept) > BYTES_MAX)
		return 1;
	item = calloc(1, sizeof(*item));
	if (!item)
		return -ENOMEM;
	*item = (struct item){
		.before = s->last, .hash = hash, .kind = (enum kind)key->kind, .pid = pid
	};
	e = table_set(&s->items, hash, item);
	if (e == 0) {
		e = link_pid(s, item);
		if (e < 0)
			table_remove(&s->items, hash);
	}
	if (e < 0) {
		free(item);
		return e;
	}
	item->kept = edit_kept_ref(kept);
	s->bytes += edit_state_bytes_of(kept);
	*(s->last ? &s->last->after : &s->first) = item;
	s->last = item;
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
	return edit_state_keep(s, &key, 0, kept);
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
	return edit_state_keep(s, &key, r->thread.pid, kept);
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
	return edit_state_keep(s, &key, r->thread.pid, kept);
}

static int keep_counter(struct edit_state *s, struct edit_kept *kept, const struct fxt_record *r)
{
	struct key key = { COUNTER, (uint64_t)(uintptr_t)kept->from, r->thread.pid, r->event.value,
			   table_hash(r->name.bytes ? r->name.bytes : "", r->name.length) };

	return edit_state_keep(s, &key, r->thread.pid, kept);
}

/* Forgets what is known of PID that is of the kinds from FIRST to LAST. */
static void forget_kinds(struct edit_state *s, uint64_t pid, enum kind first, enum kind last)
{
	struct item *older;

	for (struct item *i = pid ? table_get(&s->by_pid, pid) : NULL; i; i = older) {
		older = i->older;
		if (i->kind >= first && i->kind <= last)
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

	return table_get(&s->items, table_hash(&key, sizeof(key)));
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

/* What the profiler says of code and names. */
static int keep_profile(struct edit_state *s, struct edit_kept *kept, const struct fxt_record *r,
			enum fxt_row_id row)
{
	struct key key = { SAMPLING, (uint64_t)(uintptr_t)kept->from, 0, 0, 0 };
	struct fxt_arg arg;

	switch (row) {
	case FXT_ROW_MAPPING:
		key.kind = MAPPING;
		key.a = edit_process_of(r);
		if (edit_find_arg(r, FXT_NAME_START, FXT_ARG_POINTER, &arg))
			key.b = arg.uint64;
		return edit_state_keep(s, &key, key.a, kept);
	case FXT_ROW_FRAME:
		key.kind = FRAME;
		key.a = edit_process_of(r);
		if (edit_find_arg(r, FXT_NAME_ADDRESS, FXT_ARG_POINTER, &arg))
			key.b = arg.uint64;
		if (edit_find_arg(r, FXT_NAME_DEPTH, FXT_ARG_UINT32, &arg))
			key.c = arg.uint32;
		return edit_state_keep(s, &key, 0, kept);
	case FXT_ROW_SAMPLING:
		return edit_state_keep(s, &key, 0, kept);
	default:
		return 0;
	}
}

/* The process PID runs another program. */
static void forget_program(struct edit_state *s, uint64_t pid)
{
	forget_kinds(s, pid, MODULE, MMAP);
	forget_kinds(s, pid, MAPPING, MAPPING);
}

/* ---- what programs allocate ---- */

static uint64_t edit_state_number_of(const struct fxt_record *r, int name, enum fxt_arg_type type)
{
	struct fxt_arg arg;

	if (!edit_find_arg(r, name, type, &arg))
		return 0;
	return type == FXT_ARG_UINT32 ? arg.uint32 : arg.uint64;
}

/* Which resource it is about: any number that tells them apart. */
static uint64_t resource_of(const struct fxt_record *r)
{
	struct fxt_arg arg;

	if (!edit_find_arg(r, FXT_NAME_RESOURCE, FXT_ARG_STRING, &arg) || !arg.text.bytes)
		return 0;
	return table_hash(arg.text.bytes, arg.text.length);
}

static int edit_state_take_free(struct edit_state *s, struct key *key, const struct fxt_record *r)
{
	struct item *item;

	key->kind = ALLOC;
	key->b = resource_of(r);
	key->c = edit_state_number_of(r, FXT_NAME_ADDRESS, FXT_ARG_POINTER);
	item = table_get(&s->items, table_hash(key, sizeof(*key)));
	if (item)
		edit_state_forget(s, item);
	return 0;
}

static int edit_state_take_context(struct edit_state *s, struct edit_kept *kept, struct key *key,
				   const struct fxt_record *r)
{
	key->kind = CONTEXT;
	key->a = 0;
	key->b = edit_state_number_of(r, FXT_NAME_ID, FXT_ARG_UINT32);
	/* (blocks of one that has ended still speak of it) */
	return edit_state_keep(s, key, 0, kept);
}

static int edit_state_take_memory(struct edit_state *s, struct edit_kept *kept,
				  const struct fxt_record *r, enum fxt_row_id row)
{
	uint64_t pid = r->thread.pid;
	struct key key = { WATCH, (uint64_t)(uintptr_t)kept->from, pid, 0, 0 };

	switch (row) {
	case FXT_ROW_WATCH_BEGIN:
		forget_kinds(s, pid, WATCH, ALLOC);
		return edit_state_keep(s, &key, pid, kept);
	case FXT_ROW_WATCH_END:
		forget_kinds(s, pid, WATCH, ALLOC);
		return 0;
	case FXT_ROW_STACK:
		key.kind = STACK;
		key.b = edit_state_number_of(r, FXT_NAME_ID, FXT_ARG_UINT64);
		s->named.id = key.b;
		s->named.ts_ns = r->ts_ns;
		s->named.tid = r->thread.tid;
		return edit_state_keep(s, &key, pid, kept);
	case FXT_ROW_USAGE:
		key.kind = USAGE;
		key.b = resource_of(r);
		key.c = edit_state_number_of(r, FXT_NAME_STACK, FXT_ARG_UINT64);
		return edit_state_keep(s, &key, pid, kept);
	case FXT_ROW_ALLOC:
		key.kind = ALLOC;
		key.b = resource_of(r);
		key.c = edit_state_number_of(r, FXT_NAME_ADDRESS, FXT_ARG_POINTER);
		return edit_state_keep(s, &key, pid, kept);
	case FXT_ROW_FREE:
		return edit_state_take_free(s, &key, r);
	case FXT_ROW_CONTEXT:
		return edit_state_take_context(s, kept, &key, r);
	default:
		return 0;
	}
}

/* What is not recorded any more, or is again. */
static int take_shed(struct edit_state *s, struct edit_kept *kept, const struct fxt_record *r,
		     enum fxt_row_id row)
{
	struct key key = { SHED, (uint64_t)(uintptr_t)kept->from, 0, 0, 0 };
	struct item *item;
	struct fxt_arg arg;

	if (edit_find_arg(r, FXT_NAME_CLASS, FXT_ARG_STRING, &arg) && arg.text.bytes)
		key.b = table_hash(arg.text.bytes, arg.text.length);
	if (row == FXT_ROW_SHED)
		return edit_state_keep(s, &key, 0, kept);
	item = table_get(&s->items, table_hash(&key, sizeof(key)));
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

static int edit_state_take_event(struct edit_state *s, struct edit_kept *kept,
				 const struct fxt_record *r)
{
	enum fxt_row_id row = fxt_record_row(r);

	if (r->subtype == FXT_EVENT_COUNTER)
		return keep_counter(s, kept, r);
	switch (row) {
	case FXT_ROW_EXEC:
		take_exec(s, kept, r);
		return 0;
	case FXT_ROW_EXIT:
		take_exit(s, kept, r);
		return 0;
	case FXT_ROW_SHED:
	case FXT_ROW_RETURNED:
		return take_shed(s, kept, r, row);
	default:
		return fxt_event_rows[row].category == FXT_NAME_MEMORY
			       ? edit_state_take_memory(s, kept, r, row)
			       : keep_profile(s, kept, r, row);
	}
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

int edit_state_give(struct edit_state *s, edit_state_fn write, void *userdata)
{
	struct fxt_record record;
	int r = 0;

	while (r == 0 && s->first) {
		r = edit_viewer_look(s->viewer, s->first->kept, &record);
		if (r == 0)
			r = write(userdata, s->first->kept->from, &record);
		edit_state_forget(s, s->first);
	}
	return r;
}
