/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data in the running kernel's BTF beyond CO-RE relocations.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Sets RET for each of the N tracepoints NAMES that the kernel has. Returns 0, or a negative errno
 * if there is no readable BTF.
 */
int kernel_btf_tracepoints(const char *const *names, size_t n, bool *ret);

/*
 * Whether a task still has its memory when its exit is reported (since 6.16, when that tracepoint
 * also got another argument). Returns 1, 0, or a negative errno if there is no readable BTF.
 */
int kernel_btf_exits_with_memory(void);

/*
 * The offset of x86's preempt count from the CPU's run queue, in bytes; both are per-CPU variables
 * whose positions in their section are in the BTF. Returns 1 with *RET set, 0 if this kernel has no
 * such variable (other architectures keep the count in the task), or a negative errno if there is
 * no readable BTF.
 */
int kernel_btf_preempt_count(int64_t *ret_from_rq);
