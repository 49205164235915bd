/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The differences between kernels, in one file.
 */
#pragma once

#include "bpf/vmlinux.h"
#include "bpf/record.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#define PF_KTHREAD 0x00200000

/*
 * From include/linux/preempt.h. While a softirq is served, the count contains an odd number of
 * SOFTIRQ_OFFSETs.
 */
#define PREEMPT_SOFTIRQ_SERVED 0x00000100
#define PREEMPT_HARDIRQ        0x000f0000
#define PREEMPT_NMI            0x00f00000

/*
 * The distance from this CPU's run queue to x86's preempt count, in bytes; 0 = unknown. The run
 * queue and the count are per-CPU variables. User space takes the distance from the kernel's BTF
 * (capture/programs/kernel-btf.h). A __ksym would not work in a kernel without CONFIG_KALLSYMS_ALL.
 * The run queue is found from the current task.
 */
extern const volatile __s64 preempt_count_from_rq;

/*
 * The id, in the kernel's BTF, of a type that begins with a 32-bit number; 0 = the kernel does not
 * have bpf_rdonly_cast(). With bpf_rdonly_cast(), an eBPF program reads the number at an address by
 * one load. Without bpf_rdonly_cast(), a helper copies the number. If the id is set, user space has
 * replaced CAST_CALL by a call of bpf_rdonly_cast() (capture/programs/program-loader.h). Otherwise,
 * the verifier removes the call, because the id is the constant 0.
 *
 * User space can change only programs whose hooks are in the kernel's BTF. A file with programs on
 * other hooks defines CONTEXT_COPIES before it includes this file.
 */
extern const volatile __u32 preempt_count_type;

/* Reads the 32-bit number at AT, an address of the kernel. */
static __always_inline int context_read(const void *at)
{
	int number = 0;

#if !defined(CONTEXT_COPIES)
	void *(*const cast)(const void *, __u64) = (void *)CAST_CALL;

	if (preempt_count_type)
		return *(const volatile int *)cast(at, preempt_count_type);
#endif
	bpf_probe_read_kernel(&number, sizeof(number), at);
	return number;
}

/* This CPU's preempt count; 0 if it cannot be found (`kymo capabilities` shows this). */
static __always_inline int preempt_count_of(struct task_struct *current_task)
{
	if (preempt_count_from_rq && bpf_core_field_exists(current_task->se.cfs_rq)) {
		struct rq *rq = current_task->se.cfs_rq->rq;

		return context_read((const char *)rq + preempt_count_from_rq);
	}
	if (bpf_core_field_exists(current_task->thread_info.preempt_count))
		return current_task->thread_info.preempt_count;
	return 0;
}

/*
 * Returns true if a hard interrupt or a softirq runs on this CPU. Then the event may have nothing
 * to do with the current task.
 */
static __always_inline bool in_interrupt(struct task_struct *current_task)
{
	return preempt_count_of(current_task) &
	       (PREEMPT_NMI | PREEMPT_HARDIRQ | PREEMPT_SOFTIRQ_SERVED);
}

/*
 * Returns true if P sleeps, although P is still on the run queue: since 6.12 (commit 152e11f6df29),
 * a thread that blocks can remain on the queue until its lag has run out.
 */
static __always_inline bool dequeue_is_delayed(struct task_struct *p)
{
	return bpf_core_field_exists(p->se.sched_delayed) && p->se.sched_delayed;
}

/*
 * Returns the address P as a number, for functions that are not inlined. The verifier checks such
 * functions once, and they cannot take pointers to structures of the kernel.
 */
static __always_inline __u64 context_address(const void *p)
{
	__u64 address = (__u64)p;

	asm volatile("%0 = -%0\n%0 = -%0" : "+r"(address));
	return address;
}

/* Returns the koid of a task's process. Kernel threads count as threads of kthreadd, which is 2. */
static __always_inline __u32 process_id(struct task_struct *p)
{
	return p->flags & PF_KTHREAD ? 2 : (__u32)p->tgid;
}

/* The thread pointer of P in user space; 0 = unknown. */
#if defined(__TARGET_ARCH_x86)
static __always_inline __u64 thread_pointer(struct task_struct *p)
{
	return BPF_CORE_READ(p, thread.fsbase);
}
#else
static __always_inline __u64 thread_pointer(struct task_struct *p)
{
	return 0;
}
#endif

/* ---- system calls ---- */

#define TS_COMPAT       0x2
#define TIF_32BIT_ARM64 22
#define X32_CALL_BIT    0x40000000

/* Returns the number of a system call. REGS are the registers at the entry or exit of the call. */
static __always_inline long syscall_number(struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	return (int)regs->orig_ax; /* (the kernel ignores the upper half) */
#elif defined(__TARGET_ARCH_arm64)
	return regs->syscallno;
#else
	return -1; /* the order of the registers is unknown */
#endif
}

/* Returns true if the call of P uses the 32-bit ABI, whose system calls have different numbers. */
static __always_inline bool syscall_is_32bit_of(struct task_struct *p)
{
#if defined(__TARGET_ARCH_x86)
	return bpf_core_field_exists(p->thread_info.status) && p->thread_info.status & TS_COMPAT;
#else
	return p->thread_info.flags & 1ul << TIF_32BIT_ARM64;
#endif
}

static __always_inline bool syscall_is_32bit(void)
{
	return syscall_is_32bit_of(bpf_get_current_task_btf());
}

/*
 * Returns true if NUMBER is the number of a system call of x32. Few kernels have these system
 * calls; in other kernels, these numbers are unknown.
 */
static __always_inline bool syscall_is_x32(long number)
{
#if defined(__TARGET_ARCH_x86)
	return number > 0 && number & X32_CALL_BIT;
#else
	return false;
#endif
}
