/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records with a stack: samples, and times off CPU.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/outbuf.h"
#include "capture/programs/collector.h"
#include "capture/stages/named-stacks.h"
#include "capture/stages/profiler-parts.h"
#include "model/calls/call-syscalls.h"
#include "writer/fxt/fxt-holds.h"
#include "writer/fxt/fxt-wire.h"

/* No program has code in its first page. */
#define LOWEST_CODE 4096

enum { FRAMES_MAX = 2 * STACK_FRAMES_MAX };
_Static_assert(STACK_FRAMES_MAX == EVENT_SAMPLE_FRAMES_MAX, "readers know from it what was cut");

/* Returns a number for the combination of two stacks. Each stack can be missing (0). */
static uint64_t profiler_number_of(uint64_t kernel_stack, uint64_t user_stack)
{
	const uint64_t both[] = { kernel_stack, user_stack };

	return kernel_stack && user_stack ? table_hash_seeded(0, both, sizeof(both))
					  : kernel_stack + user_stack;
}

/* The copied stack of a thread that has left its CPU. */
struct left {
	uint64_t id;
	/* Size of the piece that follows, whose walk must be tried again; 0 = no piece. */
	size_t copied;
	unsigned n; /* number of frames that follow, if no piece follows */
	uint64_t data[];
};

static void profiler_forget(struct profiler *p, struct table *t, uint64_t key)
{
	struct left *left = table_remove(t, key);

	if (left)
		p->left_bytes -= left->copied;
	free(left);
}

void profiler_forget_left(struct profiler *p, uint32_t tid)
{
	profiler_forget(p, &p->left, (uint64_t)tid + 1);
}

/* Walks the copies in T as far as possible now, and keeps only their frames. */
static void profiler_walk_kept(struct profiler *p, struct table *t)
{
	uint64_t frames[STACK_FRAMES_MAX];

	for (size_t i = 0; i < t->n_slots; i++) {
		struct left *left = t->slots[i].key ? t->slots[i].value : NULL, *shorter;
		unsigned n;

		if (!left || !left->copied)
			continue;
		n = collector_walk_waiting(p->pipe->collector, (const struct rec_piece *)left->data,
					   false, frames);
		p->left_bytes -= left->copied;
		left->copied = 0;
		left->n = n;
		memcpy(left->data, frames, n * sizeof(*frames));
		shorter = realloc(left, sizeof(*left) + n * sizeof(*frames));
		if (shorter)
			t->slots[i].value = shorter;
	}
}

/*
 * Returns true if there is room for a copy of PIECE. If there is no room, first walks the existing
 * copies, which then need less room: most copies belong to threads that have run again, and most
 * tables exist by now.
 */
static bool profiler_can_retry(struct profiler *p, const struct rec_piece *piece)
{
	if (p->left_bytes + piece->head.size > PROFILER_LEFT_BYTES_MAX) {
		profiler_walk_kept(p, &p->left);
		profiler_walk_kept(p, &p->waiting);
		profiler_walk_kept(p, &p->waiting_before);
	}
	return p->left_bytes + piece->head.size <= PROFILER_LEFT_BYTES_MAX;
}

/*
 * Adds PIECE to T at KEY. The walk of PIECE has found N FRAMES, or must be tried again (N = 0).
 * While a thread waits, its stack is not needed. So if a table is missing, the walk is tried again
 * when the time off CPU ends. Returns 0 or -ENOMEM.
 */
static int profiler_keep(struct profiler *p, struct table *t, uint64_t key,
			 const struct rec_piece *piece, const uint64_t *frames, unsigned n)
{
	size_t bytes = n ? n * sizeof(*frames) : piece->head.size;
	struct left *left = table_make(t, key, sizeof(*left) + bytes);

	if (!left)
		return -ENOMEM;
	left->id = piece->id;
	left->n = n;
	left->copied = n ? 0 : bytes;
	p->left_bytes += left->copied;
	memcpy(left->data, n ? (const void *)frames : piece, bytes);
	return 0;
}

int profiler_on_left(struct profiler *p, const struct rec_piece *piece)
{
	uint64_t frames[STACK_FRAMES_MAX], key = (uint64_t)piece->head.tid + 1;
	unsigned n = collector_resume_walk(p->pipe->collector, piece, profiler_can_retry(p, piece),
					   frames);

	return profiler_keep(p, &p->left, key, piece, frames, n);
}

/* Writes the frames of LEFT to FRAMES. Returns their number. */
static unsigned profiler_add_left(struct profiler *p, const struct left *left, uint64_t *frames)
{
	if (left->copied)
		return collector_walk_waiting(p->pipe->collector,
					      (const struct rec_piece *)left->data, false, frames);
	memcpy(frames, left->data, left->n * sizeof(*frames));
	return left->n;
}

/* Returns the stack ID that profiler_add_waiting() has added, or NULL. */
static const struct left *profiler_find_waiting(const struct profiler *p, uint64_t id)
{
	return table_get(&p->waiting, id) ?: table_get(&p->waiting_before, id);
}

/* Adds stack ID of thread TID to the N FRAMES. */
static unsigned profiler_add_frames(struct profiler *p, uint64_t *frames, unsigned n, uint32_t tid,
				    uint64_t id)
{
	const struct left *left = table_get(&p->left, (uint64_t)tid + 1);
	const struct stack *stack = id ? stacks_get(&p->stacks, id) : NULL;

	if (!left || left->id != id)
		left = id ? profiler_find_waiting(p, id) : NULL;
	if (left)
		return n + profiler_add_left(p, left, frames + n);
	if (!stack) {
		p->n_homeless += id != 0;
		return n;
	}
	memcpy(frames + n, stack->frames, stack->n_frames * sizeof(*frames));
	return n + stack->n_frames;
}

/*
 * Returns the end of the valid user frames among FRAMES, from FROM up to N. Code without frame
 * pointers uses the frame pointer's register for other values, so a walk can return values that are
 * not addresses of code. All frames from the first such value on are invalid.
 */
static unsigned profiler_end_of_user(const uint64_t *frames, unsigned from, unsigned n)
{
	for (unsigned i = from + 1; i < n; i++)
		if (frames[i] < LOWEST_CODE || frames[i] >> 63)
			return i;
	return n;
}

/* Like profiler_end_of_user(), for frames whose last ones can be words of Python. */
static unsigned profiler_end_of_walk(const uint64_t *frames, unsigned from, unsigned n)
{
	unsigned n_native = python_names_end_of_native(frames + from, n - from) + from;
	unsigned end = profiler_end_of_user(frames, from, n_native);

	return end < n_native ? end : n;
}

static int profiler_write_name(void *userdata, const struct event *ev)
{
	return profiler_write_event(userdata, ev);
}

static int profiler_hold_name(void *userdata, const struct event *ev)
{
	struct fxt_holds *holds = ((struct profiler *)userdata)->pipe->archive->holds;

	return holds ? fxt_holds_name(holds, ev) : 0;
}

int profiler_add_python(struct profiler *p, const struct event *sample, uint64_t *frames,
			unsigned n)
{
	uint64_t copy[FRAMES_MAX];
	const struct python_stack stack = {
		.frames = copy,
		.n = n,
		.koid = sample->pid,
		.returns = sample->sample.kind == SAMPLE_NAMED,
		.ts_ns = sample->ts_ns,
		.write = profiler_write_name,
		/* named stacks are repeated in each chunk (capture/stages/marks) */
		.hold = sample->sample.kind == SAMPLE_NAMED ? profiler_hold_name : NULL,
		.userdata = p,
	};

	if (n > FRAMES_MAX)
		return -EINVAL;
	memcpy(copy, frames, n * sizeof(*copy));
	return python_names_expand(&p->python, &stack, frames);
}

/* Writes EV about the thread of HEAD (unless EV is NULL), and the stack. */
static int profiler_write_stack(struct profiler *p, const struct rec_head *head, struct event *ev,
				uint64_t ts_ns, uint64_t kernel_stack, uint64_t user_stack)
{
	uint64_t frames[FRAMES_MAX];
	unsigned n = profiler_add_frames(p, frames, 0, head->tid, kernel_stack), n_kernel = n;
	struct event sample = {
		.kind = EVENT_SAMPLE,
		.ts_ns = ts_ns,
		.cpu = head->cpu,
		.sample = { .frames = frames, .kind = ev ? SAMPLE_OFF_CPU : SAMPLE_ON_CPU },
	};
	int r = pipeline_announce_thread(p->pipe, head->tid, head->pid);

	sample.pid = tasks_koid(p->pipe->tasks, head->pid);
	sample.tid = tasks_koid(p->pipe->tasks, head->tid);
	r = r ?: profiler_need(p, head->pid, ts_ns);
	if (profiler_is_between_programs(p, head->pid))
		user_stack = 0;
	n = profiler_add_frames(p, frames, n, head->tid, user_stack);
	if (r < 0)
		return r;
	r = pipeline_add_python(p->pipe, &sample, frames + n_kernel, n - n_kernel);
	if (r < 0)
		return r;
	n = profiler_end_of_user(frames, n_kernel, n_kernel + (unsigned)r);
	r = 0;
	sample.sample.n_frames = n;
	if (p->n_homeless == 0)
		sample.sample.id = profiler_number_of(kernel_stack, user_stack);
	if (r == 0 && kernel_stack)
		r = profiler_need(p, FXT_KOID_KTHREADD, ts_ns);
	if (r == 0 && ev) {
		ev->pid = sample.pid;
		ev->tid = sample.tid;
		r = profiler_write_event(p, ev);
	}
	if (r < 0 || sample.sample.n_frames == 0)
		return r;
	return ev ? fxt_archive_event(p->pipe->archive, &sample) : profiler_write_event(p, &sample);
}

int profiler_on_sample(struct profiler *p, const struct rec_head *head)
{
	const struct rec_sample *rec = (const struct rec_sample *)head;

	if (head->ts_ns < p->pipe->from_ns || head->ts_ns > p->pipe->to_ns)
		return 0;
	return profiler_write_stack(p, head, NULL, head->ts_ns, rec->kernel_stack, rec->user_stack);
}

/*
 * Begins a new list of stacks that wait. Keeps the previous list, since records that are still in
 * the rings can need its stacks.
 */
static void profiler_turn_waiting(struct profiler *p)
{
	const struct left *left;

	for (size_t pos = 0; (left = table_next(&p->waiting_before, &pos));)
		p->left_bytes -= left->copied;
	table_deinit_free(&p->waiting_before);
	p->waiting_before = p->waiting;
	p->waiting = (struct table){ 0 };
}

int profiler_add_waiting(struct profiler *p, const struct outbuf *pieces)
{
	uint64_t frames[STACK_FRAMES_MAX];
	const struct rec_piece *piece;
	unsigned n;
	int r = 0;

	if (pieces->size > 0)
		profiler_turn_waiting(p);
	for (size_t at = 0; r == 0 && at < pieces->size; at += piece->head.size) {
		piece = (const struct rec_piece *)(pieces->data + at);
		n = collector_walk_waiting(p->pipe->collector, piece, profiler_can_retry(p, piece),
					   frames);
		r = profiler_keep(p, &p->waiting, piece->id, piece, frames, n);
	}
	return r;
}

/*
 * Returns true if the stack of REC came to profiler_add_waiting(). (After a failure, its piece can
 * be unknown.)
 */
static bool profiler_is_waiting(const struct profiler *p, const struct rec_offcpu *rec)
{
	return rec->is_earlier && rec->user_stack && profiler_find_waiting(p, rec->user_stack);
}

/* Returns how REC ended; NULL = the time off CPU ended with the record. */
static const char *profiler_end_of(const struct rec_offcpu *rec, bool is_open)
{
	if (is_open)
		return "open";
	return rec->end == REC_OFFCPU_RUNS ? "unknown" : NULL;
}

enum { SYSCALL_NAME_MAX = 32 };

/*
 * Sets the system call of EV from REC. TO has room for the name of a call of another ABI. (A fault
 * in a system call has the registers of the call.)
 */
static void profiler_set_call(const struct rec_offcpu *rec, char to[static SYSCALL_NAME_MAX],
			      struct event *ev)
{
	const struct call_syscall *call = rec->call.table == OFFCPU_CALL_OWN
						  ? call_syscall_by_number(rec->call.number)
						  : NULL;
	int32_t fd = (int32_t)rec->call.argument;

	ev->offcpu.fd = -1;
	if (rec->call.table == OFFCPU_CALL_NONE)
		return;
	ev->offcpu.syscall = call ? call->name : to;
	snprintf(to, SYSCALL_NAME_MAX, "%s%u",
		 rec->call.table == OFFCPU_CALL_32    ? "32-bit "
		 : rec->call.table == OFFCPU_CALL_X32 ? "x32 "
						      : "",
		 rec->call.number);
	if (!call || !call->signature)
		return;
	if (strncmp(call->signature, "(fd ", 4) == 0 && fd >= 0)
		ev->offcpu.fd = fd;
	if (strcmp(call->name, "futex") == 0 || strcmp(call->name, "futex_wait") == 0)
		ev->offcpu.address = rec->call.argument;
}

/*
 * Sets the owner of the lock in EV. Recorded programs can store any number there. So the owner must
 * be the tid of a thread, and this thread must be of the same process unless other processes can
 * use the lock. Returns 0 or a negative errno.
 */
static int profiler_set_owner(struct profiler *p, const struct rec_offcpu *rec, struct event *ev)
{
	uint32_t tid = rec->call.owner_tid;
	const struct task *owner =
		tid > 0 && tid < TASKS_TID_MAX ? tasks_get(p->pipe->tasks, tid) : NULL;

	if (!owner || tid == rec->head.tid || owner->start_ns > rec->begin_ns ||
	    (owner->pid != rec->head.pid && !rec->call.is_shared))
		return 0;
	ev->offcpu.owner_tid = tasks_koid(p->pipe->tasks, tid);
	return pipeline_announce_thread(p->pipe, tid, owner->pid);
}

/* Returns how many of the innermost of the N FRAMES belong to the wakeup itself. */
static unsigned profiler_skip_wakeup(const struct profiler *p, const uint64_t *frames, unsigned n)
{
	uint64_t wakes = collector_wakes(p->pipe->collector);

	for (unsigned i = 0; wakes && i < n; i++)
		if (frames[i] - wakes < OFFCPU_WAKES_BYTES)
			return i + 1;
	return 0;
}

static const char *profiler_context_of(const struct rec_offcpu *rec)
{
	return rec->waker.context == OFFCPU_WOKEN_BY_INTERRUPT ? "interrupt"
	       : rec->waker.context == OFFCPU_WOKEN_BY_SOFTIRQ ? "softirq"
							       : NULL;
}

/*
 * Writes the stack of the waker in REC, and sets its id in EV. The stack of an interrupt is written
 * as a stack of kthreadd. Returns 0 or a negative errno.
 */
static int profiler_name_waker(struct profiler *p, const struct rec_offcpu *rec, struct event *ev)
{
	const struct offcpu_waker *waker = &rec->waker;
	struct rec_head head = rec->head;
	uint64_t frames[FRAMES_MAX];
	unsigned n, skipped;
	int r = 0;

	if (!p->named || (!waker->kernel_stack && !waker->user_stack))
		return 0;
	head.ts_ns = rec->woken_ns;
	head.cpu = waker->cpu;
	head.pid = head.tid = waker->context ? FXT_KOID_KTHREADD : waker->pid;
	n = profiler_add_frames(p, frames, 0, rec->waker_tid, waker->kernel_stack);
	skipped = profiler_skip_wakeup(p, frames, n);
	if (!profiler_is_between_programs(p, head.pid))
		n = profiler_end_of_walk(frames, n,
					 profiler_add_frames(p, frames, n, rec->waker_tid,
							     waker->user_stack));
	if (n > skipped && waker->kernel_stack)
		r = profiler_need(p, FXT_KOID_KTHREADD, head.ts_ns);
	if (r < 0 || n <= skipped)
		return r;
	return named_stacks_write(p->named, &head, frames + skipped, n - skipped,
				  &ev->offcpu.waker_stack);
}

int profiler_on_offcpu(struct profiler *p, const struct rec_head *head)
{
	const struct rec_offcpu *rec = (const struct rec_offcpu *)head;
	char name[SYSCALL_NAME_MAX];
	/*
	 * For a thread that returns after the end of the recording, the time off CPU is still open.
	 */
	bool is_open = rec->end == REC_OFFCPU_OPEN || head->ts_ns > p->pipe->to_ns;
	struct event ev = {
		.kind = EVENT_OFFCPU,
		.ts_ns = rec->begin_ns < p->pipe->from_ns ? p->pipe->from_ns : rec->begin_ns,
		.cpu = head->cpu,
		.offcpu = {
			.end_ns = head->ts_ns < p->pipe->to_ns ? head->ts_ns : p->pipe->to_ns,
			.left_by = profiler_end_of(rec, is_open),
			.begun = rec->is_earlier ? "earlier" : NULL,
			.reason = rec->quota.quota_ns ? "throttled"
				  : rec->in_iowait    ? "io"
						      : NULL,
			.quota_ns = rec->quota.quota_ns,
			.period_ns = rec->quota.period_ns,
			.cgroup_path = tasks_cgroup_path(p->pipe->tasks, rec->quota.cgroup_id),
			.waker_tid = rec->waker_tid && !is_open ? tasks_koid(p->pipe->tasks, rec->waker_tid) : 0,
			.state = (char)rec->state,
			.woken_ns = is_open ? 0 : rec->woken_ns,
			.context = is_open || rec->state == 'R' ? NULL : profiler_context_of(rec),
		},
	};
	bool is_waiting;
	int r;

	if (head->ts_ns < p->pipe->from_ns || rec->begin_ns > p->pipe->to_ns ||
	    rec->begin_ns < p->pipe->seen_ns ||
	    (is_open && ev.offcpu.end_ns - rec->begin_ns < p->offcpu_min_ns))
		return 0;
	profiler_set_call(rec, name, &ev);
	is_waiting = profiler_is_waiting(p, rec);
	r = profiler_set_owner(p, rec, &ev);
	if (r == 0 && !is_open && rec->woken_ns >= rec->begin_ns)
		r = profiler_name_waker(p, rec, &ev);
	r = r
		    ?: profiler_write_stack(p, head, &ev, ev.ts_ns, rec->kernel_stack,
					    rec->is_earlier && !is_waiting ? 0 : rec->user_stack);
	if (is_waiting) {
		profiler_forget(p, &p->waiting, rec->user_stack);
		profiler_forget(p, &p->waiting_before, rec->user_stack);
	}
	profiler_forget_left(p, head->tid);
	return r;
}
