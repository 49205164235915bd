/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The roles of threads that wake others. In a merged archive, the koids of further machines are
 * shifted, so names and processes show the role of a thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reader/views/summary.h"

enum why_role {
	WHY_ROLE_TASK,      /* a thread that does its own work, of a program or the kernel */
	WHY_ROLE_SOFTIRQS,  /* a thread of the kernel that runs softirqs and timers for others */
	WHY_ROLE_INTERRUPT, /* "irq cpu N", "softirq cpu N" */
	WHY_ROLE_OTHER,     /* "other cpu N": a thread that the filter does not select */
	WHY_ROLE_PSEUDO,    /* idle, and other pseudo-threads */
};

enum why_role why_thread_role(const struct summary *s, uint32_t koid);

/* True if the thread is a kernel thread of its machine. */
bool why_thread_is_kernel(const struct summary *s, uint32_t koid);
