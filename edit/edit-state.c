/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"
#include "edit/edit-find.h"
#include "edit/edit-kept.h"
#include "writer/fxt/fxt-holds.h"

/* The time for which ended threads and processes are kept, and the maximum number of them. */
#define ENDED_NS ((uint64_t)1000000000)
enum { ENDED_MAX = 2048 };

/* A thread or a process that has ended. */
struct ended {
	struct fxt_holds_key key;
	uint64_t ts_ns;
};

struct edit_state {
	struct fxt_holds *holds; /* elements are struct edit_kept */
	struct edit_viewer *viewer;
	struct fxt_named named;
	struct ended ended[ENDED_MAX]; /* a ring, sorted by time */
	unsigned first_ended, n_ended;
	uint64_t n_added;   /* number of records that were added */
	uint32_t n_renamed; /* number of modules whose ids were used again */
};

static void *edit_state_keep_(void *what, size_t *bytes)
{
	*bytes = edit_kept_bytes(what);
	return edit_kept_ref(what);
}

static void edit_state_release(void *kept)
{
	edit_kept_unref(kept);
}

int edit_state_new(struct edit_state **ret)
{
	static const struct fxt_holds_ops ops = { edit_state_keep_, edit_state_release };
	_cleanup_(edit_state_freep) struct edit_state *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	r = edit_viewer_new(&s->viewer) ?: fxt_holds_new(&s->holds, &ops, 0);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

struct edit_state *edit_state_free(struct edit_state *s)
{
	if (!s)
		return NULL;
	fxt_holds_free(s->holds);
	edit_viewer_free(s->viewer);
	return free_ptr(s);
}

/* Stores KEPT under KEY until PID ends. Sets KEY's `from`. */
static int edit_state_keep(struct edit_state *s, struct edit_kept *kept, struct fxt_holds_key key,
			   uint64_t pid)
{
	key.from = (uint64_t)(uintptr_t)kept->from;
	return fxt_holds_keep(s->holds, &key, pid, kept);
}

/* Keeps an object. A thread belongs to its process (edit_state_forget_ended()). */
static int edit_state_keep_object(struct edit_state *s, struct edit_kept *kept,
				  const struct fxt_record *r)
{
	bool is_thread = r->kernel_object.type == FXT_OBJECT_THREAD;

	return edit_state_keep(s, kept,
			       (struct fxt_holds_key){
				       .kind = FXT_HOLDS_OBJECT,
				       .a = r->kernel_object.koid,
				       .b = r->kernel_object.type,
			       },
			       is_thread ? edit_find_koid(r, FXT_NAME_PROCESS) : 0);
}

/* ---- profiler ---- */

static struct fxt_holds_key edit_state_module_key(const struct edit_kept *kept, uint64_t pid,
						  uint32_t id)
{
	return (struct fxt_holds_key){ FXT_HOLDS_MODULE, (uint64_t)(uintptr_t)kept->from, pid, id,
				       0 };
}

/*
 * Keeps a module. Its id can be used again for another module, while mappings still refer to the
 * previous module. Then the previous module keeps its place before these mappings, and is discarded
 * with the last of them.
 */
static int edit_state_keep_module(struct edit_state *s, struct edit_kept *kept,
				  const struct fxt_record *r)
{
	struct fxt_holds_key key = edit_state_module_key(kept, r->thread.pid, r->module.id), old;
	struct fxt_held *held = fxt_holds_find(s->holds, &key);

	if (held && held->n_users > 0) {
		old = key;
		/* (the lower 32 bits number inherited modules) */
		old.c = (uint64_t)++s->n_renamed << 32;
		fxt_holds_rename(s->holds, held, &old);
	}
	return edit_state_keep(s, kept, key, r->thread.pid);
}

/* Notes that the mapping HELD does not refer to its module any more. */
static void edit_state_release_module(struct edit_state *s, struct fxt_held *held)
{
	struct fxt_held *module = held->uses;

	held->uses = NULL;
	if (module && --module->n_users == 0 && module->key.c > 0)
		fxt_holds_forget(s->holds, module);
}

static int edit_state_keep_mmap(struct edit_state *s, struct edit_kept *kept,
				const struct fxt_record *r)
{
	const struct fxt_holds_key of_module =
		edit_state_module_key(kept, r->thread.pid, r->mmap.module_id);
	const struct fxt_holds_key key = { FXT_HOLDS_MMAP, of_module.from, r->thread.pid,
					   r->mmap.start, 0 };
	struct fxt_held *held = fxt_holds_find(s->holds, &key);
	int e;

	if (held)
		edit_state_release_module(s, held);
	e = edit_state_keep(s, kept, key, r->thread.pid);
	held = fxt_holds_find(s->holds, &key);
	if (held)
		held->uses = fxt_holds_find(s->holds, &of_module);
	if (held && held->uses)
		held->uses->n_users++;
	return e;
}

static int edit_state_keep_profiler(struct edit_state *s, struct edit_kept *kept,
				    const struct fxt_record *r)
{
	struct fxt_holds_key key = { .kind = FXT_HOLDS_STACK_TRACE, .a = r->thread.pid };

	if (r->subtype == FXT_PROFILER_MODULE)
		return edit_state_keep_module(s, kept, r);
	if (r->subtype == FXT_PROFILER_MMAP)
		return edit_state_keep_mmap(s, kept, r);
	key.b = fxt_named_consume(&s->named, r);
	return key.b ? edit_state_keep(s, kept, key, r->thread.pid) : 0;
}

/* ---- counters ---- */

static int edit_state_keep_counter(struct edit_state *s, struct edit_kept *kept,
				   const struct fxt_record *r)
{
	return edit_state_keep(
		s, kept,
		(struct fxt_holds_key){
			.kind = FXT_HOLDS_COUNTER,
			.a = r->thread.pid,
			.b = r->event.value,
			.c = table_hash(r->name.bytes ? r->name.bytes : "", r->name.length),
		},
		r->thread.pid);
}

/* ---- ended tasks ---- */

/*
 * Discards the oldest ended task, unless the task was named again since then, so that its id is in
 * use again. With a process, its threads are discarded, too, since the events of their ends can be
 * in an earlier chunk (a main thread can end before its process), or lost.
 */
static void edit_state_forget_ended(struct edit_state *s)
{
	const struct fxt_holds_key *key = &s->ended[s->first_ended].key;
	struct fxt_held *held = fxt_holds_find(s->holds, key);

	if (held && held->ended) {
		fxt_holds_forget(s->holds, held);
		if (key->b == FXT_OBJECT_PROCESS)
			fxt_holds_forget_of(s->holds, key->from, key->a, FXT_HOLDS_OBJECT);
	}
	s->first_ended = (s->first_ended + 1) % ENDED_MAX;
	s->n_ended--;
}

static void edit_state_record_end(struct edit_state *s, const struct ended *end)
{
	struct fxt_held *held = fxt_holds_find(s->holds, &end->key);

	if (held)
		held->ended = true;
	if (s->n_ended == ENDED_MAX)
		edit_state_forget_ended(s);
	s->ended[(s->first_ended + s->n_ended++) % ENDED_MAX] = *end;
	while (end->ts_ns > s->ended[s->first_ended].ts_ns &&
	       end->ts_ns - s->ended[s->first_ended].ts_ns > ENDED_NS)
		edit_state_forget_ended(s);
}

/* ---- events ---- */

/* R is an exec or exit event, whose row is ROW. Notes that its thread or process has ended. */
static void edit_state_record_ends(struct edit_state *s, const struct edit_kept *kept,
				   const struct fxt_record *r, enum fxt_row_id row)
{
	struct ended end = {
		.key = { FXT_HOLDS_OBJECT, (uint64_t)(uintptr_t)kept->from, r->thread.tid,
			 FXT_OBJECT_THREAD, 0 },
		.ts_ns = r->ts_ns,
	};

	/* After an exec by a thread other than the main one, the calling thread has the id of its
	 * process. Its old id ends here, since no other record ends it. */
	if (row == FXT_ROW_EXEC)
		end.key.a = fxt_record_number(r, FXT_NAME_OLD_THREAD);
	if (end.key.a)
		edit_state_record_end(s, &end);
	if (row == FXT_ROW_EXEC || !fxt_record_number(r, FXT_NAME_PROCESS_ENDS))
		return;
	end.key.a = r->thread.pid;
	end.key.b = FXT_OBJECT_PROCESS;
	edit_state_record_end(s, &end);
}

static uint64_t edit_state_number_of_record(const void *record, int name)
{
	return fxt_record_number(record, name);
}

static int edit_state_process_event(struct edit_state *s, struct edit_kept *kept,
				    const struct fxt_record *r)
{
	const struct fxt_holds_input input = {
		.row = fxt_record_row(r),
		.from = (uint64_t)(uintptr_t)kept->from,
		.pid = edit_process_of(r),
		.number = edit_state_number_of_record,
		.event = r,
	};

	if (r->subtype == FXT_EVENT_COUNTER)
		return edit_state_keep_counter(s, kept, r);
	if (input.row == FXT_ROW_STACK)
		fxt_named_set(&s->named, r);
	if (input.row == FXT_ROW_EXEC || input.row == FXT_ROW_EXIT)
		edit_state_record_ends(s, kept, r, input.row);
	return fxt_holds_process(s->holds, &input, kept);
}

int edit_state_process(struct edit_state *s, struct edit_kept *kept, const struct fxt_record *r)
{
	switch (r->type) {
	case FXT_RECORD_KERNEL_OBJECT:
		return edit_state_keep_object(s, kept, r);
	case FXT_RECORD_PROFILER:
		return edit_state_keep_profiler(s, kept, r);
	case FXT_RECORD_EVENT:
		return edit_state_process_event(s, kept, r);
	default:
		return 0;
	}
}

int edit_state_add(struct edit_state *s, struct edit_kept *kept)
{
	/* (the key of any other object has 0 in C, so this key differs from all of them) */
	const struct fxt_holds_key key = { .kind = FXT_HOLDS_OBJECT, .c = ++s->n_added };
	int r = edit_state_keep(s, kept, key, 0);

	return r < 0 ? r : 0;
}

int edit_state_reduce(struct edit_state *s)
{
	struct fxt_record record;
	struct fxt_held *held;
	int r = 0;

	/* (the records that are kept are appended behind those that were added) */
	while (r >= 0 && (held = fxt_holds_next(s->holds, NULL)) &&
	       held->key.kind == FXT_HOLDS_OBJECT && held->key.c > 0) {
		struct edit_kept *kept = edit_kept_ref(held->what);

		fxt_holds_forget(s->holds, held);
		r = edit_viewer_parse(s->viewer, kept, &record);
		if (r == 0 && record.type == FXT_RECORD_KERNEL_OBJECT)
			r = edit_state_process(s, kept, &record);
		edit_kept_unref(kept);
	}
	return r < 0 ? r : 0;
}

/* Changes the process of R to PID: PID has inherited the mapping or name. R is a copy. */
static void edit_state_set_process(struct fxt_record *r, uint64_t pid)
{
	struct fxt_arg arg;

	/* The value is the last word of the argument. The words belong to a copy. */
	if (r->type == FXT_RECORD_EVENT && edit_find_arg(r, FXT_NAME_PROCESS, FXT_ARG_KOID, &arg))
		((uint64_t *)(uintptr_t)arg.words)[arg.n_words - 1] = pid;
	else
		r->thread.pid = r->thread.tid = pid;
}

uint64_t edit_state_left_out(const struct edit_state *s)
{
	return fxt_holds_left_out(s->holds);
}

int edit_state_flush(struct edit_state *s, edit_state_fn write, void *userdata)
{
	const struct edit_kept *kept;
	struct fxt_record record;
	struct fxt_held *held;
	int r = 0;

	while (r == 0 && (held = fxt_holds_next(s->holds, NULL))) {
		kept = held->what;
		r = edit_viewer_parse(s->viewer, kept, &record);
		if (r == 0 && held->inherited)
			edit_state_set_process(&record, held->pid);
		r = r ?: write(userdata, kept->from, &record);
		fxt_holds_forget(s->holds, held);
	}
	return r;
}
