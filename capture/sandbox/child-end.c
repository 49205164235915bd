/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/sandbox/child-end.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

/* The time for which a killed child is waited for. */
#define DYING_NS UINT64_C(1000000000)

static pthread_mutex_t child_end_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list */
static struct child_left {
	pid_t pid;
	uint64_t place;
} child_end_list[CHILD_LEFT_MAX];
static unsigned child_end_n;

/* Returns true if child PID has ended, and removes its entry in the process table. */
static bool child_end_reap(pid_t pid, int *ret_status)
{
	int status = 0;
	pid_t r = waitpid(pid, &status, WNOHANG);

	if (r == pid && ret_status)
		*ret_status = status;
	return r == pid || (r < 0 && errno == ECHILD);
}

/* Removes the children that have ended from the list. The lock is held. */
static void child_end_forget_ended(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < child_end_n; i++)
		if (!child_end_reap(child_end_list[i].pid, NULL))
			child_end_list[n++] = child_end_list[i];
	child_end_n = n;
}

bool child_end_wait(pid_t pid, uint64_t timeout_ns, int *ret_status)
{
	uint64_t until_ns = clock_read_ns(CLOCK_MONOTONIC) + timeout_ns, now_ns;
	_cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd pollfd = { .fd = pidfd, .events = POLLIN };

	while (!child_end_reap(pid, ret_status)) {
		now_ns = clock_read_ns(CLOCK_MONOTONIC);
		if (now_ns >= until_ns)
			return false;
		/* Without a descriptor, poll() only sleeps. */
		poll(pidfd >= 0 ? &pollfd : NULL, pidfd >= 0,
		     pidfd >= 0 ? (int)((until_ns - now_ns) / 1000000 + 1) : 1);
	}
	return true;
}

bool child_end_kill(pid_t pid, uint64_t place)
{
	bool has_room;

	kill(pid, SIGKILL);
	if (child_end_wait(pid, DYING_NS, NULL))
		return true;
	pthread_mutex_lock(&child_end_lock);
	child_end_forget_ended();
	has_room = child_end_n < CHILD_LEFT_MAX;
	if (has_room)
		child_end_list[child_end_n++] = (struct child_left){ pid, place };
	pthread_mutex_unlock(&child_end_lock);
	return has_room;
}

bool child_end_hangs_at(uint64_t place)
{
	bool hangs = false;

	pthread_mutex_lock(&child_end_lock);
	child_end_forget_ended();
	for (unsigned i = 0; place && i < child_end_n; i++)
		hangs |= child_end_list[i].place == place;
	pthread_mutex_unlock(&child_end_lock);
	return hangs;
}

unsigned child_end_n_left(void)
{
	unsigned n;

	pthread_mutex_lock(&child_end_lock);
	child_end_forget_ended();
	n = child_end_n;
	pthread_mutex_unlock(&child_end_lock);
	return n;
}
