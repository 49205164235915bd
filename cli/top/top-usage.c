/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/top/top-usage.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

/*
 * Reads /proc/PID/NAME. Returns false if it is unreadable (like the I/O of other users' processes).
 */
static bool usage_read(uint32_t pid, const char *name, char *to, size_t room)
{
	_cleanup_close_ int fd = -1;
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, to, room - 1);
	if (n <= 0)
		return false;
	to[n] = '\0';
	return true;
}

static bool usage_read_number(const char *text, const char *key, uint64_t *ret)
{
	const char *at = strstr(text, key);

	return at && sscanf(at + strlen(key), "%" SCNu64, ret) == 1;
}

static void usage_sample(struct top_usage *u, const struct top_usage *before)
{
	uint64_t pages, in, out;
	char text[1024];

	u->read_at_ns = clock_boot_ns();
	if (usage_read(u->pid, "statm", text, sizeof(text)) &&
	    sscanf(text, "%*s %" SCNu64, &pages) == 1) {
		u->has_memory = true;
		u->memory_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	}
	if (!usage_read(u->pid, "io", text, sizeof(text)) ||
	    !usage_read_number(text, "\nread_bytes: ", &in) ||
	    !usage_read_number(text, "\nwrite_bytes: ", &out))
		return;
	u->has_io = true;
	u->io_bytes = in + out;
	/* (a lower value belongs to a new process with this pid) */
	if (!before || !before->has_io || before->io_bytes > u->io_bytes ||
	    before->read_at_ns >= u->read_at_ns)
		return;
	u->has_rate = true;
	u->io_bytes_a_second = (double)(u->io_bytes - before->io_bytes) * 1e9 /
			       (double)(u->read_at_ns - before->read_at_ns);
}

/*
 * Returns true if pids in /proc differ from the pids in records. The pids in records belong to the
 * initial pid namespace, which has this inode.
 */
static bool usage_has_other_pids(void)
{
	char name[64];
	ssize_t n = readlink("/proc/self/ns/pid", name, sizeof(name) - 1);

	if (n < 0)
		return true;
	name[n] = '\0';
	return strcmp(name, "pid:[4026531836]") != 0;
}

const struct top_usage *top_usages_of(const struct top_usages *u, uint32_t pid)
{
	for (unsigned i = 0; i < u->n; i++)
		if (u->list[i].pid == pid)
			return &u->list[i];
	return NULL;
}

void top_usages_update(struct top_usages *u, const struct live_window *w)
{
	struct top_usages now = { .looked = true };

	now.other_pids = u->looked ? u->other_pids : usage_has_other_pids();
	for (size_t i = 0; i < w->n_processes && now.n < TOP_USAGES_MAX && !now.other_pids; i++) {
		struct top_usage *one = &now.list[now.n++];

		one->pid = w->processes[i].pid;
		usage_sample(one, top_usages_of(u, one->pid));
	}
	*u = now;
}
