/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Threads that were away from any CPU for long: how long, with which stack they left, who woke
 * them.
 *
 * Whether it was long is known when a thread comes back, and most were away shortly; so as little
 * as possible is done when it leaves. The kernel stack of a thread that is away stays as it is: it
 * is walked at its return (2 us, but only for those that count). Its user stack stays, too, but at
 * the return, in this hook, the CPU still has the memory of the thread before: it can only be
 * walked when the thread leaves (by frame pointers, up to a microsecond). It is kept with the
 * thread, and hashed and sent only if the thread comes back late.
 *
 * Runs with interrupts off, as sched.bpf.c says. A thread's entry is written by one CPU at a time:
 * where it leaves, then where it comes back, which the scheduler orders; only its waker writes from
 * elsewhere, and only waker_tid and woken_ns.
 */
#include "bpf/actor.bpf.h"
#include "bpf/context.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/cpu-state.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"
#include "bpf/stack.bpf.h"
#include "bpf/task-state.bpf.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

extern const volatile __u64 offcpu_min_ns, sched_ring_bytes;

/* By tid, from when it leaves first until it dies. Not task storage: that allocates as the kernel
 * does, which may wake somebody, and we hold the run queue. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, OFFCPU_THREADS_MAX);
	__type(key, __u32);
	__type(value, struct offcpu_thread);
} offcpu_threads SEC(".maps");

/* What entries begin as: zeroes. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct offcpu_thread);
} offcpu_blank SEC(".maps");

static __always_inline struct offcpu_thread *entry_of(__u32 tid, __u64 now_ns)
{
	struct offcpu_thread *t = bpf_map_lookup_elem(&offcpu_threads, &tid), *blank;
	__u32 zero = 0;

	if (t)
		return t;
	blank = bpf_map_lookup_elem(&offcpu_blank, &zero);
	if (!blank || bpf_map_update_elem(&offcpu_threads, &tid, blank, BPF_NOEXIST) < 0) {
		/* What it would have shown is missing. */
		rec_lose(REC_RING_STACKS, now_ns);
		return NULL;
	}
	return bpf_map_lookup_elem(&offcpu_threads, &tid);
}

/* The kernel stack of P; addresses of the kernel are not for everybody. */
static __always_inline __u32 walk_kernel_of(struct task_struct *p, bool runs, __u64 *frames)
{
	return runs || filter_kinds & FILTER_OWN ? 0 : stack_walk_kernel_of(p, frames);
}

/* How the time of a thread off CPU has ended, as far as that is known. */
enum offcpu_end {
	OFFCPU_RETURNS,
	OFFCPU_RUNS, /* it runs by now, so its kernel stack is another one */
	OFFCPU_OPEN, /* it is still away */
};

/* T is what is known of P, which is away until NOW_NS. */
static __always_inline void write_offcpu(struct offcpu_thread *t, struct task_struct *p,
					 enum offcpu_end end, __u64 now_ns)
{
	struct rec_stack *room = stack_room(STACK_ROOM_SWITCH);
	struct rec_offcpu *rec;
	__u64 kernel, user;

	if (!room ||
	    !stack_send(room, walk_kernel_of(p, end == OFFCPU_RUNS, room->frames), p, now_ns,
			&kernel) ||
	    !stack_send(&t->user, t->n_user_frames, p, now_ns, &user))
		return;
	rec = rec_reserve(REC_OFFCPU_RING, sizeof(*rec), now_ns);
	if (!rec)
		return;
	rec_fill_head(&rec->head, now_ns, REC_OFFCPU, sizeof(*rec), p);
	rec->begin_ns = t->begin_ns;
	rec->kernel_stack = kernel;
	rec->user_stack = user;
	/* A thread that was only preempted was not woken. */
	rec->waker_tid = t->state == 'R' ? 0 : t->waker_tid;
	rec->state = t->state;
	rec->is_open = end == OFFCPU_OPEN;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

/* Times of two CPUs may differ by some ns: then it was not away. */
static __always_inline bool was_away(const struct offcpu_thread *t, __u64 now_ns)
{
	return t->begin_ns != 0 && (__s64)(now_ns - t->begin_ns) >= (__s64)offcpu_min_ns;
}

/*
 * P leaves its CPU at NOW_NS, and the kernel has not reported that it came back: until when it is
 * known to have been away. It was when it was woken; else it was before it used the CPU time that
 * it has had since. (It may have made system calls in between, so it was not away until now.)
 */
static __always_inline __u64 unreported_return(const struct offcpu_thread *t, struct task_struct *p,
					       __u64 now_ns)
{
	__u64 woken_ns = *(volatile __u64 *)&t->woken_ns, ran_ns;

	if ((__s64)(woken_ns - t->begin_ns) > 0 && (__s64)(now_ns - woken_ns) > 0)
		return woken_ns;
	ran_ns = p->se.sum_exec_runtime - t->ran_ns;
	return ran_ns < now_ns - t->begin_ns ? now_ns - ran_ns : t->begin_ns;
}

static __always_inline void offcpu_leave(void *ctx, struct task_struct *p, __u32 state,
					 __u64 now_ns)
{
	struct offcpu_thread *t;
	__u64 away_ns;
	__u32 tid = p->pid;

	if (state & TASK_DEAD) {
		bpf_map_delete_elem(&offcpu_threads, &tid);
		return;
	}
	t = entry_of(tid, now_ns);
	if (!t)
		return;
	away_ns = t->begin_ns ? unreported_return(t, p, now_ns) : 0;
	if (was_away(t, away_ns))
		write_offcpu(t, p, OFFCPU_RUNS, away_ns);
	t->waker_tid = 0;
	t->woken_ns = 0;
	t->state = state_letter(state);
	t->n_user_frames = stack_walk_user(ctx, p, &t->user);
	t->ran_ns = p->se.sum_exec_runtime;
	t->begin_ns = now_ns;
}

static __always_inline void offcpu_come_back(struct task_struct *p, __u64 now_ns)
{
	__u32 tid = p->pid;
	struct offcpu_thread *t = bpf_map_lookup_elem(&offcpu_threads, &tid);

	if (!t || t->begin_ns == 0)
		return;
	if (was_away(t, now_ns))
		write_offcpu(t, p, OFFCPU_RETURNS, now_ns);
	t->begin_ns = 0;
	t->waker_tid = 0;
}

/* P comes back as somebody else's, or in the middle of exec: nobody is to hear of when it was
 * away. */
static __always_inline void come_back_unseen(struct task_struct *p)
{
	__u32 tid = p->pid;
	struct offcpu_thread *t = bpf_map_lookup_elem(&offcpu_threads, &tid);

	if (t)
		t->begin_ns = 0;
}

/*
 * The time that on_sched_switch has taken of this switch, if it has looked at it. It has not where
 * it is not attached, or no more, where its filter has passed over the switch, or where the kernel
 * has skipped it: the last time that it took is that of another switch.
 */
static __always_inline __u64 switch_time(void)
{
	struct cpu_state *state = sched_ring_bytes ? cpu_state() : NULL;
	__u64 now_ns = state ? state->switch_ns : 0;

	if (!now_ns)
		return bpf_ktime_get_boot_ns();
	state->switch_ns = 0;
	return now_ns;
}

SEC("?tp_btf/sched_switch")
int TIMED_PROG(COST_OFFCPU, on_offcpu_switch, bool preempt, struct task_struct *prev,
	       struct task_struct *next, unsigned int prev_state)
{
	bool out = prev->pid != 0 && filter_selects(prev);
	bool in = next->pid != 0 && filter_selects(next);
	__u64 now_ns = switch_time();

	if (filter_kinds & FILTER_OWN && !in && next->pid != 0)
		come_back_unseen(next);
	if (!out && !in)
		return 0;
	if (in)
		offcpu_come_back(next, now_ns);
	if (out)
		offcpu_leave(ctx, prev, state_of_leaving(prev, preempt, prev_state), now_ns);
	return 0;
}

SEC("?tp_btf/sched_waking")
int TIMED_PROG(COST_OFFCPU, on_offcpu_waking, struct task_struct *p)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	__u32 tid = p->pid;
	struct offcpu_thread *t;
	enum actor actor;

	if (p->pid == waker->pid || !filter_selects(p))
		return 0;
	t = bpf_map_lookup_elem(&offcpu_threads, &tid);
	if (!t)
		return 0;
	t->woken_ns = bpf_ktime_get_boot_ns();
	actor = actor_of(waker);
	t->waker_tid = (actor == ACTOR_TASK || actor == ACTOR_OWN_SOFTIRQ) && filter_selects(waker)
			       ? (__u32)waker->pid
			       : 0;
	return 0;
}

/*
 * When the programs above have gone: who is still away. One that has run since, unseen, is not
 * known to be: its kernel stack may be another one. Nor is one that runs now: the kernel adds the
 * time that it has run only at the next tick.
 */
SEC("?iter/task")
int on_iter_offcpu(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct offcpu_thread *t;
	__u64 now_ns = bpf_ktime_get_boot_ns();
	__u32 tid;

	if (!p || !filter_selects(p))
		return 0;
	tid = p->pid;
	t = bpf_map_lookup_elem(&offcpu_threads, &tid);
	if (t && was_away(t, now_ns) && !p->on_cpu && t->ran_ns == p->se.sum_exec_runtime)
		write_offcpu(t, p, OFFCPU_OPEN, now_ns);
	return 0;
}
