/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/sandbox/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { RAISED_NICE = -10 };

/* The nice value of the process before thread_raise_priority(), which runs before other threads
 * exist. */
static int ordinary_nice;
static bool was_changed;

void thread_raise_priority(void)
{
	errno = 0;
	ordinary_nice = getpriority(PRIO_PROCESS, 0);
	if (errno == 0 && ordinary_nice > RAISED_NICE)
		was_changed = setpriority(PRIO_PROCESS, 0, RAISED_NICE) == 0;
}

void thread_reset_priority(void)
{
	if (was_changed)
		setpriority(PRIO_PROCESS, 0, ordinary_nice);
}

struct start {
	void *(*fn)(void *);
	void *userdata;
};

static void *thread_run(void *userdata)
{
	struct start start = *(struct start *)userdata;

	free(userdata);
	thread_reset_priority();
	return start.fn(start.userdata);
}

int thread_start_joinable(void *(*fn)(void *), void *userdata, pthread_t *ret)
{
	struct start *start = malloc(sizeof(*start));
	sigset_t all, before;
	int r;

	if (!start)
		return -ENOMEM;
	*start = (struct start){ fn, userdata };
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(ret, NULL, thread_run, start);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r != 0)
		free(start);
	return -r;
}

int thread_start(void *(*fn)(void *), void *userdata)
{
	pthread_t thread;
	int r = thread_start_joinable(fn, userdata, &thread);

	if (r == 0)
		pthread_detach(thread);
	return r;
}

void thread_signal(int event_fd)
{
	uint64_t one = 1;

	/* A write fails only if the counter overflows. Then the eventfd is readable, as
	 * intended. */
	if (write(event_fd, &one, sizeof(one)) < 0)
		return;
}

void thread_quiet(int event_fd)
{
	uint64_t count;

	/* A read fails only if the eventfd is not readable. */
	if (read(event_fd, &count, sizeof(count)) < 0)
		return;
}
