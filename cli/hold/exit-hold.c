/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/hold/exit-hold-parts.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>

#include "base/cleanup.h"
#include "base/clock.h"

static void *exit_hold_run(void *userdata)
{
	struct exit_hold *h = userdata;
	struct pollfd pollfd = { .fd = h->thread_fd, .events = POLLIN };
	uint64_t begin_ns;
	bool any_ready, more;
	eventfd_t n;
	int due_ms, r;

	r = exit_hold_make_timer(&h->timer);
	pthread_mutex_lock(&h->lock);
	h->error = r
			   ?: ptrace(PTRACE_SEIZE, h->command, NULL,
				     (void *)(uintptr_t)EXIT_HOLD_OPTIONS) < 0
			      ? -errno
			      : 0;
	pthread_cond_signal(&h->begun);
	while (h->error == 0 && !h->ending) {
		h->gave_up = false;
		more = exit_hold_collect_stops(h);
		exit_hold_walk_if_due(h);
		due_ms = exit_hold_settle(h);
		exit_hold_check_stopped(h);
		if (h->ending)
			break;
		begin_ns = clock_read_ns(CLOCK_MONOTONIC);
		any_ready = exit_hold_any_ready(h);
		pthread_mutex_unlock(&h->lock);
		poll(&pollfd, 1, more ? 0 : due_ms);
		eventfd_read(h->thread_fd, &n);
		pthread_mutex_lock(&h->lock);
		h->held_ns += any_ready ? clock_read_ns(CLOCK_MONOTONIC) - begin_ns : 0;
	}
	h->n = 0;
	pthread_mutex_unlock(&h->lock);
	if (r == 0)
		timer_delete(h->timer);
	return NULL;
}

/* ---- owner ---- */

int exit_hold_begin(struct exit_hold *h, pid_t command)
{
	int r;

	*h = (struct exit_hold)EXIT_HOLD_NULL;
	h->command = command;
	h->error = 1;
	h->thread_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	h->owner_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->begun, NULL);
	r = h->thread_fd < 0 || h->owner_fd < 0
		    ? -errno
		    : -pthread_create(&h->thread, NULL, exit_hold_run, h);
	h->runs = r == 0;
	if (r == 0) {
		pthread_mutex_lock(&h->lock);
		while (h->error > 0)
			pthread_cond_wait(&h->begun, &h->lock);
		r = h->error;
		pthread_mutex_unlock(&h->lock);
	}
	if (r < 0)
		exit_hold_end(h);
	return r;
}

void exit_hold_wake(struct exit_hold *h)
{
	if (h->runs)
		eventfd_write(h->thread_fd, 1);
}

pid_t exit_hold_pop(struct exit_hold *h)
{
	pid_t pid = 0;
	eventfd_t n;

	if (!h->runs)
		return 0;
	eventfd_read(h->owner_fd, &n);
	pthread_mutex_lock(&h->lock);
	for (unsigned i = 0; pid == 0 && i < h->n; i++) {
		if (h->list[i].state != HELD_READY)
			continue;
		h->list[i].state = HELD_POPPED;
		pid = h->list[i].pid;
	}
	pthread_mutex_unlock(&h->lock);
	return pid;
}

void exit_hold_release(struct exit_hold *h, pid_t pid)
{
	if (!h->runs)
		return;
	pthread_mutex_lock(&h->lock);
	exit_hold_release_one(h, pid);
	pthread_mutex_unlock(&h->lock);
	exit_hold_wake(h);
}

pid_t exit_hold_waiting(struct exit_hold *h)
{
	pid_t pid;

	if (!h->runs)
		return 0;
	pthread_mutex_lock(&h->lock);
	pid = h->waiting;
	h->waiting = 0;
	pthread_mutex_unlock(&h->lock);
	return pid;
}

bool exit_hold_any(struct exit_hold *h)
{
	bool any;

	if (!h->runs)
		return false;
	pthread_mutex_lock(&h->lock);
	any = h->n > 0;
	pthread_mutex_unlock(&h->lock);
	return any;
}

void exit_hold_end(struct exit_hold *h)
{
	if (h->runs) {
		/*
		 * (set without the lock: the thread holds the lock during its requests, and these
		 * must not delay the end)
		 */
		h->ending = true;
		exit_hold_wake(h);
		pthread_join(h->thread, NULL);
		h->runs = false;
	}
	h->thread_fd = close_fd(h->thread_fd);
	h->owner_fd = close_fd(h->owner_fd);
}
