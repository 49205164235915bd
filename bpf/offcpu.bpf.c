/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Threads that were off CPU for long: the duration, the stack at the departure, and the waker.
 *
 * The duration is known only when a thread returns, and most durations are short. So as little as
 * possible is done when a thread leaves. The kernel stack does not change while the thread is off
 * CPU. So the kernel stack is walked when the thread returns (2 us), if the duration is long
 * enough. The user stack must be walked when the thread leaves (by frame pointers, up to a
 * microsecond): at its return, this hook still runs in the memory of the previous thread. The user
 * stack is stored with the thread, and is hashed and sent only if the thread returns late.
 *
 * The eBPF programs here run with interrupts off, as sched.bpf.c describes. One CPU at a time
 * writes the entry of a thread: first the CPU that the thread leaves, then the CPU to which it
 * returns. The scheduler orders the two. Only the waker writes from another CPU, and only
 * waker_tid, woken_ns and waker.
 *
 * With stacks of wakers (offcpu_wakers), the waker's stack is walked at the wakeup, if the wait is
 * already long enough. A wakeup and a switch cannot interrupt each other, so both use the work
 * areas of switches.
 */
#include "bpf/actor.bpf.h"
#include "bpf/context.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/cpu-state.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/offcpu-call.bpf.h"
#include "bpf/piece.bpf.h"
#include "bpf/present-pages.bpf.h"
#include "bpf/python.bpf.h"
#include "bpf/quota.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"
#include "bpf/stack.bpf.h"
#include "bpf/task-state.bpf.h"
#include "bpf/unwind.bpf.h"
#include "bpf/waker.bpf.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define EEXIST 17

/*
 * The kernel measures the CPU time of a thread with another clock, and at another place of a
 * switch, so the times can differ by this much.
 */
#define RAN_ERROR_NS 10000

extern const volatile __u64 offcpu_min_ns, sched_ring_bytes;

/*
 * The entry of each thread, by tid, from its first departure until its death. This is not task
 * storage, because allocating task storage can wake a thread, while the eBPF program holds the lock
 * of the run queue.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, OFFCPU_THREADS_MAX);
	__type(key, __u32);
	__type(value, struct offcpu_thread);
} offcpu_threads SEC(".maps");

/* An entry with zeroes, the initial value of new entries. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct offcpu_thread);
} offcpu_blank SEC(".maps");

/*
 * The position at which the walk of a leaving thread stopped. (This position is in a map, since the
 * stack of an eBPF program is too small for it.)
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwind_walk);
} offcpu_stops SEC(".maps");

/* The work area of on_iter_waiting, of which only one instance runs at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct waiting_room);
} waiting_rooms SEC(".maps");

static __always_inline struct offcpu_thread *entry_of(__u32 tid, __u64 now_ns)
{
	struct offcpu_thread *t = bpf_map_lookup_elem(&offcpu_threads, &tid), *blank;
	__u32 zero = 0;

	if (t)
		return t;
	blank = bpf_map_lookup_elem(&offcpu_blank, &zero);
	if (!blank || bpf_map_update_elem(&offcpu_threads, &tid, blank, BPF_NOEXIST) < 0) {
		/* Without an entry, the records of this thread are missing. */
		rec_lose(REC_RING_STACKS, now_ns);
		return NULL;
	}
	return bpf_map_lookup_elem(&offcpu_threads, &tid);
}

/*
 * Walks the kernel stack of P, unless P runs, or the session may not contain kernel addresses.
 * Returns the number of frames.
 */
static __always_inline __u32 walk_kernel_of(struct task_struct *p, bool runs, __u64 *frames)
{
	return runs || filter_kinds & FILTER_OWN ? 0 : stack_walk_kernel_of(p, frames);
}

/*
 * Sends the user stack in T, unless it was sent earlier as a copy. Stores the id of the stack in
 * *RET_ID. Returns false if the stack cannot be sent.
 */
static __always_inline bool send_user_of(struct offcpu_thread *t, struct task_struct *p,
					 __u64 now_ns, __u64 *ret_id)
{
	if (!t->is_earlier && !t->is_copied)
		return stack_send(&t->user, t->n_user_frames, p, now_ns, ret_id);
	*ret_id = t->user.id;
	return true;
}

/*
 * Returns the time at which the thread of T left its CPU; 0 = the thread runs. This time is read
 * once for each record, since on_iter_waiting can at any time remove the entry of an ended thread.
 */
static __always_inline __u64 offcpu_begin(const struct offcpu_thread *t)
{
	return *(volatile __u64 *)&t->begin_ns;
}

/*
 * Returns the time of the wakeup that ended the wait of T from BEGIN_NS to NOW_NS; 0 = preempted,
 * not woken yet, or not known.
 */
static __always_inline __u64 offcpu_woken(const struct offcpu_thread *t, __u64 begin_ns,
					  __u64 now_ns)
{
	__u64 woken_ns = *(volatile __u64 *)&t->woken_ns;

	return t->state != 'R' && woken_ns >= begin_ns && woken_ns <= now_ns ? woken_ns : 0;
}

/*
 * Writes the record of a time off CPU: P was off CPU from BEGIN_NS until NOW_NS. T is the entry of
 * P.
 */
static __always_inline void write_offcpu(struct offcpu_thread *t, struct task_struct *p, __u8 end,
					 __u64 begin_ns, __u64 now_ns)
{
	struct rec_stack *room = stack_room(STACK_ROOM_SWITCH);
	struct rec_offcpu *rec;
	__u64 kernel, user;

	if (!room ||
	    !stack_send(room, walk_kernel_of(p, end == REC_OFFCPU_RUNS, room->frames), p, now_ns,
			&kernel) ||
	    !send_user_of(t, p, now_ns, &user))
		return;
	rec = rec_reserve(REC_OFFCPU_RING, sizeof(*rec), now_ns);
	if (!rec)
		return;
	rec_fill_head(&rec->head, now_ns, REC_OFFCPU, sizeof(*rec), p);
	rec->begin_ns = begin_ns;
	rec->kernel_stack = kernel;
	rec->user_stack = user;
	/* A preempted thread was not woken, so it has no waker. */
	rec->waker_tid = t->state == 'R' ? 0 : t->waker_tid;
	rec->state = (__u8)t->state;
	rec->in_iowait = t->in_iowait;
	rec->end = end;
	rec->is_earlier = t->is_earlier != 0;
	rec->woken_ns = offcpu_woken(t, begin_ns, now_ns);
	rec->call = t->call;
	rec->waker = t->waker;
	rec->quota = t->quota;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

static __always_inline void offcpu_forget_waker(struct offcpu_thread *t)
{
	t->waker_tid = 0;
	t->waker = (struct offcpu_waker){};
}

/* The clocks of two CPUs can differ by some ns. A negative time counts as 0. */
static __always_inline bool was_off_cpu(__u64 begin_ns, __u64 now_ns)
{
	return begin_ns != 0 && (__s64)(now_ns - begin_ns) >= (__s64)offcpu_min_ns;
}

/*
 * P leaves its CPU at NOW_NS, but its return after BEGIN_NS was not reported. Returns the time at
 * which P probably returned: NOW_NS minus the CPU time that P has used since BEGIN_NS, or the time
 * of the wakeup, if that is earlier. (P can have made system calls since its return. The times of
 * these calls must not overlap the time off CPU, so the estimate is too early rather than too
 * late.)
 *
 * If the wakeup is later than the estimate, P was woken when it was about to wait again. Then the
 * waker did not end this wait.
 */
static __always_inline __u64 unreported_return(struct offcpu_thread *t, struct task_struct *p,
					       __u64 begin_ns, __u64 now_ns)
{
	__u64 woken_ns = *(volatile __u64 *)&t->woken_ns;
	__u64 ran_ns = p->se.sum_exec_runtime - t->ran_ns + RAN_ERROR_NS;
	__u64 until_ns = ran_ns < now_ns - begin_ns ? now_ns - ran_ns : begin_ns;

	if ((__s64)(woken_ns - begin_ns) <= 0 || (__s64)(now_ns - woken_ns) <= 0)
		return until_ns;
	if (until_ns >= woken_ns)
		return woken_ns;
	offcpu_forget_waker(t);
	return until_ns;
}

/*
 * Sends a copy of the current task's stack, whose walk has stopped at STOPPED, after the N frames
 * in WALKED. Returns the id of the stack; 0 if nothing was sent. (This is a separate function, so
 * the verifier checks it once.)
 */
__noinline __u64 offcpu_copy(struct unwind_walk *stopped, struct rec_stack *walked, __u32 n,
			     __u64 now_ns)
{
	__u64 id = 0;

	if (!stopped || !walked)
		return 0;
	return piece_send_record(stopped, walked, n, STACK_COPIES_OF_WAIT, now_ns, &id) ? id : 0;
}

/*
 * Walks the user stack of the current task into T. With COPIES, the walk can stop where a table is
 * missing; STOPPED is then its position.
 */
static __always_inline __u32 offcpu_walk(void *ctx, struct offcpu_thread *t,
					 struct unwind_walk *stopped, enum stack_copies copies)
{
	__u32 n;

	stopped->ip = stopped->python = 0;
	n = stack_walk_or_stop(&t->user, stopped, copies);
	return n == STACK_NOT_WALKED
		       ? stack_walk_by_kernel(ctx, t->user.frames, sizeof(t->user.frames))
		       : n;
}

/*
 * Walks the user stack of P into T. P is the current task, and leaves the CPU. A recorded program
 * can wait only once, and for long. So if the table of a file does not exist yet, the stack is
 * copied, as for a sample. It is not copied for preempted threads, which run again soon. Without
 * room for the copy, the walk continues without the table, as far as possible.
 */
static __always_inline void offcpu_walk_user(void *ctx, struct offcpu_thread *t,
					     struct task_struct *p, __u64 now_ns)
{
	__u32 zero = 0;
	struct unwind_walk *stopped = bpf_map_lookup_elem(&offcpu_stops, &zero);

	t->n_user_frames = t->is_copied = 0;
	if (p->flags & PF_KTHREAD || stacks_of_none || !stopped)
		return;
	t->n_user_frames = offcpu_walk(ctx, t, stopped,
				       t->state != 'R' ? piece_copies(now_ns, STACK_COPIES_OF_WAIT)
						       : STACK_COPIES_NONE);
	if (!stopped->ip) {
		t->n_user_frames = python_add_if_any(stopped, &t->user, t->n_user_frames, now_ns);
		return;
	}
	t->user.id = offcpu_copy(stopped, &t->user, t->n_user_frames, now_ns);
	t->is_copied = t->user.id != 0;
	if (!t->is_copied)
		t->n_user_frames = offcpu_walk(ctx, t, stopped, STACK_COPIES_NONE);
}

/* (the macro has a variable called p) */
static __always_inline bool is_in_iowait(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait) != 0;
}

static __always_inline void offcpu_leave(void *ctx, struct task_struct *p, __u32 state,
					 __u64 now_ns)
{
	struct offcpu_thread *t;
	__u64 begin_ns, off_cpu_ns;
	__u32 tid = p->pid;

	if (state & TASK_DEAD) {
		bpf_map_delete_elem(&offcpu_threads, &tid);
		return;
	}
	t = entry_of(tid, now_ns);
	if (!t)
		return;
	begin_ns = offcpu_begin(t);
	off_cpu_ns = begin_ns ? unreported_return(t, p, begin_ns, now_ns) : 0;
	if (was_off_cpu(begin_ns, off_cpu_ns))
		write_offcpu(t, p, REC_OFFCPU_RUNS, begin_ns, off_cpu_ns);
	offcpu_forget_waker(t);
	t->woken_ns = 0;
	t->is_earlier = 0;
	t->in_iowait = is_in_iowait(p);
	t->state = state_letter(state);
	offcpu_read_call(p, &t->call);
	t->quota = (struct offcpu_quota){};
	if (t->state != 'R')
		offcpu_read_owner(p, &t->call);
	else
		quota_read(&t->quota, p, now_ns);
	offcpu_walk_user(ctx, t, p, now_ns);
	t->ran_ns = p->se.sum_exec_runtime;
	t->begin_ns = now_ns;
}

static __always_inline void offcpu_return(struct task_struct *p, __u64 now_ns)
{
	__u32 tid = p->pid;
	struct offcpu_thread *t = bpf_map_lookup_elem(&offcpu_threads, &tid);

	__u64 begin_ns = t ? offcpu_begin(t) : 0;

	if (!t || begin_ns == 0)
		return;
	if (was_off_cpu(begin_ns, now_ns))
		write_offcpu(t, p, REC_OFFCPU_RETURNS, begin_ns, now_ns);
	t->begin_ns = 0;
	offcpu_forget_waker(t);
}

/*
 * Called if P returns as a process of another user, or in the middle of exec. Then its time off CPU
 * must not be disclosed.
 */
static __always_inline void offcpu_return_unreported(struct task_struct *p)
{
	__u32 tid = p->pid;
	struct offcpu_thread *t = bpf_map_lookup_elem(&offcpu_threads, &tid);

	if (t)
		t->begin_ns = 0;
}

/*
 * Returns the time of this switch. If on_sched_switch has handled the switch, this is the time that
 * on_sched_switch has read. Otherwise it is the present time: on_sched_switch is not attached, its
 * filter has skipped the switch, or the kernel has skipped the program.
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
		offcpu_return_unreported(next);
	if (!out && !in)
		return 0;
	if (in)
		offcpu_return(next, now_ns);
	if (out)
		offcpu_leave(ctx, prev, state_of_leaving(prev, preempt, prev_state), now_ns);
	return 0;
}

/* ---- wakers ---- */

/* Notes that WAKER, or an interrupt that runs during WAKER, ends the wait of T. */
static __always_inline void offcpu_note_waker(void *ctx, struct offcpu_thread *t,
					      struct task_struct *waker, __u64 now_ns)
{
	struct rec_stack *room = offcpu_wakers ? stack_room(STACK_ROOM_SWITCH) : NULL;
	enum actor actor = actor_of(waker);
	struct unwind_walk *stopped;
	__u32 zero = 0;
	bool is_thread = actor == ACTOR_TASK || actor == ACTOR_OWN_SOFTIRQ;
	bool is_walked = room && t->state != 'R' && was_off_cpu(offcpu_begin(t), now_ns);

	offcpu_forget_waker(t);
	t->waker.cpu = (__u16)bpf_get_smp_processor_id();
	if (!is_thread) {
		t->waker.context = actor == ACTOR_SOFTIRQ ? OFFCPU_WOKEN_BY_SOFTIRQ
							  : OFFCPU_WOKEN_BY_INTERRUPT;
		if (is_walked && !(filter_kinds & FILTER_OWN))
			waker_walk_interrupt(ctx, &t->waker, room, waker, now_ns);
		return;
	}
	if (!filter_selects(waker))
		return;
	t->waker_tid = (__u32)waker->pid;
	t->waker.pid = process_id(waker);
	if (!is_walked)
		return;
	stopped = bpf_map_lookup_elem(&offcpu_stops, &zero);
	if (stopped)
		waker_walk_thread(ctx, &t->waker, room, stopped, waker, now_ns);
}

SEC("?tp_btf/sched_waking")
int TIMED_PROG(COST_OFFCPU, on_offcpu_waking, struct task_struct *p)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	__u32 tid = p->pid;
	struct offcpu_thread *t;

	if (p->pid == waker->pid || !filter_selects(p))
		return 0;
	t = bpf_map_lookup_elem(&offcpu_threads, &tid);
	if (!t)
		return 0;
	t->woken_ns = bpf_ktime_get_boot_ns();
	offcpu_note_waker(ctx, t, waker, t->woken_ns);
	return 0;
}

/*
 * Runs when the eBPF programs above are detached, and sends the threads that are still off CPU. If
 * the CPU time of a thread has changed since its last known departure, a later departure was not
 * seen, and the kernel stack may belong to another wait. Such a thread is skipped. A running thread
 * is skipped, too, since the kernel updates its run time only at the next tick.
 */
SEC("?iter/task")
int on_iter_offcpu(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct offcpu_thread *t;
	__u64 now_ns = bpf_ktime_get_boot_ns(), begin_ns;
	__u32 tid;

	if (!p || !filter_selects(p))
		return 0;
	tid = p->pid;
	t = bpf_map_lookup_elem(&offcpu_threads, &tid);
	begin_ns = t ? offcpu_begin(t) : 0;
	if (t && was_off_cpu(begin_ns, now_ns) && !p->on_cpu && t->ran_ns == p->se.sum_exec_runtime)
		write_offcpu(t, p, REC_OFFCPU_OPEN, begin_ns, now_ns);
	return 0;
}

/* ---- threads that waited before the eBPF programs were attached ---- */

/* User space sets waiting_listed_ns when all programs are attached, and resets waiting_n_copied. */
__u64 waiting_listed_ns = 0;
__u32 waiting_n_copied = 0;

/*
 * Returns the state of P if it waits, otherwise 0. The result is also 0 for kernel threads that
 * only wait for work.
 */
static __always_inline __u32 waiting_state(struct task_struct *p)
{
	/* The state can change at any time, so it is read at each call. */
	__u32 state = BPF_CORE_READ(p, __state);

	if (state & (TASK_DEAD | TASK_WAKING | TASK_NEW) || BPF_CORE_READ(p, on_cpu) ||
	    BPF_CORE_READ(p, exit_state))
		return 0;
	return p->flags & PF_KTHREAD && state_letter(state) != 'D' ? 0 : state;
}

#if defined(__TARGET_ARCH_x86)
/* The memory of a waiting thread from ADDRESS on. */
struct waiting_memory {
	__u64 address;
	__u32 n; /* the number of bytes that were read */
	union {
		struct offcpu_mutex mutex;
		__u32 words[sizeof(struct offcpu_mutex) / sizeof(__u32)];
	};
};

static const __u8 waiting_zeroes[PRESENT_PAGE_BYTES];

/*
 * If the page at ADDRESS has never been used, stores STEP zeroes, which the process would read
 * there. Otherwise returns false.
 */
static __always_inline bool waiting_copy_empty(struct vm_area_struct *vma, __u64 pgd, __u64 address,
					       void *to, __u32 step)
{
	return !vma->vm_file && present_page_is_empty(pgd, address) &&
	       bpf_probe_read_kernel(to, step, waiting_zeroes) == 0;
}

/*
 * Copies the stack, until a page is not present. Pages are not waited for (present-pages.bpf.h). A
 * large array of a function can have pages that were never used; they are copied as zeroes.
 */
static long waiting_copy_stack(struct task_struct *p, struct vm_area_struct *vma,
			       struct waiting_memory *m)
{
	__u64 pgd = (__u64)BPF_CORE_READ(vma, vm_mm, pgd), address = m->address, end = vma->vm_end;
	__u32 zero = 0, n = 0, used = 0, step;
	struct waiting_room *room = bpf_map_lookup_elem(&waiting_rooms, &zero);

	if (!room)
		return 0;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i <= WAITING_STACK_BYTES / PRESENT_PAGE_BYTES; i++) {
		step = PRESENT_PAGE_BYTES - (__u32)(address & (PRESENT_PAGE_BYTES - 1));
		/* The barriers make the compiler keep the checks, for the verifier. */
		barrier_var(step);
		barrier_var(n);
		if (address >= end || n >= WAITING_STACK_BYTES || step > PRESENT_PAGE_BYTES)
			break;
		if (present_page_read(pgd, address, room->stack + n, step))
			used = n + step;
		else if (!waiting_copy_empty(vma, pgd, address, room->stack + n, step))
			break;
		address += step;
		n += step;
	}
	m->n = used < WAITING_STACK_BYTES ? used & ~7u : WAITING_STACK_BYTES;
	return 0;
}

/* Reads the lock, word by word, since it can be in two pages. */
static long waiting_read_lock(struct task_struct *p, struct vm_area_struct *vma,
			      struct waiting_memory *m)
{
	__u64 pgd = (__u64)BPF_CORE_READ(vma, vm_mm, pgd), address = m->address, end = vma->vm_end;

	/* (a futex is aligned, so no word is in two pages) */
	if (address % sizeof(__u32))
		return 0;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < sizeof(m->mutex) / sizeof(__u32); i++, address += sizeof(__u32)) {
		if (address >= end || !present_page_read(pgd, address, &m->words[i], sizeof(__u32)))
			break;
		m->n += sizeof(__u32);
	}
	return 0;
}

/* Fills PIECE for P, except for the N bytes of copied stack. */
static __always_inline void waiting_fill(struct rec_piece *piece, struct task_struct *p,
					 struct pt_regs *regs, __u32 n)
{
	__u64 now_ns = bpf_ktime_get_boot_ns();

	rec_fill_head(&piece->head, now_ns, REC_PIECE, sizeof(*piece) + n, p);
	piece->id = stack_mix(stack_mix(stack_seed, (__u32)p->pid), now_ns) | 1;
	piece->ip = piece->frames[0] = regs->ip;
	piece->sp = regs->sp;
	piece->bp = regs->bp;
	piece->exact = piece->n_frames = 1;
	piece->n_bytes = piece->n_room = n;
	piece->n_calls = piece->is_wait = piece->instance = piece->is_skipped = 0;
	piece_copy_mappings(piece, p);
}

/*
 * Copies the registers and the stack of P, a waiting thread, into ROOM. Returns the size of the
 * record; 0 if that is not possible.
 */
static __always_inline __u32 waiting_copy(struct waiting_room *room, struct task_struct *p)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(p);
	struct waiting_memory m = { .address = regs->sp };
	__u32 n;

	if (regs->cs != STACK_CS_64 || bpf_find_vma(p, m.address, waiting_copy_stack, &m, 0) < 0)
		return 0;
	n = m.n;
	/* The barrier makes the compiler keep the check, so that the verifier knows the limit. */
	barrier_var(n);
	if (n == 0 || n > WAITING_STACK_BYTES)
		return 0;
	waiting_fill(&room->piece, p, regs, n);
	return sizeof(room->piece) + n;
}

/* As offcpu_read_owner(), for a thread that waited before the recording. */
static __always_inline void waiting_read_owner(struct task_struct *p, struct offcpu_call *call)
{
	struct waiting_memory m = { .address = call->argument };

	if (!offcpu_may_be_lock(p, call) ||
	    bpf_find_vma(p, m.address, waiting_read_lock, &m, 0) < 0 || m.n == 0)
		return;
	/*
	 * (a priority-inheriting futex is a single word; with less than a mutex, M must not look
	 * like one)
	 */
	if (m.n < sizeof(m.mutex))
		m.mutex.n_users = 0;
	offcpu_set_owner(p, call, &m.mutex);
}
#else
static __always_inline void waiting_read_owner(struct task_struct *p, struct offcpu_call *call)
{
}

static __always_inline __u32 waiting_copy(struct waiting_room *room, struct task_struct *p)
{
	return 0;
}
#endif

/* Returns true if P still waits, and has not run since its CPU time was RAN_NS. */
static __always_inline bool waiting_goes_on(struct task_struct *p, __u64 ran_ns)
{
	return waiting_state(p) && BPF_CORE_READ(p, se.sum_exec_runtime) == ran_ns;
}

/*
 * Makes the entry of P, whose state, CPU time and stack are in NEW.
 *
 * P can have returned before the entry existed. Then its return is estimated when it leaves its CPU
 * again (unreported_return()). If P was woken, but still waits for a CPU, its return ends the
 * entry.
 */
static __always_inline void waiting_enter(struct offcpu_thread *new, struct task_struct *p)
{
	__u64 listed_ns = new->begin_ns;
	struct offcpu_thread *t;
	__u32 tid = p->pid;
	long r = bpf_map_update_elem(&offcpu_threads, &tid, new, BPF_NOEXIST);

	if (r < 0) {
		/* With -EEXIST, P has left its CPU meanwhile. */
		if (r != -EEXIST)
			rec_lose(REC_RING_STACKS, listed_ns);
		return;
	}
	t = bpf_map_lookup_elem(&offcpu_threads, &tid);
	/* This exchange changes nothing, but orders the entry before the reads that follow. */
	if (!t || __sync_val_compare_and_swap(&t->begin_ns, listed_ns, listed_ns) != listed_ns)
		return;
	if (BPF_CORE_READ(p, __state) & TASK_DEAD)
		/*
		 * The last departure of P can have been before the entry existed. Then nothing else
		 * would remove the entry.
		 */
		bpf_map_delete_elem(&offcpu_threads, &tid);
}

/*
 * Runs when the eBPF programs have been attached, for threads that already wait. These threads have
 * not left a CPU since, so they have no entry, and their user stacks were not walked. So the stacks
 * are copied now, and user space walks the copies (bpf/piece.bpf.h). Nothing here waits for another
 * process.
 */
SEC("?iter/task")
int on_iter_waiting(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	__u32 zero = 0, tid, state, bytes = 0;
	struct waiting_room *room = bpf_map_lookup_elem(&waiting_rooms, &zero);

	if (!p || !room || !filter_selects(p))
		return 0;
	tid = p->pid;
	/* This time is read before the state: if P runs meanwhile, the time changes. */
	room->thread.ran_ns = BPF_CORE_READ(p, se.sum_exec_runtime);
	barrier();
	state = waiting_state(p);
	if (!state || bpf_map_lookup_elem(&offcpu_threads, &tid))
		return 0;
	if (waiting_n_copied < WAITING_COPIES_MAX && !stacks_of_none && !(p->flags & PF_KTHREAD))
		bytes = waiting_copy(room, p);
	/* If P was woken during the copy, the copy can be torn. */
	barrier();
	if (!waiting_goes_on(p, room->thread.ran_ns))
		bytes = 0;
	/* If the owner of the process has changed meanwhile, the data is dropped. */
	if (filter_kinds & FILTER_OWN && !own_is(p))
		return 0;
	if (bytes > sizeof(room->piece) + WAITING_STACK_BYTES)
		return 0;
	/*
	 * If there is no room for the record, the kernel calls this eBPF program again for the same
	 * task.
	 */
	if (bytes && bpf_seq_write(ctx->meta->seq, &room->piece, bytes) < 0)
		return 0;
	waiting_n_copied += bytes != 0;
	room->thread.in_iowait = is_in_iowait(p);
	room->thread.state = state_letter(state);
	room->thread.is_earlier = 1;
	offcpu_read_call(p, &room->thread.call);
	waiting_read_owner(p, &room->thread.call);
	room->thread.begin_ns = waiting_listed_ns;
	room->thread.user.id = bytes ? room->piece.id : 0;
	waiting_enter(&room->thread, p);
	return 0;
}
