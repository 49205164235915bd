/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "capture/proc/bounded-read.h"

#define TASK_EXITING 0x4 /* PF_EXITING of the kernel */

/* The inode of the initial pid namespace: PROC_PID_INIT_INO. */
#define INITIAL_PIDS UINT32_C(0xeffffffc)

/* The inode of the initial time namespace: PROC_TIME_INIT_INO. */
#define INITIAL_TIMES UINT32_C(0xeffffffa)

bool proc_sees_all(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == INITIAL_PIDS;
}

bool proc_pid_namespace(uint64_t *ret_device, uint64_t *ret_inode)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) < 0)
		return false;
	*ret_device = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
	*ret_inode = st.st_ino;
	return true;
}

bool proc_has_kernel_clock(void)
{
	_cleanup_close_ int fd = -1;
	char offsets[256];
	struct stat st;
	ssize_t n;

	if (stat("/proc/self/ns/time", &st) < 0 || st.st_ino == INITIAL_TIMES)
		return true;
	fd = open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, offsets, sizeof(offsets) - 1);
	if (n < 0)
		return false;
	offsets[n] = '\0';
	/*
	 * A line is "monotonic 0 0" if there is no offset. Only offsets contain other digits than
	 * 0.
	 */
	return !strpbrk(offsets, "123456789");
}

bool proc_is_gone(uint32_t tid)
{
	return kill((pid_t)tid, 0) < 0 && errno == ESRCH;
}

static size_t proc_read_file(uint32_t pid, const char *name, char *to, size_t room)
{
	_cleanup_close_ int fd = -1;
	char path[48];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, to, room);
	return n > 0 ? (size_t)n : 0;
}

/* Returns the text after "KEY:\t", if a line begins with that, or NULL. */
static const char *proc_field(const char *status, const char *key)
{
	size_t n = strlen(key);

	for (const char *line = status; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) == 0 && line[n] == ':' && line[n + 1] == '\t')
			return line + n + 2;
	}
	return NULL;
}

static uint32_t proc_number(const char *text)
{
	return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

bool proc_is_exiting(uint32_t pid)
{
	unsigned flags;
	char stat[512];
	size_t n = proc_read_file(pid, "stat", stat, sizeof(stat) - 1);
	const char *rest;

	stat[n] = '\0';
	/* The name can contain any characters, also ')'. */
	rest = strrchr(stat, ')');
	return !rest || sscanf(rest, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1 ||
	       flags & TASK_EXITING;
}

void proc_cgroup(uint32_t pid, char *to, size_t room)
{
	char text[PATH_MAX + 256];
	size_t n = proc_read_file(pid, "cgroup", text, sizeof(text) - 1);
	const char *line = text;

	text[n] = '\0';
	while (line && strncmp(line, "0::", 3) != 0) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	text_clean(to, room, line ? line + 3 : "", line ? strcspn(line + 3, "\n") : 0);
}

int proc_identity(uint32_t tid, struct rec_identity *ret)
{
	char status[4096];
	const char *name, *uids;
	size_t n = proc_read_file(tid, "status", status, sizeof(status) - 1);

	status[n] = '\0';
	name = proc_field(status, "Name");
	uids = proc_field(status, "Uid"); /* real, effective, ... */
	if (!name || !uids)
		return -ESRCH;
	uids = strchr(uids, '\t');
	*ret = (struct rec_identity){
		.pid = proc_number(proc_field(status, "Tgid")),
		.tid = tid,
		.parent_pid = proc_number(proc_field(status, "PPid")),
		.uid = proc_number(uids),
	};
	if (ret->parent_pid == 2 || tid == 2) {
		ret->flags = IDENTITY_KTHREAD;
		ret->pid = 2;
	}
	/*
	 * The kernel escapes newlines and backslashes in the name. The escaped name is good enough,
	 * since it is used only for tasks whose name is not known otherwise.
	 */
	for (n = 0; n < sizeof(ret->comm) - 1 && name[n] && name[n] != '\n'; n++)
		ret->comm[n] = name[n];
	return 0;
}

static int proc_read_command(const char *root, uint32_t pid, struct outbuf *to)
{
	char text[REC_ARGS_BYTES + 1];

	(void)root;
	return outbuf_append(to, text, proc_read_file(pid, "cmdline", text, sizeof(text)));
}

ssize_t proc_command(uint32_t pid, char *to, size_t room, uint64_t *cpu_ns_sum)
{
	_cleanup_(outbuf_deinit) struct outbuf text = { 0 };
	int r = bounded_read("", pid, proc_read_command, REC_ARGS_BYTES + 1, &text, cpu_ns_sum);
	size_t n = text.size < room ? text.size : room;

	if (r < 0)
		return r;
	if (n > 0)
		memcpy(to, text.data, n);
	return (ssize_t)n;
}
