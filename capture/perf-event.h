/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's perf events, as far as we open them.
 */
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

/* Opens ATTR for all that runs on CPU. Returns a descriptor or a negative errno. */
int perf_event_open_cpu(struct perf_event_attr *attr, unsigned cpu);

/* Opens ATTR for process PID, wherever it runs. Likewise. */
int perf_event_open_process(struct perf_event_attr *attr, pid_t pid);
