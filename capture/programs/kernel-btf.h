/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the running kernel's BTF says beyond what CO-RE relocates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which of N tracepoints (NAMES) the kernel has, into RET. Returns 0, or a negative errno if there
 * is no BTF to read.
 */
int kernel_btf_tracepoints(const char *const *names, size_t n, bool *ret);

/*
 * Whether a task still has its memory when its exit is reported (since 6.16, when that tracepoint
 * got another argument, too). Returns 1, 0, or a negative errno if there is no BTF to read.
 */
int kernel_btf_exits_with_memory(void);

/*
 * Where x86 keeps its preempt count, in bytes from the CPU's run queue; both are per-CPU variables
 * whose places in their section stand in the BTF. Returns 1 with *RET set, 0 if this kernel keeps
 * no such variable (other architectures keep the count with the task), or a negative errno if
 * there is no BTF to read.
 */
int kernel_btf_preempt_count(int64_t *ret_from_rq);
