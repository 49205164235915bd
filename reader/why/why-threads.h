/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kinds of threads that wake others. In a merged archive, threads of further machines have
 * shifted koids; their names and processes show their kinds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reader/views/summary.h"

enum why_role {
	WHY_ROLE_TASK,      /* a thread of a program, or of the kernel */
	WHY_ROLE_SOFTIRQS,  /* a thread of the kernel that runs softirqs and timers for others */
	WHY_ROLE_INTERRUPT, /* "irq cpu N", "softirq cpu N" */
	WHY_ROLE_OTHER,     /* "other cpu N": a thread that the filter does not select */
	WHY_ROLE_PSEUDO,    /* idle, and other pseudo-threads */
};

enum why_role why_thread_role(const struct summary *s, uint32_t koid);

/* Whether the thread belongs to the kernel of its machine. */
bool why_thread_is_kernel(const struct summary *s, uint32_t koid);
