/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/perf-event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"

#define UPROBES "/sys/bus/event_source/devices/uprobe/"

enum {
	PATIENCE_S = 5,
	PARANOID_NOBODY = 3, /* of kernel.perf_event_paranoid; others than Debian say 4 */
};

/* What is asked; the file of a probe comes with it, as a descriptor. An answer is an errno or 0, and the event likewise. */
struct question {
	struct perf_event_attr attr;
	int32_t pid, cpu;
};

static const char *ask_path;

/* ---- messages with a descriptor ---- */

union one_fd {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

/* FD is -1 if there is none. */
static int send_with_fd(int sock, void *data, size_t size, int fd)
{
	struct iovec part = { .iov_base = data, .iov_len = size };
	union one_fd control = { .head = {
					 .cmsg_len = CMSG_LEN(sizeof(int)),
					 .cmsg_level = SOL_SOCKET,
					 .cmsg_type = SCM_RIGHTS,
				 } };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	return sendmsg(sock, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* *RET_FD is the caller's, or -1. */
static int receive_with_fd(int sock, void *data, size_t size, int *ret_fd)
{
	struct iovec part = { .iov_base = data, .iov_len = size };
	union one_fd control;
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(sock, &message, MSG_CMSG_CLOEXEC);
	struct cmsghdr *head = n < 0 ? NULL : CMSG_FIRSTHDR(&message);

	*ret_fd = -1;
	if (n < 0)
		return -errno;
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
	    head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(head), sizeof(*ret_fd));
	return (size_t)n == size && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) ? 0 : -EBADMSG;
}

static int be_impatient(int sock)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };

	if (setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
	    setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0)
		return -errno;
	return 0;
}

/* ---- events ---- */

/* The path of a probe is FILE's, if there is one. */
static int open_here(struct question *q, int file)
{
	char path[32];
	long fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	if (file >= 0)
		q->attr.uprobe_path = (uintptr_t)path;
	q->attr.size = sizeof(q->attr);
	fd = syscall(SYS_perf_event_open, &q->attr, q->pid, q->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

static int ask(struct question *q, int file)
{
	_cleanup_close_ int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int event = -1;
	int32_t answer;
	int r;

	if (sock < 0)
		return -errno;
	if (strlen(ask_path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, ask_path);
	r = be_impatient(sock);
	if (r < 0)
		return r;
	if (connect(sock, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	q->attr.uprobe_path = file >= 0 ? 0 : q->attr.uprobe_path; /* ours means nothing there */
	r = send_with_fd(sock, q, sizeof(*q), file);
	if (r == 0)
		r = receive_with_fd(sock, &answer, sizeof(answer), &event);
	if (r < 0)
		return r;
	if (answer < 0 && answer >= -4095)
		return answer;
	return answer == 0 && event >= 0 ? TAKE_FD(event) : -EBADMSG;
}

static int open_event(struct question *q, int file)
{
	int fd = open_here(q, file), asked;

	if ((fd != -EACCES && fd != -EPERM) || !ask_path)
		return fd;
	asked = ask(q, file);
	/* What the kernel says is told, rather than that nobody is there to ask. */
	return asked == -ENOENT || asked == -ECONNREFUSED ? fd : asked;
}

int perf_event_open_cpu(struct perf_event_attr *attr, unsigned cpu)
{
	struct question q = { .attr = *attr, .pid = -1, .cpu = (int32_t)cpu };

	return open_event(&q, -1);
}

/* A number, at the end of what is in the file PATH. Returns -1 without it. */
static int number_in(const char *path)
{
	char text[64];
	int number = -1;
	FILE *f = fopen(path, "re");

	if (!f)
		return -1;
	if (fgets(text, sizeof(text), f))
		number = atoi(text + strcspn(text, "0123456789"));
	fclose(f);
	return number;
}

int perf_event_open_probe(pid_t pid, int fd, uint64_t offset, bool on_return)
{
	int type = number_in(UPROBES "type"), bit = number_in(UPROBES "format/retprobe");
	struct question q = {
		.attr = { .type = (uint32_t)type, .probe_offset = offset },
		.pid = pid,
		.cpu = -1,
	};

	if (type < 0 || bit < 0)
		return -EOPNOTSUPP;
	if (on_return)
		q.attr.config = UINT64_C(1) << bit;
	return open_event(&q, fd);
}

void perf_event_ask_at(const char *path)
{
	ask_path = path;
}

bool perf_event_is_restricted(void)
{
	return number_in("/proc/sys/kernel/perf_event_paranoid") >= PARANOID_NOBODY;
}

/* ---- who is asked ---- */

/* No tracepoints and probes of the kernel, and no addresses of who asks. */
static bool is_ours(const struct question *q, int file)
{
	const struct perf_event_attr *attr = &q->attr;

	if (attr->size != sizeof(*attr))
		return false;
	if (attr->type == PERF_TYPE_HARDWARE)
		return file < 0 && attr->config == PERF_COUNT_HW_CPU_CYCLES;
	if (attr->type == PERF_TYPE_SOFTWARE)
		return file < 0 && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
				    attr->config == PERF_COUNT_SW_DUMMY);
	return file >= 0 && attr->type == (uint32_t)number_in(UPROBES "type");
}

int perf_event_answer(int sock)
{
	_cleanup_close_ int file = -1, event = -1;
	struct question q;
	int32_t answer = 0;
	int r = be_impatient(sock);

	if (r == 0)
		r = receive_with_fd(sock, &q, sizeof(q), &file);
	if (r < 0)
		return r;
	event = is_ours(&q, file) ? open_here(&q, file) : -EINVAL;
	if (event < 0)
		answer = event;
	return send_with_fd(sock, &answer, sizeof(answer), event);
}
