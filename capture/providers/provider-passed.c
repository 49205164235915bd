/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/providers/provider-passed.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/foreign-fds.h"
#include "capture/sandbox/thread.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* (a process without a handler ignores this signal, so it harms no code that does not expect it) */
#define WAKING_SIGNAL SIGURG

enum { CLOSE_NS = 100000000, PLACES = 2 * PROVIDER_PASSED_CLOSES_MAX };

/* A connection that is being closed. All recordings of the process share these places. */
struct provider_passed_place {
	int fd;
	uint32_t uid;
	enum { PASSED_FREE, PASSED_WAITS, PASSED_CLOSES } state;
};

static struct provider_passed_place places[PLACES];
static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t signal_once = PTHREAD_ONCE_INIT;

bool provider_passed_is_next(int fd, pid_t *ret_pid)
{
	char byte;
	struct iovec part = { &byte, sizeof(byte) };
	union {
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr head;
	} control = { 0 };
	/*
	 * There is room only for the credentials. If the packet has descriptors, too, the kernel
	 * leaves them out, and reports this by MSG_CTRUNC.
	 */
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	const struct cmsghdr *head;
	struct ucred who;

	*ret_pid = 0;
	if (recvmsg(fd, &m, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
		return false;
	head = CMSG_FIRSTHDR(&m);
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_CREDENTIALS) {
		memcpy(&who, CMSG_DATA(head), sizeof(who));
		*ret_pid = who.pid;
	}
	return m.msg_flags & MSG_CTRUNC;
}

/* ---- places ---- */

static unsigned provider_passed_count(uint32_t uid, bool of_all, bool with_waiting)
{
	unsigned n = 0;

	for (size_t i = 0; i < PLACES; i++)
		n += (of_all || places[i].uid == uid) &&
		     (places[i].state == PASSED_CLOSES ||
		      (with_waiting && places[i].state == PASSED_WAITS));
	return n;
}

/*
 * Returns a place in STATE; if STATE is not PASSED_FREE, the place is of UID. NULL = no such place.
 */
static struct provider_passed_place *provider_passed_find(int state, uint32_t uid)
{
	for (size_t i = 0; i < PLACES; i++)
		if ((int)places[i].state == state && (state == PASSED_FREE || places[i].uid == uid))
			return &places[i];
	return NULL;
}

/* Frees PLACE. Returns the next place for the same thread, or NULL. */
static struct provider_passed_place *provider_passed_next(struct provider_passed_place *place)
{
	struct provider_passed_place *next;

	pthread_mutex_lock(&places_lock);
	place->state = PASSED_FREE;
	next = provider_passed_find(PASSED_WAITS, place->uid);
	if (next)
		next->state = PASSED_CLOSES;
	pthread_mutex_unlock(&places_lock);
	return next;
}

/* ---- threads ---- */

static void provider_passed_wake(int number)
{
	(void)number;
}

static void provider_passed_set_handler(void)
{
	const struct sigaction action = { .sa_handler = provider_passed_wake };

	sigaction(WAKING_SIGNAL, &action, NULL);
}

/*
 * From now on, a signal interrupts the calls of this thread every 100 ms. The signal ends a close
 * that waits.
 */
static bool provider_passed_begin_waking(timer_t *ret)
{
	const struct itimerspec often = { { 0, CLOSE_NS }, { 0, CLOSE_NS } };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WAKING_SIGNAL };
	sigset_t set;

	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, ret) < 0)
		return false;
	sigemptyset(&set);
	sigaddset(&set, WAKING_SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	timer_settime(*ret, 0, &often, NULL);
	return true;
}

static void *provider_passed_thread(void *userdata)
{
	struct provider_passed_place *place = userdata;
	timer_t timer;
	bool wakes;

	pthread_once(&signal_once, provider_passed_set_handler);
	wakes = provider_passed_begin_waking(&timer);
	while (place) {
		close(place->fd);
		place = provider_passed_next(place);
	}
	if (wakes)
		timer_delete(timer);
	return NULL;
}

int provider_passed_close(int fd, uint32_t uid)
{
	struct provider_passed_place *place;
	bool waits = false;

	if (fd < 0)
		return -1;
	shutdown(fd, SHUT_RDWR);
	/* The service has processes for it. */
	if (foreign_fds_owner(fd) != FOREIGN_FD_OWN)
		return close_passed_fd(fd);
	pthread_mutex_lock(&places_lock);
	place = provider_passed_find(PASSED_FREE, 0);
	if (place) {
		waits = provider_passed_count(uid, false, false) >= PROVIDER_PASSED_CLOSES_PER_USER;
		*place = (struct provider_passed_place){ fd, uid,
							 waits ? PASSED_WAITS : PASSED_CLOSES };
	}
	pthread_mutex_unlock(&places_lock);
	if (place && !waits && thread_start(provider_passed_thread, place) < 0)
		provider_passed_next(place);
	return -1;
}

bool provider_passed_is_full(void)
{
	bool ret;

	pthread_mutex_lock(&places_lock);
	ret = provider_passed_count(0, true, true) >= PROVIDER_PASSED_CLOSES_MAX;
	pthread_mutex_unlock(&places_lock);
	return ret;
}
