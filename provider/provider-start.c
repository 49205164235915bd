/* SPDX-License-Identifier: MIT */
/*
 * The thread that waits for recordings. It connects to the recorder's socket. If there is no
 * recorder, the thread waits for the doorbell: a FIFO that a recorder opens for writing and closes
 * once it has made its socket. So a waiting program never wakes up, and many waiting programs need
 * no limited resource, such as inotify instances.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "provider/provider-state.h"

enum { START_STACK = 128 << 10, START_RETRY_MS = 100 };

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t start_thread;
static bool started;
static uint32_t last_epoch;
static int wake_fd = -1;
static uint32_t stopping;
static int link_fd = -1; /* the socket; only the thread changes it */
static int bell_fd = -1;
static char start_name[PROVIDER_NAME_BYTES];
static char start_dir[80];
static struct provider_message message; /* of the thread */

void provider_start_notify(void)
{
	int fd = __atomic_load_n(&wake_fd, __ATOMIC_ACQUIRE);

	if (fd >= 0)
		eventfd_write(fd, 1);
}

static int provider_start_close(int fd)
{
	if (fd >= 0)
		close(fd);
	return -1;
}

/* ---- messages ---- */

static int provider_start_send(uint32_t kind, uint64_t session, int error, uint32_t text_bytes)
{
	message.kind = kind;
	message.version = PROVIDER_WIRE_VERSION;
	message.session = session;
	message.error = error;
	message.text_bytes = text_bytes;
	if (send(link_fd, &message, PROVIDER_MESSAGE_HEAD + text_bytes, MSG_NOSIGNAL) < 0)
		return -errno;
	return 0;
}

static int provider_start_send_hello(void)
{
	size_t n = strlen(start_name);

	memset(&message, 0, PROVIDER_MESSAGE_HEAD);
	memcpy(message.text, start_name, n);
	return provider_start_send(PROVIDER_HELLO, 0, 0, (uint32_t)n);
}

/* Sends all categories. */
static int provider_start_send_categories(void)
{
	unsigned next = 0;
	uint32_t n;
	int r = 0;

	memset(&message, 0, PROVIDER_MESSAGE_HEAD);
	while (r == 0 && (n = provider_categories_list(message.text, PROVIDER_TEXT_MAX, &next)) > 0)
		r = provider_start_send(PROVIDER_CATEGORIES, 0, 0, n);
	return r;
}

/* Receives a message into `message`, and its descriptors into FDS (-1 = none), which the caller
 * must close. Returns 1, 0 at the end of the connection, or a negative errno. */
static int provider_start_receive(int fds[2])
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = { &message, sizeof(message) - 1 };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(link_fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	struct cmsghdr *c;

	fds[0] = fds[1] = -1;
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -errno;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(c),
		       c->cmsg_len == CMSG_LEN(2 * sizeof(int)) ? 2 * sizeof(int) : sizeof(int));
	if (n == 0)
		return 0;
	if ((size_t)n < PROVIDER_MESSAGE_HEAD ||
	    message.text_bytes != (size_t)n - PROVIDER_MESSAGE_HEAD)
		message.kind = 0;
	return 1;
}

static int provider_start_obey(const int fds[2])
{
	uint64_t session = message.session;
	int r, error;

	switch (message.kind) {
	case PROVIDER_START:
		error = fds[1] < 0 ? -EINVAL : provider_session_begin(&message, fds[0], fds[1]);
		/* Answer before the first record: if a program ends without an answer, the manager
		 * takes no records of it. */
		r = provider_start_send(PROVIDER_STARTED, session, error, 0);
		if (r == 0 && error == 0)
			provider_session_turn_on(session);
		return r;
	case PROVIDER_STOP:
		provider_session_end(session);
		return 0;
	default:
		return 0; /* of a later version */
	}
}

/* ---- the thread ---- */

static int provider_start_open(const char *file, struct sockaddr_un *address)
{
	address->sun_family = AF_UNIX;
	return snprintf(address->sun_path, sizeof(address->sun_path), "%s/%s", start_dir, file);
}

static void provider_start_open_bell(void)
{
	struct sockaddr_un path;

	provider_start_open(PROVIDER_DOORBELL, &path);
	bell_fd = provider_start_close(bell_fd);
	bell_fd = open(path.sun_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

/* Connects to the recorder. Returns 0, -EAGAIN if too many connections wait to be accepted, or
 * another negative errno. */
static int provider_start_connect(void)
{
	struct sockaddr_un address;
	int r = 0;

	provider_start_open(PROVIDER_SOCKET, &address);
	link_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (link_fd < 0)
		return -errno;
	if (connect(link_fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		r = -errno;
	r = r ?: provider_start_send_hello();
	r = r ?: provider_start_send_categories();
	if (r < 0)
		link_fd = provider_start_close(link_fd);
	return r;
}

/* Reports sessions that have ended. */
static int provider_start_reap(void)
{
	uint64_t session;
	int r = 0;

	while (r == 0 && (session = provider_session_reap()))
		if (link_fd >= 0)
			r = provider_start_send(PROVIDER_STOPPED, session, 0, 0);
	return r;
}

/* Waits for FD, for wake_fd, or until the timeout. Returns true if FD is ready. */
static bool provider_start_wait(int fd, short events, int timeout_ms)
{
	struct pollfd fds[2] = { { .fd = wake_fd, .events = POLLIN },
				 { .fd = fd, .events = events } };
	uint64_t value;

	if (poll(fds, 2, timeout_ms) < 0)
		return false;
	if (fds[0].revents)
		eventfd_read(wake_fd, &value);
	return fds[1].revents != 0;
}

static bool provider_start_is_stopping(void)
{
	return __atomic_load_n(&stopping, __ATOMIC_ACQUIRE);
}

/* Serves the connection until it ends. */
static void provider_start_serve(void)
{
	unsigned n_sent = provider_categories_count(), n;
	int fds[2], r = 0;

	while (r >= 0 && !provider_start_is_stopping()) {
		if (provider_start_wait(link_fd, POLLIN,
					provider_session_has_ending() ? START_RETRY_MS : -1)) {
			r = provider_start_receive(fds);
			if (r == 0)
				break;
			r = r == -EAGAIN ? 0 : r;
			r = r > 0 ? provider_start_obey(fds) : r;
			provider_start_close(fds[0]);
			provider_start_close(fds[1]);
		}
		n = provider_categories_count();
		if (r == 0 && n != n_sent)
			r = provider_start_send_categories();
		n_sent = n;
		r = r ?: provider_start_reap();
	}
	provider_session_end_all();
	provider_start_reap();
	link_fd = provider_start_close(link_fd);
}

static void *provider_start_run(void *unused)
{
	(void)unused;
	while (!provider_start_is_stopping()) {
		int r;

		/* Open the bell before connecting: a recorder that comes in between rings it. */
		provider_start_open_bell();
		r = provider_start_connect();
		if (r == 0)
			provider_start_serve();
		while (!provider_start_is_stopping()) {
			provider_start_reap();
			if (provider_start_wait(bell_fd, POLLIN,
						r == -EAGAIN || provider_session_has_ending()
							? START_RETRY_MS
							: -1) ||
			    r == -EAGAIN)
				break;
		}
	}
	provider_session_end_all();
	provider_start_reap();
	bell_fd = provider_start_close(bell_fd);
	return NULL;
}

/* ---- fork ---- */

static void provider_start_before_fork(void)
{
	pthread_mutex_lock(&start_lock);
	provider_categories_lock();
}

static void provider_start_after_fork(void)
{
	provider_categories_unlock();
	pthread_mutex_unlock(&start_lock);
}

/*
 * Resets the state of a child. Its copy of the state is zeroed, so all sessions are off, and the
 * library's thread does not exist. The mappings of the buffers are kept, since a signal handler
 * that forks can have interrupted the writing of a record.
 */
static void provider_start_in_child(void)
{
	provider_categories_off();
	started = false;
	link_fd = provider_start_close(link_fd);
	bell_fd = provider_start_close(bell_fd);
	wake_fd = provider_start_close(wake_fd);
	stopping = 0;
	provider_start_after_fork();
}

static void provider_start_watch_forks(void)
{
	pthread_atfork(provider_start_before_fork, provider_start_after_fork,
		       provider_start_in_child);
}

/* ---- public functions ---- */

static int provider_start_make_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, START_STACK);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = -pthread_create(&start_thread, &attr, provider_start_run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (r == 0)
		pthread_setname_np(start_thread, "kymo-provider");
	return r;
}

static int provider_start_locked(const char *name)
{
	const char *dir = secure_getenv("KYMO_PROVIDER_DIR");
	int r, fd;

	if (started)
		return 0;
	strncpy(start_name, name, sizeof(start_name) - 1);
	strncpy(start_dir, dir ? dir : PROVIDER_RUN_DIR, sizeof(start_dir) - 1);
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	__atomic_store_n(&wake_fd, fd, __ATOMIC_RELEASE);
	__atomic_store_n(&stopping, 0, __ATOMIC_RELEASE);
	if (provider_state->epoch == 0)
		provider_state->epoch = ++last_epoch;
	r = provider_start_make_thread();
	if (r < 0)
		wake_fd = provider_start_close(fd);
	started = r == 0;
	return r;
}

int kymo_provider_start(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int r = provider_init();

	if (r < 0)
		return r;
	pthread_once(&once, provider_start_watch_forks);
	pthread_mutex_lock(&start_lock);
	r = provider_start_locked(name);
	pthread_mutex_unlock(&start_lock);
	return r;
}

void kymo_provider_stop(void)
{
	pthread_mutex_lock(&start_lock);
	if (started) {
		__atomic_store_n(&stopping, 1, __ATOMIC_RELEASE);
		provider_start_notify();
		pthread_join(start_thread, NULL);
		wake_fd = provider_start_close(wake_fd);
		started = false;
	}
	pthread_mutex_unlock(&start_lock);
}
