/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The sampler: records what a CPU runs when the counter of its perf event overflows. The sampler
 * can run in an NMI that interrupts any other program. So it has its own work area, writes to a
 * ring that supports NMIs, and changes no map that another program changes.
 */
#define FILTER_IN_NMI

#include "bpf/context.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/piece.bpf.h"
#include "bpf/probed.bpf.h"
#include "bpf/python.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"
#include "bpf/stack.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u32 piece_size = 0;

/*
 * true = perf also writes its own sample after the sampler has run, as the event specifies. For
 * tests.
 */
const volatile bool tick_passes_on = false;

struct stack_rooms stack_rooms SEC(".maps");
struct piece_budgets piece_budgets SEC(".maps");

/* The number of samples, written or lost. For tests. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} ticks_taken SEC(".maps");

#if defined(__TARGET_ARCH_x86)
/* The registers of a perf program's context, in the layout of the kernel's interface. */
struct tick_registers {
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	__u64 orig_ax, ip, cs, flags, sp, ss;
};

/*
 * Notes the interrupted state of the kernel. A walk needs this state if the sample has interrupted
 * the set-up of a return probe.
 */
static __always_inline void tick_note_kernel(const struct tick_registers *regs,
					     struct task_struct *p)
{
	__u32 zero = 0;
	struct probed_kernel *to = p->utask ? bpf_map_lookup_elem(&probed_kernels, &zero) : NULL;

	if (!to)
		return;
	to->sp = regs->cs & 3 ? 0 : regs->sp;
	to->registers[0] = regs->ax;
	to->registers[1] = regs->bx;
	to->registers[2] = regs->r12;
	to->registers[3] = regs->r13;
	to->registers[4] = regs->r14;
	to->registers[5] = regs->r15;
	to->registers[6] = regs->bp;
	to->registers[7] = regs->cx;
	to->registers[8] = regs->dx;
	to->registers[9] = regs->si;
	to->registers[10] = regs->di;
	to->registers[11] = regs->r8;
	to->registers[12] = regs->r9;
	to->registers[13] = regs->r10;
	to->registers[14] = regs->r11;
}

/* Forgets the noted state, which other walks must not use. */
static __always_inline void tick_forget_kernel(void)
{
	__u32 zero = 0;
	struct probed_kernel *noted = bpf_map_lookup_elem(&probed_kernels, &zero);

	if (noted)
		noted->sp = 0;
}
#endif

/* Sends the user stack of P, the current task. Otherwise like stack_send(). */
static __always_inline bool tick_send_user(void *ctx, struct rec_stack *room, struct task_struct *p,
					   __u64 now_ns, __u64 *ret_id)
{
	struct unwind_walk stopped = {};
	__u32 n;

	if (p->flags & PF_KTHREAD || stacks_of_none) {
		*ret_id = 0;
		return true;
	}
#if defined(__TARGET_ARCH_x86)
	tick_note_kernel(ctx, p);
#endif
	n = stack_walk_or_stop(room, &stopped, piece_copies(now_ns, STACK_COPIES_OF_RUNNING));
#if defined(__TARGET_ARCH_x86)
	if (p->utask)
		tick_forget_kernel();
#endif
	if (n == STACK_NOT_WALKED)
		n = stack_walk_by_kernel(ctx, room->frames, sizeof(room->frames));
	else
		n = python_add_if_any(&stopped, room, n, now_ns);
	return piece_or_stack_send(&stopped, room, n, p, now_ns, ret_id);
}

SEC("?perf_event")
int TIMED_WITH(COST_SAMPLES, on_tick, void *, ctx)
{
	struct task_struct *p = bpf_get_current_task_btf();
	__u64 now_ns = bpf_ktime_get_boot_ns();
	struct rec_stack *room = stack_room(STACK_ROOM_TICK);
	__u64 kernel, user, *taken;
	struct rec_sample *rec;
	__u32 n, zero = 0;

	if (!room || p->pid == 0 || !filter_selects(p))
		return 0;
	taken = bpf_map_lookup_elem(&ticks_taken, &zero);
	if (taken)
		*taken += 1;
	n = filter_kinds & FILTER_OWN ? 0 : stack_walk_kernel(ctx, room->frames);
	if (!stack_send(room, n, p, now_ns, &kernel))
		return 0;
	if (!tick_send_user(ctx, room, p, now_ns, &user))
		return 0;
	rec = rec_reserve(REC_SAMPLE_RING, sizeof(*rec), now_ns);
	if (!rec)
		return 0;
	rec_fill_head(&rec->head, now_ns, REC_SAMPLE, sizeof(*rec), p);
	rec->kernel_stack = kernel;
	rec->user_stack = user;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return tick_passes_on;
}
