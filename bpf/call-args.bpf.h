/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The arguments of calls, in registers and in memory. Only calls.bpf.c uses this file.
 */
#pragma once

#include "bpf/context.bpf.h"
#include "bpf/probed.bpf.h"
#include "bpf/record.h"

#include <bpf/bpf_tracing.h>

/*
 * The arguments of a call, and its place on the stack. The array has a power of two of elements, so
 * that the verifier accepts masked indices.
 */
struct call_args {
	union {
		__u64 args[8];
		struct call_pack_args packed;
	};
	__u64 sp, caller;
	__u64 stack;
	__u32 unreadable, is_chained;
};
_Static_assert(CALL_ARGUMENTS == 8, "room");

/* Reads each argument separately, since the context can only be read at constant offsets. */
static __always_inline void call_read_args(struct pt_regs *ctx, struct call_args *to)
{
	to->args[0] = PT_REGS_PARM1(ctx);
	to->args[1] = PT_REGS_PARM2(ctx);
	to->args[2] = PT_REGS_PARM3(ctx);
	to->args[3] = PT_REGS_PARM4(ctx);
	to->args[4] = PT_REGS_PARM5(ctx);
#if defined(__TARGET_ARCH_x86)
	to->args[5] = ctx->r9;
#else
	to->args[5] = 0;
#endif
	to->args[6] = to->args[7] = 0;
	to->unreadable = to->is_chained = 0;
	to->sp = PT_REGS_SP(ctx);
}

static __always_inline void call_read_caller(struct pt_regs *ctx, struct call_args *to)
{
#if defined(__TARGET_ARCH_x86)
	struct task_struct *p = bpf_get_current_task_btf();
	__u64 probed, top = 0;

	bpf_probe_read_user(&top, sizeof(top), (const void *)to->sp);
	to->caller = top;
	/*
	 * If a function with a return probe has jumped to this function, the word at SP is the
	 * address of the kernel's code for return probes. The original return address is then in
	 * the kernel's list. (The list also has functions that longjmp() has left, but their return
	 * addresses are no longer on the stack.)
	 */
	probed = (__u64)BPF_CORE_READ(p, utask, return_instances);
	if (probed && top && top == BPF_CORE_READ(p, mm, uprobes_state.xol_area, vaddr)) {
		to->caller = probed_return_address(&probed, to->sp, top);
		to->is_chained = to->caller != top;
	}
#else
	to->caller = PT_REGS_RET(ctx);
#endif
}

#if defined(__TARGET_ARCH_x86)
#define CALL_NR_SIGRETURN 15
/* Offset of the signal mask (in struct ucontext) from the stack pointer at rt_sigreturn. */
#define CALL_SIGRETURN_MASK_AT 296
#else
#define CALL_NR_SIGRETURN      139 /* from asm-generic/unistd.h */
/* (after struct siginfo and the beginning of struct ucontext) */
#define CALL_SIGRETURN_MASK_AT (128 + 40)
#endif

/*
 * Reads the arguments of a system call from REGS, the registers at the thread's entry into the
 * kernel.
 */
static __always_inline void call_read_syscall(struct pt_regs *regs, long number,
					      struct call_args *to)
{
	to->args[0] = PT_REGS_PARM1_CORE_SYSCALL(regs);
	to->args[1] = PT_REGS_PARM2_CORE_SYSCALL(regs);
	to->args[2] = PT_REGS_PARM3_CORE_SYSCALL(regs);
	to->args[3] = PT_REGS_PARM4_CORE_SYSCALL(regs);
	to->args[4] = PT_REGS_PARM5_CORE_SYSCALL(regs);
#if defined(__TARGET_ARCH_x86)
	to->args[5] = BPF_CORE_READ(regs, r9);
#else
	to->args[5] = 0;
#endif
	to->args[CALL_NUMBER_ARG] = number;
	to->args[7] = 0;
	to->unreadable = to->is_chained = 0;
	to->sp = PT_REGS_SP_CORE(regs);
	to->caller = PT_REGS_IP_CORE(regs);
	/* (rt_sigreturn has no arguments, but reads the frame that the kernel has put at SP) */
	if (number == CALL_NR_SIGRETURN)
		to->args[0] = to->sp + CALL_SIGRETURN_MASK_AT;
}

/*
 * Reads the argument at FROM; CONTEXT is the address of the registers. Returns false if the
 * argument is unreadable. (This is a separate function, so the verifier checks it once for all
 * arguments.)
 */
__noinline bool call_read_origin(__u64 context, const struct call_origin *from, __u64 *to)
{
	__u64 value = 0;
	__u32 bytes;

	if (!from || !to)
		return false;
	bytes = from->bytes;
	*to = 0;
	if (from->kind == CALL_ORIGIN_NONE)
		return true;
	/*
	 * The context can only be read at constant offsets, so here, it is read with a helper, like
	 * other memory.
	 */
	if (from->kind != CALL_ORIGIN_CONSTANT)
		bpf_probe_read_kernel(&value, sizeof(value),
				      (const char *)context + from->register_at);
	value += from->offset;
	if (from->kind == CALL_ORIGIN_MEMORY) {
		const void *address;
		__u64 index = 0;

		if (from->scale)
			bpf_probe_read_kernel(&index, sizeof(index),
					      (const char *)context + from->index_at);
		address = (const void *)(value + index * from->scale);
		value = 0;
		if (bytes > sizeof(value))
			bytes = sizeof(value);
		if (bpf_probe_read_user(&value, bytes, address) < 0)
			return false;
	}
	value >>= from->shift & 63;
	if (from->width) {
		__u32 rest = (64 - from->width) & 63;

		value <<= rest;
		value = from->is_signed ? (__u64)((__s64)value >> rest) : value >> rest;
	}
	*to = value;
	return true;
}

/* Reads the arguments of F that are not in the usual registers (struct call_origin). */
static __always_inline void call_read_origins(struct pt_regs *ctx, const struct call_watch *f,
					      struct call_args *to)
{
	__u64 context = context_address(ctx);

#pragma unroll
	for (__u32 i = 0; i < CALL_ARGUMENTS; i++)
		if (i < f->n_origins && !call_read_origin(context, &f->origins[i], &to->args[i]))
			to->unreadable |= 1u << i;
}

static __always_inline __u64 call_arg(const struct call_args *args, __u32 i)
{
	i &= 7;
	barrier_var(i);
	return args->args[i & 7];
}
