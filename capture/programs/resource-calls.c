/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/resource-calls.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "bpf/record.h"
#include "capture/options/options.h"

/* Some C libraries are older than this call. Its number is the same on all architectures. */
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

struct call_row {
	uint32_t operation; /* RESOURCE_OP_* */
	long number;
	const char *name;
	uint32_t categories; /* CATEGORY_*: any of these selects the call */
};

#define CALL(operation, name, categories)                                                          \
	{                                                                                          \
		RESOURCE_OP_##operation, SYS_##name, #name, categories                             \
	}

static const struct call_row rows[] = {
	CALL(OPENAT, openat, CATEGORIES_SYSCALLS),
	CALL(OPENAT2, openat2, CATEGORIES_SYSCALLS),
	CALL(SOCKET, socket, CATEGORY_FD),
	CALL(ACCEPT, accept, CATEGORY_FD),
	CALL(ACCEPT4, accept4, CATEGORY_FD),
	CALL(DUP, dup, CATEGORY_FD),
	CALL(EPOLL_CREATE1, epoll_create1, CATEGORY_FD),
	CALL(EVENTFD2, eventfd2, CATEGORY_FD),
	CALL(SIGNALFD4, signalfd4, CATEGORY_FD),
	CALL(TIMERFD_CREATE, timerfd_create, CATEGORY_FD),
	CALL(INOTIFY_INIT1, inotify_init1, CATEGORY_FD),
	CALL(MEMFD_CREATE, memfd_create, CATEGORY_FD),
	CALL(USERFAULTFD, userfaultfd, CATEGORY_FD),
	CALL(PERF_EVENT_OPEN, perf_event_open, CATEGORY_FD),
	CALL(BPF, bpf, CATEGORY_FD),
	CALL(IO_URING_SETUP, io_uring_setup, CATEGORY_FD),
	CALL(PIDFD_OPEN, pidfd_open, CATEGORY_FD),
	CALL(PIDFD_GETFD, pidfd_getfd, CATEGORY_FD),
	CALL(MEMFD_SECRET, memfd_secret, CATEGORY_FD),
	CALL(FANOTIFY_INIT, fanotify_init, CATEGORY_FD),
	CALL(MQ_OPEN, mq_open, CATEGORY_FD),
	CALL(LANDLOCK, landlock_create_ruleset, CATEGORY_FD),
	CALL(OPEN_BY_HANDLE_AT, open_by_handle_at, CATEGORY_FD),
	CALL(FSOPEN, fsopen, CATEGORY_FD),
	CALL(FSPICK, fspick, CATEGORY_FD),
	CALL(FSMOUNT, fsmount, CATEGORY_FD),
	CALL(OPEN_TREE, open_tree, CATEGORY_FD),
	CALL(SECCOMP, seccomp, CATEGORY_FD),
	CALL(DUP3, dup3, CATEGORY_FD),
	CALL(FCNTL, fcntl, CATEGORY_FD),
	CALL(SETFD, ioctl, CATEGORY_FD),
	CALL(PIPE2, pipe2, CATEGORY_FD),
	CALL(SOCKETPAIR, socketpair, CATEGORY_FD),
	CALL(RECVMSG, recvmsg, CATEGORY_FD),
	CALL(RECVMMSG, recvmmsg, CATEGORY_FD),
	CALL(CLOSE, close, CATEGORIES_SYSCALLS),
	CALL(CLOSE_RANGE, close_range, CATEGORIES_SYSCALLS),
	CALL(MMAP, mmap, CATEGORY_SHM),
	CALL(MUNMAP, munmap, CATEGORY_SHM),
	CALL(MREMAP, mremap, CATEGORY_SHM),
	CALL(SHMGET, shmget, CATEGORY_SHM),
	CALL(SHMAT, shmat, CATEGORY_SHM),
	CALL(SHMDT, shmdt, CATEGORY_SHM),
	CALL(SHMCTL, shmctl, CATEGORY_SHM),
	CALL(UNLINKAT, unlinkat, CATEGORY_SHM),
	CALL(FTRUNCATE, ftruncate, CATEGORY_SHM),
#ifdef SYS_open /* newer architectures do not have these calls */
	CALL(OPEN, open, CATEGORIES_SYSCALLS),
	CALL(CREAT, creat, CATEGORIES_SYSCALLS),
	CALL(EPOLL_CREATE, epoll_create, CATEGORY_FD),
	CALL(EVENTFD, eventfd, CATEGORY_FD),
	CALL(SIGNALFD, signalfd, CATEGORY_FD),
	CALL(INOTIFY_INIT, inotify_init, CATEGORY_FD),
	CALL(DUP2, dup2, CATEGORY_FD),
	CALL(PIPE, pipe, CATEGORY_FD),
	CALL(UNLINK, unlink, CATEGORY_SHM),
#endif
};

void resource_calls_fill(uint8_t *calls, uint32_t categories)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].categories & categories && rows[i].number < RESOURCE_CALLS_MAX)
			calls[rows[i].number] = (uint8_t)rows[i].operation;
}

const char *resource_call_name(uint32_t operation)
{
	switch (operation) {
	case RESOURCE_OP_IOCTL:
		return "ioctl";
	case RESOURCE_OP_THREAD_CREATE:
		return "pthread_create";
	case RESOURCE_OP_THREAD_JOIN:
		return "pthread_join";
	case RESOURCE_OP_THREAD_DETACH:
		return "pthread_detach";
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].operation == operation)
			return rows[i].name;
	return "";
}
