/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The stack of the thread or interrupt that wakes another thread. Part of offcpu.bpf.c. The
 * kernel's stack can only be walked with the context of the eBPF program, so these functions are
 * inlined.
 */
#pragma once

#include "bpf/piece.bpf.h"
#include "bpf/python.bpf.h"
#include "bpf/record.h"
#include "bpf/stack.bpf.h"

const volatile bool offcpu_wakers = false; /* stacks of wakers are recorded */

static struct offcpu_text offcpu_text; /* on_offcpu_text fills it */

#define WAKER_LOOK_UP(name, member)                                                                \
	bpf_kallsyms_lookup_name(name, sizeof(name), 0, &offcpu_text.member)

/* User space runs this program once, before the first stack of a waker. */
SEC("?syscall")
int on_offcpu_text(struct offcpu_text *text)
{
	WAKER_LOOK_UP("try_to_wake_up", wakes);
	WAKER_LOOK_UP("__irqentry_text_start", irq_start);
	WAKER_LOOK_UP("__irqentry_text_end", irq_end);
	WAKER_LOOK_UP("__entry_text_start", entry_start);
	WAKER_LOOK_UP("__entry_text_end", entry_end);
	*text = offcpu_text;
	return 0;
}

/*
 * Returns the number of those of the N frames in S that belong to the interrupt that runs: those up
 * to the entry of the interrupt. A softirq can also run when a thread enables softirqs again. Then
 * the first entry is that of a system call, and all callers of the softirq belong to the thread.
 * The result is 0 if there is no entry of an interrupt. (This is a separate function, so the
 * verifier checks it once.)
 */
__noinline __u32 waker_frames_of_interrupt(const struct rec_stack *s, __u32 n, bool is_softirq)
{
	const struct offcpu_text *text = &offcpu_text;

	if (!s)
		return 0;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < STACK_FRAMES_MAX; i++) {
		__u64 frame = s->frames[i];

		if (i >= n)
			break;
		if (frame - text->irq_start < text->irq_end - text->irq_start)
			return i + 1;
		if (frame - text->entry_start < text->entry_end - text->entry_start)
			return is_softirq ? 0 : i + 1;
	}
	return 0;
}

/* Sends the stack of the interrupt of TASK, the current one, and notes its id in W. */
static __always_inline void waker_walk_interrupt(void *ctx, struct offcpu_waker *w,
						 struct rec_stack *room, struct task_struct *task,
						 __u64 now_ns)
{
	__u32 n = stack_walk_kernel(ctx, room->frames);

	n = waker_frames_of_interrupt(room, n, w->context == OFFCPU_WOKEN_BY_SOFTIRQ);
	stack_send(room, n, task, now_ns, &w->kernel_stack);
}

/*
 * Sends the stacks of TASK, the current one, and notes their ids in W. STOPPED is a work area. A
 * stack that cannot be sent is counted as lost.
 */
static __always_inline void waker_walk_thread(void *ctx, struct offcpu_waker *w,
					      struct rec_stack *room, struct unwind_walk *stopped,
					      struct task_struct *task, __u64 now_ns)
{
	__u32 n = filter_kinds & FILTER_OWN ? 0 : stack_walk_kernel(ctx, room->frames);

	if (!stack_send(room, n, task, now_ns, &w->kernel_stack) || task->flags & PF_KTHREAD ||
	    stacks_of_none)
		return;
	stopped->ip = stopped->python = 0;
	n = stack_walk_or_stop(room, stopped, piece_copies(now_ns, STACK_COPIES_OF_RUNNING));
	if (n == STACK_NOT_WALKED)
		n = stack_walk_by_kernel(ctx, room->frames, sizeof(room->frames));
	n = python_add_if_any(stopped, room, n, now_ns);
	piece_or_stack_send(stopped, room, n, task, now_ns, &w->user_stack);
}
