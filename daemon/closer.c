/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/closer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/thread.h"

/* A descriptor that is to be closed. */
struct left {
	struct left *next;
	uint64_t place;
	int fd;
};

/* What one thread is at. */
struct hand {
	bool busy;
	uint64_t place;
	uint64_t since_ns; /* CLOCK_MONOTONIC: the one that it closes */
};

static __thread bool never_waits;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct left *first, **last = &first;
static struct hand hands[CLOSER_THREADS_MAX];

/* No cancellation point, other than libc's: nobody is cancelled here. */
static int close_really(int fd)
{
	return (int)syscall(SYS_close, fd);
}

void closer_begin(void)
{
	never_waits = true;
}

static bool is_unix_socket(int fd)
{
	socklen_t size = sizeof(int);
	int domain;

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

/* Whether a close() of FD, which is of *RET_KIND, may wait for somebody. */
static bool may_wait(int fd, struct file_kind *ret_kind)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || flags & O_PATH || file_kind_of(fd, ret_kind) < 0)
		return false;
	switch (ret_kind->type) {
	case 0:
	case S_IFIFO:
		return false;
	case S_IFSOCK:
		/* Others may linger. */
		return !is_unix_socket(fd);
	default:
		return true;
	}
}

/* With the lock held: the thread that is at PLACE, or NULL. */
static struct hand *hand_at(uint64_t place)
{
	for (size_t i = 0; i < CLOSER_THREADS_MAX; i++) {
		if (hands[i].busy && hands[i].place == place)
			return &hands[i];
	}
	return NULL;
}

/* With the lock held: what is next for H, whose place it may change; NULL = nothing. */
static struct left *next_for(struct hand *h)
{
	struct left **at = &first, *found;

	while (*at && (*at)->place != h->place)
		at = &(*at)->next;
	/* What found no thread when it came. */
	for (at = *at ? at : &first; *at && (*at)->place != h->place && hand_at((*at)->place);)
		at = &(*at)->next;
	found = *at;
	if (!found)
		return NULL;
	*at = found->next;
	if (!*at)
		last = at;
	h->place = found->place;
	h->since_ns = clock_read_ns(CLOCK_MONOTONIC);
	return found;
}

static void *run(void *userdata)
{
	struct hand *h = userdata;
	struct left *left;

	pthread_mutex_lock(&lock);
	while ((left = next_for(h))) {
		pthread_mutex_unlock(&lock);
		close_really(left->fd);
		free(left);
		pthread_mutex_lock(&lock);
	}
	h->busy = false;
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* With the lock held: has somebody begin with what is at PLACE, if nobody is there. */
static void send_somebody(uint64_t place)
{
	for (size_t i = 0; i < CLOSER_THREADS_MAX && !hand_at(place); i++) {
		if (hands[i].busy)
			continue;
		hands[i] = (struct hand){ true, place, clock_read_ns(CLOCK_MONOTONIC) };
		/* (else whoever is next there, or free, does it) */
		if (thread_start(run, &hands[i]) < 0) {
			hands[i].busy = false;
			return;
		}
	}
}

/* It stays open until somebody has closed it; without memory, for ever. */
static void leave(int fd, uint64_t place)
{
	struct left *left = malloc(sizeof(*left));

	if (!left)
		return;
	*left = (struct left){ .place = place, .fd = fd };
	pthread_mutex_lock(&lock);
	*last = left;
	last = &left->next;
	send_somebody(place);
	pthread_mutex_unlock(&lock);
}

size_t closer_crowd(const struct file_kind *kind)
{
	const struct hand *h;
	size_t n, most;

	pthread_mutex_lock(&lock);
	h = hand_at(kind->place);
	n = h != NULL;
	for (const struct left *l = first; l; l = l->next)
		n += l->place == kind->place;
	most = h && clock_read_ns(CLOCK_MONOTONIC) - h->since_ns < CLOSER_PATIENCE_NS
		       ? CLOSER_QUEUED_MAX
		       : CLOSER_WAITING_MAX;
	pthread_mutex_unlock(&lock);
	return n < most ? 0 : n;
}

/* Stands for libc's, in libsystemd, too. */
int close(int fd)
{
	struct file_kind kind;
	int error = errno;

	if (!never_waits || !may_wait(fd, &kind)) {
		errno = error;
		return close_really(fd);
	}
	leave(fd, kind.place);
	errno = error;
	return 0;
}
