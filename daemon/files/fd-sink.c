/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper process starts the sinks, one at a time. The keeper is forked when the service starts,
 * so that neither the keeper nor the sinks keep memory of sessions. The only descriptor of the
 * keeper, and of a new sink, is the socket. These processes run on copies of the service's memory,
 * and make only system calls.
 */
#include "daemon/files/fd-sink.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * States: there is no sink; the sink waits; the sink must receive; it has received; no sink can be
 * started.
 */
enum { SINK_NONE, SINK_READY, SINK_REQUESTED, SINK_DONE, SINK_EXHAUSTED };

enum {
	/* Maximum number of descriptors of one message, a limit of the kernel. */
	FDS_MAX = 253,
	FDS_SPARE = 8,      /* number of messages for which a sink has room left when it exits */
	IDLE_SEC = 1,       /* time after which a sink with descriptors exits */
	WAIT_MAX_MS = 1000, /* time for which the service waits for a sink */
	POLL_MS = 10,
};

/* Signals to the keeper: a sink has ended, the current sink is about to exit. */
enum { SIGNAL_ENDED = SIGCHLD, SIGNAL_LEAVES = SIGUSR1 };

/* Memory that is shared by the service, the keeper and the sinks. */
static struct fd_sink {
	_Atomic int state;
	size_t n;
	ssize_t received; /* number of bytes, or a negative errno */
	unsigned n_fds;
	uint8_t data[FD_SINK_BYTES];
} * sink;

static void sink_wait(int state, const struct timespec *timeout)
{
	syscall(SYS_futex, &sink->state, FUTEX_WAIT, state, timeout, NULL, 0);
}

static void sink_set(int state)
{
	atomic_store(&sink->state, state);
	syscall(SYS_futex, &sink->state, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static _Noreturn void sink_leave(void)
{
	for (;;)
		syscall(SYS_exit_group, 0);
}

/* ---- sink ---- */

/* Receives a message. Returns the number of its descriptors. */
static unsigned sink_receive(int socket)
{
	union {
		char room[CMSG_SPACE(FDS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = { sink->data, sink->n < FD_SINK_BYTES ? sink->n : FD_SINK_BYTES };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	ssize_t n = syscall(SYS_recvmsg, socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	unsigned n_fds = 0;

	for (struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			n_fds += (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
	}
	sink->received = n < 0 ? -errno : n;
	sink->n_fds = n_fds;
	return n_fds;
}

static _Noreturn void sink_run(pid_t sinks_parent, int socket, rlim_t fds_max)
{
	const struct timespec idle = { .tv_sec = IDLE_SEC };
	rlim_t n_fds = 0;

	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	syscall(SYS_prctl, PR_SET_NAME, "kymod-sink", 0, 0, 0);
	sink_set(SINK_READY);
	while (syscall(SYS_getppid) == sinks_parent) {
		int ready = SINK_READY;
		bool is_full = n_fds > 0 && n_fds + (rlim_t)FDS_MAX * FDS_SPARE > fds_max;

		if (atomic_load(&sink->state) == SINK_REQUESTED) {
			n_fds += sink_receive(socket);
			sink_set(SINK_DONE);
			continue;
		}
		if (!is_full) {
			errno = 0;
			sink_wait(atomic_load(&sink->state) == SINK_DONE ? SINK_DONE : SINK_READY,
				  n_fds > 0 ? &idle : NULL);
			if (errno != ETIMEDOUT)
				continue;
		}
		if (atomic_compare_exchange_strong(&sink->state, &ready, SINK_NONE))
			break;
	}
	/* The socket is closed before the exit, which can hang. */
	syscall(SYS_close, socket);
	syscall(SYS_kill, sinks_parent, SIGNAL_LEAVES);
	sink_leave();
}

/* ---- keeper ---- */

static _Noreturn void sink_parent_run(pid_t parent, int socket, rlim_t fds_max)
{
	const uint64_t signals = UINT64_C(1) << (SIGNAL_ENDED - 1) | UINT64_C(1)
									     << (SIGNAL_LEAVES - 1);
	const struct timespec interval = { .tv_sec = 1 };
	pid_t self = (pid_t)syscall(SYS_getpid), current = 0, pid;
	unsigned n_leaving = 0;

	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	syscall(SYS_prctl, PR_SET_NAME, "kymod-sinks", 0, 0, 0);
	while (syscall(SYS_getppid) == parent) {
		siginfo_t info = { 0 };

		if (!current && n_leaving < FD_SINKS_MAX) {
			current = (pid_t)syscall(SYS_clone, SIGNAL_ENDED, 0, 0, 0, 0);
			if (current == 0)
				sink_run(self, socket, fds_max);
			if (current < 0)
				current = 0;
		}
		if (!current && atomic_load(&sink->state) == SINK_NONE)
			sink_set(SINK_EXHAUSTED);
		syscall(SYS_rt_sigtimedwait, &signals, &info, current ? NULL : &interval,
			sizeof(signals));
		if (info.si_signo == SIGNAL_LEAVES && info.si_pid == current) {
			current = 0;
			n_leaving++;
		}
		while ((pid = (pid_t)syscall(SYS_wait4, -1, NULL, WNOHANG | __WALL, NULL)) > 0) {
			if (pid == current) {
				current = 0;
				sink_set(SINK_NONE);
			} else {
				n_leaving -= n_leaving > 0;
			}
		}
	}
	sink_leave();
}

/* Closes all descriptors except SOCKET. */
static void sink_keep_only(int socket)
{
	if (socket > 0)
		syscall(SYS_close_range, 0, socket - 1, 0);
	syscall(SYS_close_range, socket + 1, ~0U, 0);
}

int fd_sink_begin(int socket)
{
	pid_t parent = getpid(), pid;
	sigset_t all, before;
	struct rlimit files;
	int r = 0;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return -errno;
	sink = mmap(NULL, sizeof(*sink), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sink == MAP_FAILED)
		return -errno;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
	if (pid == 0) {
		sink_keep_only(socket);
		sink_parent_run(parent, socket, files.rlim_cur);
	}
	if (pid < 0)
		r = -errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

/* ---- service ---- */

/* Waits for the state WANTED. Returns false after WAIT_MAX_MS, or if no sink can be started. */
static bool sink_becomes(int wanted)
{
	const struct timespec interval = { .tv_nsec = POLL_MS * 1000000L };

	for (int ms = 0; ms < WAIT_MAX_MS; ms += POLL_MS) {
		int state = atomic_load(&sink->state);

		if (state == wanted)
			return true;
		if (state == SINK_EXHAUSTED)
			return false;
		sink_wait(state, &interval);
	}
	return atomic_load(&sink->state) == wanted;
}

ssize_t fd_sink_receive(uint8_t *data, size_t n, unsigned *ret_n_fds)
{
	int ready = SINK_READY;
	ssize_t received;

	if (!sink || !sink_becomes(SINK_READY))
		return -EAGAIN;
	sink->n = n;
	if (!atomic_compare_exchange_strong(&sink->state, &ready, SINK_REQUESTED))
		return -EAGAIN;
	sink_set(SINK_REQUESTED);
	if (!sink_becomes(SINK_DONE))
		return -EIO;
	received = sink->received;
	*ret_n_fds = sink->n_fds;
	if (received > 0)
		memcpy(data, sink->data, (size_t)received);
	sink_set(SINK_READY);
	return received;
}
