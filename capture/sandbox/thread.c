/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/sandbox/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { RAISED_NICE = -10 };

/* Of the process, before anybody was made prompt. Written by one thread, before it has others. */
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

int thread_start(void *(*fn)(void *), void *userdata)
{
	struct start *start = malloc(sizeof(*start));
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int r;

	if (!start)
		return -ENOMEM;
	*start = (struct start){ fn, userdata };
	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread, &attr, thread_run, start);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (r != 0)
		free(start);
	return -r;
}

void thread_signal(int event_fd)
{
	uint64_t one = 1;

	/* It fails only when it overflows, and then it is readable as wanted. */
	if (write(event_fd, &one, sizeof(one)) < 0)
		return;
}

void thread_quiet(int event_fd)
{
	uint64_t count;

	/* It fails only when it is quiet already. */
	if (read(event_fd, &count, sizeof(count)) < 0)
		return;
}
