/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-state.h"

#include <errno.h>

#include "base/table.h"
#include "edit/edit-kept.h"

/* More mappings and counters than this are not kept. */
enum { ITEMS_MAX = 1 << 20 };

enum kind { PROCESS, THREAD, OBJECT, MODULE, MMAP, COUNTER, MAPPING, FRAME, SAMPLING };

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
};

struct edit_state {
	struct table items; /* hash of the key -> struct item, owned */
	struct item *first, *last;
	struct table by_pid;         /* pid -> newest struct item of it */
	struct fxt_provider *nobody; /* for edit_kept_view() */
};

int edit_state_new(struct edit_state **ret)
{
	_cleanup_(edit_state_freep) struct edit_state *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	r = fxt_provider_new(&s->nobody, 0);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

/* Cannot fail where ITEM is taken out: its pid has its place in the table. */
static void unlink_pid(struct edit_state *s, struct item *item)
{
	if (item->pid == 0)
		return;
	if (item->older)
		item->older->newer = item->newer;
	if (item->newer)
		item->newer->older = item->older;
	else if (item->older)
		table_set(&s->by_pid, item->pid, item->older);
	else
		table_remove(&s->by_pid, item->pid);
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

static void forget(struct edit_state *s, struct item *item)
{
	unlink_pid(s, item);
	*(item->before ? &item->before->after : &s->first) = item->after;
	*(item->after ? &item->after->before : &s->last) = item->before;
	table_remove(&s->items, item->hash);
	free(item->kept);
	free(item);
}

struct edit_state *edit_state_free(struct edit_state *s)
{
	if (!s)
		return NULL;
	while (s->first)
		forget(s, s->first);
	table_deinit(&s->items);
	table_deinit(&s->by_pid);
	fxt_provider_free(s->nobody);
	free(s);
	return NULL;
}

static int keep(struct edit_state *s, const struct key *key, uint64_t pid,
		const struct fxt_provider *from, const struct fxt_record *r)
{
	uint64_t hash = table_hash(key, sizeof(*key));
	struct item *item = table_get(&s->items, hash);
	int e;

	if (item)
		forget(s, item);
	if (s->items.n_used >= ITEMS_MAX && key->kind > OBJECT)
		return 1;
	item = calloc(1, sizeof(*item));
	if (!item)
		return -ENOMEM;
	*item = (struct item){
		.before = s->last, .hash = hash, .kind = (enum kind)key->kind, .pid = pid
	};
	item->kept = edit_keep(from, r->words, r->n_words);
	e = item->kept ? table_set(&s->items, hash, item) : -ENOMEM;
	if (e == 0) {
		e = link_pid(s, item);
		if (e < 0)
			table_remove(&s->items, hash);
	}
	if (e < 0) {
		free(item->kept);
		free(item);
		return e;
	}
	*(s->last ? &s->last->after : &s->first) = item;
	s->last = item;
	return 1;
}

static int keep_object(struct edit_state *s, const struct fxt_provider *from,
		       const struct fxt_record *r)
{
	struct key key = { OBJECT, (uint64_t)(uintptr_t)from, r->kernel_object.koid,
			   r->kernel_object.object_type, 0 };

	if (key.b == FXT_OBJECT_PROCESS)
		key.kind = PROCESS;
	else if (key.b == FXT_OBJECT_THREAD)
		key.kind = THREAD;
	return keep(s, &key, 0, from, r);
}

static int keep_profiler(struct edit_state *s, const struct fxt_provider *from,
			 const struct fxt_record *r)
{
	struct key key = { MODULE, (uint64_t)(uintptr_t)from, r->thread.pid, r->module.id, 0 };

	if (r->subtype == FXT_PROFILER_BACKTRACE)
		return 0;
	if (r->subtype == FXT_PROFILER_MMAP) {
		key.kind = MMAP;
		key.b = r->mmap.start;
	}
	return keep(s, &key, r->thread.pid, from, r);
}

static int keep_counter(struct edit_state *s, const struct fxt_provider *from,
			const struct fxt_record *r)
{
	struct key key = { COUNTER, (uint64_t)(uintptr_t)from, r->thread.pid, r->event.value,
			   table_hash(r->name.bytes ? r->name.bytes : "", r->name.length) };

	return keep(s, &key, r->thread.pid, from, r);
}

/* The process PID has ended: its mappings and counters have, too. */
static void forget_process(struct edit_state *s, uint64_t pid)
{
	struct item *item;

	while (pid != 0 && (item = table_get(&s->by_pid, pid)))
		forget(s, item);
}

static void forget_object(struct edit_state *s, enum kind kind, unsigned type,
			  const struct fxt_provider *from, uint64_t koid)
{
	struct key key = { kind, (uint64_t)(uintptr_t)from, koid, type, 0 };
	struct item *item = table_get(&s->items, table_hash(&key, sizeof(key)));

	if (item)
		forget(s, item);
}

/* The argument called NAME, a number, or 0. */
static uint64_t number_of(const struct fxt_record *r, enum fxt_name name)
{
	struct fxt_args it = r->args;
	struct fxt_arg arg;
	int outcome;

	while ((outcome = fxt_args_next(&it, &arg)) != FXT_ARGS_END)
		if (outcome == FXT_ARGS_NEXT && fxt_text_known(&arg.name) == (int)name)
			return arg.type == FXT_ARG_UINT32 ? arg.uint32
			       : arg.type == FXT_ARG_UINT64 || arg.type == FXT_ARG_POINTER ||
					       arg.type == FXT_ARG_KOID
				       ? arg.uint64
				       : 0;
	return 0;
}

/* What the profiler says of code and names. */
static int keep_profile(struct edit_state *s, const struct fxt_provider *from,
			const struct fxt_record *r)
{
	struct key key = { SAMPLING, (uint64_t)(uintptr_t)from, 0, 0, 0 };

	switch (fxt_text_known(&r->name)) {
	case FXT_NAME_MAPPING:
		key.kind = MAPPING;
		key.a = r->thread.pid;
		key.b = number_of(r, FXT_NAME_START);
		return keep(s, &key, r->thread.pid, from, r);
	case FXT_NAME_FRAME:
		key.kind = FRAME;
		key.a = number_of(r, FXT_NAME_PROCESS);
		key.b = number_of(r, FXT_NAME_ADDRESS);
		key.c = number_of(r, FXT_NAME_DEPTH);
		return keep(s, &key, 0, from, r);
	case FXT_NAME_SAMPLING:
		return keep(s, &key, 0, from, r);
	default:
		return 0;
	}
}

/* The process PID runs another program. */
static void forget_program(struct edit_state *s, uint64_t pid)
{
	struct item *older;

	for (struct item *i = pid ? table_get(&s->by_pid, pid) : NULL; i; i = older) {
		older = i->older;
		if (i->kind == MODULE || i->kind == MMAP || i->kind == MAPPING)
			forget(s, i);
	}
}

static bool says_process_ends(const struct fxt_record *r)
{
	struct fxt_args it = r->args;
	struct fxt_arg arg;
	int outcome;

	while ((outcome = fxt_args_next(&it, &arg)) != FXT_ARGS_END)
		if (outcome == FXT_ARGS_NEXT && arg.type == FXT_ARG_BOOL &&
		    fxt_text_known(&arg.name) == FXT_NAME_PROCESS_ENDS)
			return arg.boolean;
	return false;
}

static int take_event(struct edit_state *s, const struct fxt_provider *from,
		      const struct fxt_record *r)
{
	if (r->subtype == FXT_EVENT_COUNTER)
		return keep_counter(s, from, r);
	if (r->subtype != FXT_EVENT_INSTANT)
		return 0;
	if (fxt_text_known(&r->category) == FXT_NAME_PROFILE)
		return keep_profile(s, from, r);
	if (fxt_text_known(&r->category) != FXT_NAME_PROCESS)
		return 0;
	if (fxt_text_known(&r->name) == FXT_NAME_EXEC)
		forget_program(s, r->thread.pid);
	if (fxt_text_known(&r->name) != FXT_NAME_EXIT)
		return 0;
	forget_object(s, THREAD, FXT_OBJECT_THREAD, from, r->thread.tid);
	if (says_process_ends(r)) {
		forget_object(s, PROCESS, FXT_OBJECT_PROCESS, from, r->thread.pid);
		forget_process(s, r->thread.pid);
	}
	return 0;
}

int edit_state_take(struct edit_state *s, const struct fxt_provider *from,
		    const struct fxt_record *r)
{
	switch (r->type) {
	case FXT_RECORD_KERNEL_OBJECT:
		return keep_object(s, from, r);
	case FXT_RECORD_PROFILER:
		return keep_profiler(s, from, r);
	case FXT_RECORD_EVENT:
		return take_event(s, from, r);
	default:
		return 0;
	}
}

int edit_state_give(struct edit_state *s, edit_state_fn write, void *userdata)
{
	struct fxt_record record;
	int r = 0;

	while (r == 0 && s->first) {
		edit_kept_view(s->first->kept, s->nobody, &record);
		r = write(userdata, s->first->kept->from, &record);
		forget(s, s->first);
	}
	return r;
}
