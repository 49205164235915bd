/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/thread-table.h"

#include <errno.h>
#include <stdlib.h>

struct thread {
	uint64_t handle;              /* pthread_t; 0 = not known yet */
	uint32_t tid;                 /* 0 = unknown, or reused */
	bool ended, detached, exited; /* exited: the exit of its process has ended it */
	struct origin origin;
};

static struct resource_block thread_block(const struct thread *t)
{
	return (struct resource_block){
		.resource = RESOURCE_THREAD,
		.id = t->handle,
		.origin = t->origin,
		.text = t->exited ? "ended by the exit of the process" : "",
	};
}

/* Returns true if T has ended and must be joined. */
static bool thread_is_leaked(const struct thread *t)
{
	return t->handle && t->ended && !t->detached;
}

static int thread_report_if_leaked(struct thread_table *b, const struct thread *t)
{
	const struct resource_block block = thread_block(t);

	return thread_is_leaked(t) ? b->left(&block, true, b->userdata) : 0;
}

static void thread_forget_tid(struct thread_table *b, struct thread *t)
{
	if (t->tid && table_get(&b->by_tid, t->tid) == t)
		table_remove(&b->by_tid, t->tid);
	t->tid = 0;
}

static int thread_forget_thread(struct thread_table *b, struct thread *t)
{
	const struct resource_block block = thread_block(t);
	int r = thread_is_leaked(t) ? b->left(&block, false, b->userdata) : 0;

	thread_forget_tid(b, t);
	if (t->handle)
		table_remove(&b->by_handle, t->handle);
	free(t);
	return r;
}

/* Forgets a thread without a handle: pthread_create() has failed after the fork, or its return
 * was missed. */
static void thread_forget_unfinished(struct thread_table *b, uint32_t maker_tid)
{
	struct thread *t = table_remove(&b->being_made, (uint64_t)maker_tid + 1);

	if (t && !t->handle)
		thread_forget_thread(b, t);
}

static int thread_fork_thread(struct thread_table *b, const struct rec_resource *rec)
{
	uint32_t maker = rec->head.tid, tid = (uint32_t)rec->args[0];
	struct thread *t, *other;

	thread_forget_unfinished(b, maker);
	if (tid == 0)
		return 0;
	other = table_get(&b->by_tid, tid);
	if (other && !other->handle)
		return 0;
	if (other)
		thread_forget_tid(b, other);
	if (b->by_tid.n_used >= RESOURCES_MAX) {
		b->n_full++;
		return 0;
	}
	t = table_make(&b->by_tid, tid, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->tid = tid;
	if (table_set(&b->being_made, (uint64_t)maker + 1, t) < 0)
		return thread_forget_thread(b, t), -ENOMEM;
	return 0;
}

/*
 * Returns true if attributes make a thread detached. WORDS are the first, second and fourth word of
 * the attributes.
 */
static bool thread_attr_is_detached(const __u64 words[3])
{
	/*
	 * The attributes of musl begin with the size of the stack. The attributes of glibc begin
	 * with a priority and a policy.
	 */
	bool is_musl = (uint32_t)words[0] > 1000;

	return is_musl ? (uint32_t)words[2] != 0 : words[1] & 1;
}

static int thread_create_thread(struct thread_table *b, const struct rec_resource *rec)
{
	struct thread *t = table_remove(&b->being_made, (uint64_t)rec->head.tid + 1);
	struct thread *other = table_get(&b->by_handle, rec->args[0]);
	int r = 0;

	if (!t || rec->args[0] == 0)
		return t ? thread_forget_thread(b, t) : 0;
	if (other)
		r = thread_forget_thread(b, other);
	t->detached |= thread_attr_is_detached(&rec->args[1]);
	if (r < 0 || t->detached || b->by_handle.n_used >= RESOURCES_MAX) {
		b->n_full += !t->detached;
		return thread_forget_thread(b, t);
	}
	if (table_set(&b->by_handle, rec->args[0], t) < 0)
		return thread_forget_thread(b, t), -ENOMEM;
	t->handle = rec->args[0];
	t->origin = (struct origin){
		.since_ns = rec->head.ts_ns,
		.stack = rec->stack,
		.tid = rec->head.tid,
		.operation = rec->operation,
		.context = rec->context,
	};
	return thread_report_if_leaked(b, t);
}

static int thread_end_thread(struct thread_table *b, const struct rec_resource *rec)
{
	struct thread *t;

	thread_forget_unfinished(b, rec->head.tid);
	t = table_get(&b->by_tid, rec->head.tid);
	if (!t || t->ended)
		return 0;
	t->ended = true;
	t->exited = rec->args[0];
	if (!t->handle)
		return 0;
	/* From now on, the tid can be reused. */
	thread_forget_tid(b, t);
	return thread_report_if_leaked(b, t);
}

static int thread_release_thread(struct thread_table *b, const struct rec_resource *rec)
{
	struct thread *t = table_get(&b->by_handle, rec->args[0]), *self;

	if (t)
		return thread_forget_thread(b, t);
	self = table_get(&b->by_tid, rec->head.tid);
	/* The thread detaches itself before pthread_create() has returned. */
	if (self && !self->handle && rec->operation == RESOURCE_OP_THREAD_DETACH)
		self->detached = true;
	else
		b->n_unmatched++;
	return 0;
}

int thread_table_record(struct thread_table *b, const struct rec_resource *rec)
{
	switch (rec->operation) {
	case RESOURCE_OP_THREAD_FORK:
		return thread_fork_thread(b, rec);
	case RESOURCE_OP_THREAD_CREATE:
		return thread_create_thread(b, rec);
	case RESOURCE_OP_THREAD_JOIN:
	case RESOURCE_OP_THREAD_DETACH:
		return thread_release_thread(b, rec);
	case RESOURCE_OP_THREAD_END:
		return thread_end_thread(b, rec);
	default:
		return 0;
	}
}

int thread_table_each(const struct thread_table *b, resources_block_fn fn, void *userdata)
{
	const struct thread *t;
	struct resource_block block;
	int r = 0;

	for (size_t pos = 0; r == 0 && (t = table_next(&b->by_handle, &pos));) {
		block = thread_block(t);
		r = thread_is_leaked(t) ? fn(&block, userdata) : 0;
	}
	return r;
}

void thread_table_deinit(struct thread_table *b)
{
	struct thread *t;

	/* This is the only table that has threads without a handle. */
	for (size_t pos = 0; (t = table_next(&b->by_tid, &pos));)
		if (!t->handle)
			free(t);
	table_deinit(&b->by_tid);
	table_deinit_free(&b->by_handle);
	table_deinit(&b->being_made);
}
