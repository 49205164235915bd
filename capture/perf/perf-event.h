/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The perf events that kymo opens. Debian's kernels have kernel.perf_event_paranoid=3, which
 * requires CAP_SYS_ADMIN and not CAP_PERFMON. A service without that capability asks another
 * process, which has only that capability and opens only these events.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Opens ATTR for CPU. Returns a descriptor or a negative errno. */
int perf_event_open_cpu(struct perf_event_attr *attr, unsigned cpu);

/*
 * Opens a probe at OFFSET of the file FD, for process PID (0 = all processes). While the probe
 * exists, the kernel increments the two-byte semaphore at offset SEMAPHORE of the file in each
 * process; 0 = no semaphore. Returns a descriptor or a negative errno.
 */
int perf_event_open_probe(pid_t pid, int fd, uint64_t offset, uint64_t semaphore, bool on_return);

/* Opens tracepoint ID, for an eBPF program. Returns a descriptor or a negative errno. */
int perf_event_open_tracepoint(uint32_t id);

/*
 * From now on, perf events that the kernel refuses are requested at the socket PATH (kept, not
 * copied). Must be called before threads exist.
 */
void perf_event_request_at(const char *path);

/* Returns true if the kernel has reserved perf events for CAP_SYS_ADMIN. */
bool perf_event_is_restricted(void);
