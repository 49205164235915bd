/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The actor on this CPU: the current task, or the interrupt that has interrupted this task.
 *
 * A softirq that a task has raised runs on behalf of this task, at the end of the task's system
 * call. (This is how packets on the loopback device reach their receiver.) A softirq that a hard
 * interrupt has raised runs when the hard interrupt ends, and has nothing to do with the
 * interrupted task. on_softirq_raise records which of the two has raised a softirq.
 */
#pragma once

#include "bpf/context.bpf.h"
#include "bpf/cpu-state.bpf.h"

enum actor {
	ACTOR_TASK,
	/*
	 * The current task, in a softirq that this task has raised itself, or that it serves as
	 * ksoftirqd.
	 */
	ACTOR_OWN_SOFTIRQ,
	ACTOR_SOFTIRQ,
	ACTOR_IRQ,
};

/* Returns true if P is a kernel thread that serves softirqs (ksoftirqd). */
static __always_inline bool is_ksoftirqd(struct task_struct *p)
{
	static const char name[] = "ksoftirq";
	__u64 begin = 0;

	return p->flags & PF_KTHREAD &&
	       bpf_probe_read_kernel(&begin, sizeof(begin), p->comm) == 0 &&
	       begin == *(const __u64 *)name;
}

static __always_inline enum actor actor_of(struct task_struct *current_task)
{
	int count = preempt_count_of(current_task);
	struct cpu_state *state;

	if (__builtin_expect(!(count & (PREEMPT_NMI | PREEMPT_HARDIRQ | PREEMPT_SOFTIRQ_SERVED)),
			     1))
		return ACTOR_TASK;
	if (count & (PREEMPT_NMI | PREEMPT_HARDIRQ))
		return ACTOR_IRQ;
	state = cpu_state();
	if (state && state->softirq_of && state->softirq_of == (__u32)current_task->pid)
		return ACTOR_OWN_SOFTIRQ;
	return is_ksoftirqd(current_task) ? ACTOR_OWN_SOFTIRQ : ACTOR_SOFTIRQ;
}
