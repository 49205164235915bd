/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/perf-event.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	long fd;

	attr->size = sizeof(*attr);
	fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

int perf_event_open_cpu(struct perf_event_attr *attr, unsigned cpu)
{
	return open_event(attr, -1, (int)cpu);
}

int perf_event_open_process(struct perf_event_attr *attr, pid_t pid)
{
	return open_event(attr, pid, -1);
}
