/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Threads that are in the middle of a probe. A walk of their stack begins at the place where the
 * thread would be without the probe.
 */
#pragma once

#include "bpf/walk.bpf.h"

/* The kernel state that a sample has interrupted, per CPU, during the walk of the sample. */
#define PROBED_REGISTERS 15
struct probed_kernel {
	__u64 sp; /* 0 = no sample is running, or the sample has not interrupted the kernel */
	__u64 registers[PROBED_REGISTERS];
};

struct probed_kernels {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct probed_kernel);
};

extern struct probed_kernels probed_kernels SEC(".maps");

/* The byte with which a probe replaces the first byte of an instruction. */
#define PROBED_BREAKPOINT 0xcc

/*
 * W has the registers of the current task in user space. Corrects its IP and SP, and sets PROBED
 * and IS_UNLISTED. Sets IS_TRAPPED if there is a breakpoint at IP: either this breakpoint has
 * stopped the thread, or the thread has executed the instruction of one byte that the breakpoint
 * replaces. Does nothing if the task has never hit a probe.
 */
int probed_begin_walk(struct unwind_walk *w);

/*
 * Returns the return address at AT on the current task's stack: ADDRESS, unless a return probe has
 * replaced it. *NEXT is the innermost function with a return probe that the walk has not passed
 * yet.
 */
__u64 probed_return_address(__u64 *next, __u64 at, __u64 address);

/*
 * Returns the return address of W's innermost function, for a walk with IS_UNLISTED: the kernel has
 * this address only in a register, or on its own stack. Returns 0 if the address is not found.
 */
__u64 probed_unlisted_return(const struct unwind_walk *w);

/*
 * Returns the original first byte of the instruction at the probe whose eBPF programs run now for
 * the current task. Returns 0 if no eBPF programs run at a probe, or before Linux 6.12.
 */
__u32 probed_first_byte(void);
