/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Registers of the threads of a process, as the kernel has saved them at the entry into the kernel.
 */
#include "bpf/context.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/record.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u32 reach_pid = 0; /* set by user space */

/* In each layout that user space knows, the registers come first in the saved data. */
#if defined(__TARGET_ARCH_x86)
#define REGISTERS_BYTES bpf_core_type_size(struct pt_regs)
#elif defined(__TARGET_ARCH_arm64)
#define REGISTERS_BYTES sizeof(struct user_pt_regs)
#elif defined(__TARGET_ARCH_riscv)
#define REGISTERS_BYTES sizeof(struct user_regs_struct)
#elif defined(__TARGET_ARCH_s390)
#define REGISTERS_BYTES sizeof(user_pt_regs)
#else
#define REGISTERS_BYTES (32 * sizeof(__u64))
#endif

SEC("?iter/task")
int on_iter_registers(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct rec_registers rec = {};
	struct pt_regs *regs;
	__u64 n_bytes;

	if (!p || (__u32)p->tgid != reach_pid || p->flags & PF_KTHREAD ||
	    (filter_kinds & FILTER_OWN && !own_is(p)))
		return 0;
	regs = (struct pt_regs *)bpf_task_pt_regs(p);
	n_bytes = REGISTERS_BYTES;
	if (n_bytes > sizeof(rec.registers))
		n_bytes = sizeof(rec.registers);
	rec.head.ts_ns = bpf_ktime_get_boot_ns();
	rec.head.size = sizeof(rec);
	rec.head.kind = REC_REGISTERS;
	rec.head.pid = p->tgid;
	rec.head.tid = p->pid;
	rec.n = n_bytes / sizeof(*rec.registers);
	if (bpf_probe_read_kernel(rec.registers, n_bytes, regs) < 0)
		rec.n = 0;
	rec.sp = PT_REGS_SP_CORE(regs);
	rec.tls = thread_pointer(p);
	rec.altstack = p->sas_ss_sp;
	/*
	 * This check comes last: a running thread can have left the kernel since the registers were
	 * read, so the registers can be outdated. A thread that is not running cannot have left the
	 * kernel.
	 */
	rec.running = p->on_cpu;
	bpf_seq_write(ctx->meta->seq, &rec, sizeof(rec));
	return 0;
}
