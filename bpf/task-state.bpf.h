/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The state of a thread at its departure from a CPU.
 */
#pragma once

#include "bpf/context.bpf.h"

/* include/linux/sched.h; TASK_FREEZABLE, TASK_WAKEKILL and others can be set, too. */
#define TASK_INTERRUPTIBLE   0x0001
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_STOPPED         0x0004
#define TASK_TRACED          0x0008
#define TASK_PARKED          0x0040
#define TASK_DEAD            0x0080
#define TASK_WAKING          0x0200
#define TASK_NOLOAD          0x0400
#define TASK_NEW             0x0800

/*
 * Returns the state of PREV, the leaving thread, from the arguments of sched_switch; 0 = PREV could
 * continue to run.
 */
static __always_inline __u32 state_of_leaving(struct task_struct *prev, bool preempt,
					      __u32 prev_state)
{
	if (preempt || prev->pid == 0)
		return 0;
	/*
	 * A signal has woken the thread before it slept. The thread stays on the queue, regardless
	 * of prev_state.
	 */
	if (prev_state && prev->on_rq && !dequeue_is_delayed(prev))
		return 0;
	return prev_state;
}

/* Returns the letter of ps(1) for STATE. */
static __always_inline char state_letter(__u32 state)
{
	if (state == 0)
		return 'R';
	if (state & TASK_DEAD)
		return 'X';
	if (state & TASK_UNINTERRUPTIBLE)
		return state & TASK_NOLOAD ? 'I' : 'D';
	if (state & TASK_STOPPED)
		return 'T';
	if (state & TASK_TRACED)
		return 't';
	if (state & TASK_PARKED)
		return 'P';
	return 'S';
}
