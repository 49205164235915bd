/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/perf-event.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int perf_event_open_cpu(struct perf_event_attr *attr, unsigned cpu)
{
	long fd;

	attr->size = sizeof(*attr);
	fd = syscall(SYS_perf_event_open, attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}
