/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Threads that are in the middle of a probe. A walk begins where the thread would be without it.
 */
#pragma once

#include "bpf/unwind.bpf.h"

/* The byte that a probe puts in the place of an instruction's first one. */
#define PROBED_BREAKPOINT 0xcc

/*
 * W is where the current task is in user space by its registers: its IP and SP are corrected, and
 * PROBED is set. IS_TRAPPED is set if there is a breakpoint at IP: it has stopped the thread there;
 * or the instruction that it replaces has one byte, and the thread is behind that. Nothing is
 * looked at if the task has never come to a probe.
 */
int probed_begin_walk(struct unwind_walk *w);

/*
 * The return address that stands at AT on the current task's stack: ADDRESS, unless a return probe
 * has put its own there. *NEXT is the innermost such function that is not passed yet.
 */
__u64 probed_return_address(__u64 *next, __u64 at, __u64 address);

/*
 * The first byte of the instruction at whose probe programs run for the current task, as it is
 * without the probe; 0 if none run, or before Linux 6.12.
 */
__u32 probed_first_byte(void);
