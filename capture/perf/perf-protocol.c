/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/perf/perf-protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { WAIT_MAX_S = 5 };

union one_fd {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

int perf_protocol_send(int sock, void *data, size_t size, int fd)
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
	if (sendmsg(sock, &message, MSG_NOSIGNAL) < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	return 0;
}

int perf_protocol_receive(int sock, void *data, size_t size, int *ret_fd)
{
	struct iovec part = { .iov_base = data, .iov_len = size };
	union one_fd control;
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		/*
		 * CMSG_SPACE would include padding, in which a second descriptor has room. That
		 * descriptor would leak.
		 */
		.msg_controllen = CMSG_LEN(sizeof(int)),
	};
	ssize_t n = recvmsg(sock, &message, MSG_CMSG_CLOEXEC);
	struct cmsghdr *head = n < 0 ? NULL : CMSG_FIRSTHDR(&message);

	*ret_fd = -1;
	if (n < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
	    head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(head), sizeof(*ret_fd));
	return (size_t)n == size && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) ? 0 : -EBADMSG;
}

int perf_protocol_be_impatient(int sock)
{
	const struct timeval output_timeout = { .tv_sec = WAIT_MAX_S };

	if (setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &output_timeout, sizeof(output_timeout)) <
		    0 ||
	    setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &output_timeout, sizeof(output_timeout)) < 0)
		return -errno;
	return 0;
}

int perf_protocol_open(struct perf_question *q, int file)
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

int perf_protocol_number(const char *path)
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
