/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/thread.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

int thread_start(void *(*fn)(void *), void *userdata)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int r;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread, &attr, fn, userdata);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
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
