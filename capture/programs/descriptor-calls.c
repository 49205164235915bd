/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/descriptor-calls.h"

#include <fcntl.h>
#include <stddef.h>

#define FD_KIND_CLOEXEC 1 /* the value of MFD_CLOEXEC, FAN_CLOEXEC, FSOPEN_CLOEXEC, ... */

struct maker {
	int8_t cloexec_arg; /* index of the argument with the flag; -1 = the flag is always set */
	uint32_t cloexec_flag;
	const char *kind;
};

static const struct maker makers[RESOURCE_OP_MAX] = {
	[RESOURCE_OP_OPEN] = { 1, O_CLOEXEC, NULL },
	[RESOURCE_OP_OPENAT] = { 2, O_CLOEXEC, NULL },
	[RESOURCE_OP_OPENAT2] = { 2, O_CLOEXEC, NULL },
	[RESOURCE_OP_SOCKET] = { 1, O_CLOEXEC, "socket" },
	[RESOURCE_OP_SOCKETPAIR] = { 2, O_CLOEXEC, "socket" },
	[RESOURCE_OP_ACCEPT] = { 0, 0, "socket" },
	[RESOURCE_OP_ACCEPT4] = { 3, O_CLOEXEC, "socket" },
	[RESOURCE_OP_PIPE] = { 0, 0, "pipe" },
	[RESOURCE_OP_PIPE2] = { 2, O_CLOEXEC, "pipe" },
	[RESOURCE_OP_DUP3] = { 2, O_CLOEXEC, NULL },
	[RESOURCE_OP_EPOLL_CREATE] = { 0, 0, "eventpoll" },
	[RESOURCE_OP_EPOLL_CREATE1] = { 0, O_CLOEXEC, "eventpoll" },
	[RESOURCE_OP_EVENTFD] = { 0, 0, "eventfd" },
	[RESOURCE_OP_EVENTFD2] = { 1, O_CLOEXEC, "eventfd" },
	[RESOURCE_OP_SIGNALFD] = { 0, 0, "signalfd" },
	[RESOURCE_OP_SIGNALFD4] = { 3, O_CLOEXEC, "signalfd" },
	[RESOURCE_OP_TIMERFD_CREATE] = { 1, O_CLOEXEC, "timerfd" },
	[RESOURCE_OP_INOTIFY_INIT] = { 0, 0, "inotify" },
	[RESOURCE_OP_INOTIFY_INIT1] = { 0, O_CLOEXEC, "inotify" },
	[RESOURCE_OP_MEMFD_CREATE] = { 1, FD_KIND_CLOEXEC, "memfd" },
	[RESOURCE_OP_USERFAULTFD] = { 0, O_CLOEXEC, "userfaultfd" },
	[RESOURCE_OP_PERF_EVENT_OPEN] = { 0, 0, "perf_event" },
	[RESOURCE_OP_BPF] = { -1, 0, "bpf" },
	[RESOURCE_OP_IO_URING_SETUP] = { -1, 0, "io_uring" },
	[RESOURCE_OP_PIDFD_OPEN] = { -1, 0, "pidfd" },
	[RESOURCE_OP_PIDFD_GETFD] = { -1, 0, "of another process" },
	[RESOURCE_OP_MEMFD_SECRET] = { 0, O_CLOEXEC, "secretmem" },
	[RESOURCE_OP_FANOTIFY_INIT] = { 0, FD_KIND_CLOEXEC, "fanotify" },
	[RESOURCE_OP_MQ_OPEN] = { -1, 0, NULL },
	[RESOURCE_OP_LANDLOCK] = { -1, 0, "landlock" },
	[RESOURCE_OP_OPEN_BY_HANDLE_AT] = { 2, O_CLOEXEC, "file" },
	[RESOURCE_OP_FSOPEN] = { 1, FD_KIND_CLOEXEC, "fscontext" },
	[RESOURCE_OP_FSPICK] = { 2, FD_KIND_CLOEXEC, "fscontext" },
	[RESOURCE_OP_FSMOUNT] = { 1, FD_KIND_CLOEXEC, "mount" },
	[RESOURCE_OP_OPEN_TREE] = { 2, O_CLOEXEC, "mount" },
	[RESOURCE_OP_SECCOMP] = { -1, 0, "seccomp" },
	[RESOURCE_OP_IOCTL] = { 2, O_CLOEXEC, "terminal or namespace" },
	[RESOURCE_OP_RECVMSG] = { 1, 1, "by a message" },
	[RESOURCE_OP_RECVMMSG] = { 1, 1, "by a message" },
};

bool descriptor_call_copies(uint32_t operation)
{
	return operation == RESOURCE_OP_DUP || operation == RESOURCE_OP_DUP2 ||
	       operation == RESOURCE_OP_DUP3 || operation == RESOURCE_OP_FCNTL;
}

bool descriptor_call_is_cloexec(const struct rec_resource *rec)
{
	const struct maker *maker = &makers[rec->operation];

	if (rec->operation == RESOURCE_OP_FCNTL)
		return rec->args[1] == F_DUPFD_CLOEXEC;
	return maker->cloexec_arg < 0 || rec->args[maker->cloexec_arg] & maker->cloexec_flag;
}

const char *descriptor_call_kind(uint32_t operation)
{
	return makers[operation].kind;
}
