/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's perf events, as far as we open them. Debian's kernels have a
 * kernel.perf_event_paranoid of 3, with which only CAP_SYS_ADMIN gets any, not CAP_PERFMON. A
 * service that is not to have that capability asks another process, which has no other one and
 * opens only what is opened here.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Opens ATTR for all that runs on CPU. Returns a descriptor or a negative errno. */
int perf_event_open_cpu(struct perf_event_attr *attr, unsigned cpu);

/*
 * Opens a probe at OFFSET of the file FD for process PID, 0: for all, wherever it runs. Likewise.
 */
int perf_event_open_probe(pid_t pid, int fd, uint64_t offset, bool on_return);

/*
 * Perf events that the kernel refuses are asked for at the socket PATH (kept, not copied) from now
 * on. Before there are threads.
 */
void perf_event_ask_at(const char *path);

/* Whether the kernel has reserved perf events for CAP_SYS_ADMIN. */
bool perf_event_is_restricted(void);
