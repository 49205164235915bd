/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The scheduler's hooks: each writes one finished FXT record into its CPU's word ring.
 *
 * All hooks run with interrupts off (the lock of the run queue or the task is held). So each ring
 * has one producer, and there are no locks and no reserve calls. A task that wakes itself can have
 * interrupts on; its hook returns before it accesses the ring. docs/FXT-MAPPING.md describes the
 * records.
 */
#include "bpf/actor.bpf.h"
#include "bpf/context.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/cpu-state.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/record.h"
#include "bpf/ring.bpf.h"
#include "bpf/task-state.bpf.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-wire.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define NICE_0_PRIO 120

const volatile __u64 sched_ring_bytes = 0; /* a power of two */
const volatile __s64 preempt_count_from_rq = 0;
const volatile __u32 preempt_count_type = 0;
const volatile __u64 offcpu_min_ns = 0; /* 0 = times off CPU are not recorded */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by user space to the number of possible CPUs */
	__uint(key_size, sizeof(__u32));
	/* Set by user space: size of struct word_ring, the ring, and the slack. */
	__uint(value_size, 8192);
} sched_rings SEC(".maps");

/*
 * Returns the ring of CPU, which must be this CPU. Never NULL, since the map has an entry for each
 * possible CPU.
 */
static __always_inline struct word_ring *ring_of(__u32 cpu)
{
	return bpf_map_lookup_elem(&sched_rings, &cpu);
}

/*
 * Returns true if P, which runs on this CPU, is shown: P is selected, or was selected when it was
 * switched in. If a thread leaves the filter while it runs (it exits, or changes its name or user),
 * the thread is shown until it is switched out. So the archive contains its departure from the CPU.
 */
static __always_inline bool sched_is_shown(const struct word_ring *ring, struct task_struct *p)
{
	return !filter_kinds || (p->pid != 0 && ring->shown_tid == (__u32)p->pid) ||
	       filter_selects(p);
}

/*
 * Returns true if more data of P than its switches may be disclosed. With --own, a thread that has
 * left the filter belongs to another user.
 */
static __always_inline bool is_open(struct task_struct *p, bool shown)
{
	return shown && (!(filter_kinds & FILTER_OWN) || filter_selects(p));
}

/*
 * Reserves BYTES like ring_reserve(). RUNNING is the task that ran on this CPU until now, NEXT the
 * task that runs next. If no switch was missed after the last lost record, the mark of the loss
 * names the running thread.
 */
static __always_inline bool sched_reserve(struct reservation *r, struct word_ring *ring,
					  __u32 bytes, __u64 now_ns, struct task_struct *running,
					  struct task_struct *next)
{
	struct ring_lost *mark = NULL;

	if (!ring_reserve(r, ring, sched_ring_bytes, bytes, now_ns, &mark)) {
		ring->lost_tid = next->pid;
		return false;
	}
	if (__builtin_expect(mark != NULL, 0)) {
		bool shown = sched_is_shown(ring, running);

		mark->tid = (__u32)running->pid == ring->lost_tid ? ring->lost_tid : 0;
		mark->prio = running->prio;
		if (!shown)
			mark->tid = FXT_KOID_OTHER + bpf_get_smp_processor_id();
		if (!is_open(running, shown))
			mark->prio = NICE_0_PRIO;
	}
	return true;
}

static __always_inline void sched_commit(const struct reservation *r)
{
	ring_commit(r, sched_ring_bytes);
}

static __always_inline __u64 weight_arg(enum fxt_name name, struct task_struct *p, bool selected)
{
	int weight = !selected ? NICE_0_PRIO : p->pid == 0 ? FXT_IDLE_WEIGHT : p->prio;

	return fxt_arg32(FXT_ARG_INT32, name, (__u32)weight);
}

/*
 * Returns the FXT state of a leaving thread. PREEMPTED: true = the thread has not called the
 * scheduler itself.
 */
static __always_inline __u32 fxt_state(__u32 state, bool preempted)
{
	if (state == 0)
		return preempted ? FXT_STATE_PREEMPTED : FXT_STATE_RUNNING;
	if (state & TASK_DEAD)
		return FXT_STATE_DEAD;
	if (state & (TASK_STOPPED | TASK_TRACED))
		return FXT_STATE_SUSPENDED;
	return FXT_STATE_BLOCKED;
}

/*
 * Keeps the time of the switch for on_offcpu_switch, which runs next, so that both record the same
 * time.
 */
static __always_inline void keep_switch_time(__u64 now_ns)
{
	struct cpu_state *state = cpu_state();

	if (state)
		state->switch_ns = now_ns;
}

/* Returns the name for the letter of STATE, if it is neither R nor S; else 0. */
static __always_inline enum fxt_name state_name(__u32 state)
{
	switch (state_letter(state)) {
	case 'X':
		return FXT_NAME_STATE_X;
	case 'D':
		return FXT_NAME_STATE_D;
	case 'I':
		return FXT_NAME_STATE_I;
	case 'T':
		return FXT_NAME_STATE_T;
	case 't':
		return FXT_NAME_STATE_t;
	case 'P':
		return FXT_NAME_STATE_P;
	default:
		return 0;
	}
}

/*
 * Keeps NEXT as the task that runs on this CPU, and returns true if that task is known not to be
 * PREV until now: the kernel did not report a switch. (An exec can change the id of a task, but not
 * its address.)
 */
static __always_inline bool sched_missed_switch(struct word_ring *ring, struct task_struct *prev,
						struct task_struct *next)
{
	__u64 running = ring->running;

	ring->running = context_address(next);
	return running && running != context_address(prev);
}

/*
 * Writes a switch on CPU into its ring: PREV is switched out in STATE, and NEXT is switched in. If
 * STATE is 0, PREEMPTED tells why.
 *
 * With a filter, switches between two threads that are not selected are written only if the thread
 * that was shown until now has left the CPU without a report. Otherwise it would be shown as
 * running until a selected thread runs here.
 */
static __always_inline void sched_write_switch(struct word_ring *ring, __u32 cpu,
					       struct task_struct *prev, struct task_struct *next,
					       __u32 state, bool preempted)
{
	bool prev_in = true, prev_open = true, next_in = true, missed = false, has_room;
	struct reservation r;
	__u32 letter, words;
	__u64 now_ns;

	if (filter_kinds) {
		missed = sched_missed_switch(ring, prev, next);
		prev_in = sched_is_shown(ring, prev);
		next_in = filter_selects(next);
		if (!prev_in && !next_in && !ring->shown_tid)
			return;
		prev_open = is_open(prev, prev_in);
		if (!prev_open) {
			state = 0;
			preempted = false;
		}
	}
	letter = state_name(state);
	words = letter ? 7 : 6;
	now_ns = bpf_ktime_get_boot_ns();
	if (offcpu_min_ns)
		keep_switch_time(now_ns);
	has_room = sched_reserve(&r, ring, words * sizeof(__u64), now_ns, prev, next);
	/*
	 * shown_tid is set even if the switch is lost: at the next switch, the old id can belong to
	 * another thread.
	 */
	if (filter_kinds)
		ring->shown_tid = next_in ? next->pid : 0;
	if (!has_room)
		return;
	r.words[0] = fxt_switch_header(words, words - 4, cpu, fxt_state(state, preempted)) |
		     (__u64)missed << SWITCH_UNREPORTED_BIT;
	r.words[1] = now_ns;
	r.words[2] = prev_in ? (__u32)prev->pid : FXT_KOID_OTHER + cpu;
	r.words[3] = next_in ? (__u32)next->pid : FXT_KOID_OTHER + cpu;
	r.words[4] = weight_arg(FXT_NAME_OUTGOING_WEIGHT, prev, prev_open);
	r.words[5] = weight_arg(FXT_NAME_INCOMING_WEIGHT, next, next_in);
	if (letter)
		r.words[6] = fxt_arg32(FXT_ARG_STRING, FXT_NAME_PREV_STATE, letter);
	sched_commit(&r);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct word_ring *ring = ring_of(cpu);
	__u64 begin_ns;

	if (!ring)
		return 0;
	begin_ns = cost_begin_near(COST_SCHED, &ring->untimed[0]);
	sched_write_switch(ring, cpu, prev, next, state_of_leaving(prev, preempt, prev_state),
			   preempt);
	cost_end_near(COST_SCHED, &ring->untimed[0], begin_ns);
	return 0;
}

/* Returns the waker's koid. *RET_MORE_WORDS is the number of additional words for the context. */
static __always_inline __u32 waker_koid(enum actor actor, struct task_struct *current_task,
					bool shown, __u32 cpu, __u32 *ret_more_words)
{
	*ret_more_words = 0;
	if (actor == ACTOR_IRQ || actor == ACTOR_SOFTIRQ) {
		if (shown && current_task->pid != 0)
			*ret_more_words = 2;
		return (actor == ACTOR_IRQ ? FXT_KOID_IRQ : FXT_KOID_SOFTIRQ) + 1 + cpu;
	}
	if (actor == ACTOR_OWN_SOFTIRQ)
		*ret_more_words = 1;
	return shown ? (__u32)current_task->pid : FXT_KOID_OTHER + cpu;
}

/*
 * Writes a wakeup of P by WAKER. FLAGS are put into reserved bits of the header. User space
 * evaluates and clears them.
 */
static __always_inline void sched_write_wakeup(struct word_ring *ring, struct task_struct *p,
					       struct task_struct *waker, __u64 now_ns, __u64 flags)
{
	__u32 cpu = bpf_get_smp_processor_id(), more, words, koid;
	bool shown = is_open(waker, sched_is_shown(ring, waker));
	struct reservation r;

	koid = waker_koid(actor_of(waker), waker, shown, cpu, &more);
	words = 6 + more;
	if (!sched_reserve(&r, ring, words * sizeof(__u64), now_ns, waker, waker))
		return;
	r.words[0] = fxt_wakeup_header(words, more ? 3 : 2, p->thread_info.cpu) | flags;
	r.words[1] = now_ns;
	r.words[2] = (__u32)p->pid;
	r.words[3] = fxt_arg32(FXT_ARG_INT32, FXT_NAME_WEIGHT, (__u32)p->prio);
	r.words[4] = fxt_arg64(FXT_ARG_KOID, FXT_NAME_WAKER);
	r.words[5] = koid;
	if (more == 1) {
		r.words[6] = fxt_arg32(FXT_ARG_STRING, FXT_NAME_CONTEXT, FXT_NAME_SOFTIRQ);
	} else if (more == 2) {
		r.words[6] = fxt_arg64(FXT_ARG_KOID, FXT_NAME_INTERRUPTED);
		r.words[7] = (__u32)waker->pid;
	}
	sched_commit(&r);
}

static __always_inline void sched_write_wakeup_of(struct word_ring *ring, struct task_struct *p,
						  struct task_struct *waker)
{
	/* The time is taken before on_rq is read. The merge depends on this order. */
	__u64 now_ns = bpf_ktime_get_boot_ns();
	__u64 flags = 0;

	if (!filter_selects(p))
		return;
	if (p->on_rq && !dequeue_is_delayed(p))
		flags = 1ull << WAKE_ON_RQ_BIT;
	sched_write_wakeup(ring, p, waker, now_ns, flags);
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(on_sched_waking, struct task_struct *p)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct word_ring *ring;
	__u64 begin_ns;

	/*
	 * A thread that wakes itself is already awake. (Only for such a thread can interrupts be
	 * on, so nothing may be changed before this check.)
	 */
	if (p->pid == waker->pid)
		return 0;
	ring = ring_of(bpf_get_smp_processor_id());
	if (!ring)
		return 0;
	begin_ns = cost_begin_near(COST_WAKEUPS, &ring->untimed[1]);
	sched_write_wakeup_of(ring, p, waker);
	cost_end_near(COST_WAKEUPS, &ring->untimed[1], begin_ns);
	return 0;
}

/*
 * Saves which task has raised the softirqs that run next. Softirqs are raised with interrupts off.
 */
SEC("?tp_btf/softirq_raise")
int TIMED_PROG(COST_WAKEUPS, on_softirq_raise, unsigned int vec)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct cpu_state *state = cpu_state();
	int count = preempt_count_of(p);

	if (!state)
		return 0;
	if (count & (PREEMPT_NMI | PREEMPT_HARDIRQ))
		state->softirq_of = 0;
	else if (!(count & PREEMPT_SOFTIRQ_SERVED))
		state->softirq_of = p->pid;
	return 0;
}

/* A new thread's first wakeup, which sched_waking does not report. */
SEC("?tp_btf/sched_wakeup_new")
int BPF_PROG(on_sched_wakeup_new, struct task_struct *p)
{
	struct word_ring *ring = ring_of(bpf_get_smp_processor_id());
	__u64 begin_ns;

	if (!ring || !filter_selects(p))
		return 0;
	begin_ns = cost_begin_near(COST_WAKEUPS, &ring->untimed[1]);
	sched_write_wakeup(ring, p, bpf_get_current_task_btf(), bpf_ktime_get_boot_ns(), 0);
	cost_end_near(COST_WAKEUPS, &ring->untimed[1], begin_ns);
	return 0;
}

static __always_inline void write_migrate(struct word_ring *ring, struct task_struct *p,
					  int dest_cpu)
{
	struct task_struct *running = bpf_get_current_task_btf();
	__u64 now_ns = bpf_ktime_get_boot_ns();
	struct reservation r;

	if (!filter_selects(p))
		return;
	if (!sched_reserve(&r, ring, 6 * sizeof(__u64), now_ns, running, running))
		return;
	r.words[0] = fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(6) |
		     fxt_put_event_type(FXT_EVENT_INSTANT) | fxt_put_event_n_args(2) |
		     fxt_put_event_category(FXT_NAME_SCHED) | fxt_put_event_name(FXT_NAME_MIGRATE);
	r.words[1] = now_ns;
	r.words[2] = process_id(p);
	r.words[3] = (__u32)p->pid;
	r.words[4] = fxt_arg32(FXT_ARG_UINT32, FXT_NAME_FROM_CPU, p->thread_info.cpu);
	r.words[5] = fxt_arg32(FXT_ARG_UINT32, FXT_NAME_TO_CPU, (__u32)dest_cpu);
	sched_commit(&r);
}

SEC("?tp_btf/sched_migrate_task")
int BPF_PROG(on_sched_migrate_task, struct task_struct *p, int dest_cpu)
{
	struct word_ring *ring = ring_of(bpf_get_smp_processor_id());
	__u64 begin_ns;

	if (!ring)
		return 0;
	begin_ns = cost_begin_near(COST_SCHED, &ring->untimed[0]);
	write_migrate(ring, p, dest_cpu);
	cost_end_near(COST_SCHED, &ring->untimed[0], begin_ns);
	return 0;
}
