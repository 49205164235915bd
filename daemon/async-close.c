/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any thread may close; only the main thread hands on, since closers end with the thread that started them. A closer has a mailbox
 * for one descriptor in memory that both share, and rings when it has done. It runs on a copy of our memory (CLONE_FILES
 * alone), in which it calls nothing but the kernel: other threads may have held locks when it was made.
 */
#include "daemon/async-close.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file-kind.h"
#include "base/foreign-fds.h"
#include "daemon/close-queue.h"

enum { MAIL_NONE = -1, MAIL_EXIT = -2 };

/* Closers without work that are kept. */
enum { CLOSERS_SPARE = 2 };

struct closer {
	_Atomic int *mail; /* shared with it */
	pid_t pid;         /* 0 = there is none */
	bool leaving;
	struct close_line *line; /* NULL = idle */
};

static __thread bool is_main;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct close_queue queue;
static struct closer closers[CLOSE_AT_ONCE_MAX];
static int bell = -1; /* eventfd: a closer has done, or another thread has left something */

static int close_really(int fd)
{
	return (int)syscall(SYS_close, fd);
}

static void ring(void)
{
	const uint64_t one = 1;

	syscall(SYS_write, bell, &one, sizeof(one));
}

/* ---- a closer ---- */

static void futex(_Atomic int *at, int what, int value)
{
	syscall(SYS_futex, at, what, value, NULL, NULL, 0);
}

/* What lingers would wait for bytes that nobody takes. */
static void close_without_lingering(int fd)
{
	const struct linger none = { 0 };

	syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close_really(fd);
}

static _Noreturn void closer_run(_Atomic int *mail, pid_t parent)
{
	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	syscall(SYS_prctl, PR_SET_NAME, "kymod-closer", 0, 0, 0);
	while (syscall(SYS_getppid) == parent) {
		int fd = atomic_load(mail);

		if (fd == MAIL_EXIT)
			break;
		if (fd == MAIL_NONE) {
			futex(mail, FUTEX_WAIT, MAIL_NONE);
			continue;
		}
		close_without_lingering(fd);
		atomic_store(mail, MAIL_NONE);
		ring();
	}
	for (;;)
		syscall(SYS_exit_group, 0);
}

/* ---- the main thread ---- */

static void closer_send(struct closer *c, int what)
{
	atomic_store(c->mail, what);
	futex(c->mail, FUTEX_WAKE, 1);
}

/* Returns 0 or a negative errno. */
static int closer_start(struct closer *c)
{
	pid_t parent = getpid();
	sigset_t all, before;
	long pid;

	atomic_store(c->mail, MAIL_NONE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = syscall(SYS_clone, CLONE_FILES, 0, 0, 0, 0);
	if (pid == 0)
		closer_run(c->mail, parent);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return -errno;
	c->pid = (pid_t)pid;
	c->leaving = false;
	return 0;
}

/* Whether C has gone: sent away, or killed by somebody. */
static bool closer_has_ended(struct closer *c)
{
	int error = errno;
	bool ended = waitpid(c->pid, NULL, WNOHANG | __WALL) != 0;

	errno = error;
	return ended;
}

/* Notes what closers have done, and gives them what is next in their lines. */
static void collect(uint64_t now_ns)
{
	for (size_t i = 0; i < CLOSE_AT_ONCE_MAX; i++) {
		struct closer *c = &closers[i];
		bool ended = c->pid && closer_has_ended(c);
		int fd;

		if (c->line && (ended || atomic_load(c->mail) == MAIL_NONE)) {
			if (!close_queue_done(&queue, c->line, now_ns, &fd))
				c->line = NULL;
			else if (!ended)
				closer_send(c, fd);
		}
		if (!ended)
			continue;
		c->pid = 0;
		/* (somebody else closes what was next) */
		if (c->line && closer_start(c) == 0)
			closer_send(c, fd);
	}
}

static bool is_idle(const struct closer *c)
{
	return c->pid && !c->line && !c->leaving;
}

/* One that is idle, started if there is none. */
static struct closer *find_closer(void)
{
	struct closer *unused = NULL;

	for (size_t i = 0; i < CLOSE_AT_ONCE_MAX; i++) {
		if (is_idle(&closers[i]))
			return &closers[i];
		if (!closers[i].pid && !unused)
			unused = &closers[i];
	}
	return unused && closer_start(unused) == 0 ? unused : NULL;
}

static void send_spare_away(void)
{
	unsigned n = 0;

	for (size_t i = 0; i < CLOSE_AT_ONCE_MAX; i++) {
		if (!is_idle(&closers[i]) || n++ < CLOSERS_SPARE)
			continue;
		closers[i].leaving = true;
		closer_send(&closers[i], MAIL_EXIT);
	}
}

/* With the lock held. */
static void hand_on(void)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	struct closer *c;
	int fd;

	collect(now_ns);
	while (close_queue_is_ready(&queue) && (c = find_closer())) {
		c->line = close_queue_take(&queue, now_ns, &fd);
		closer_send(c, fd);
	}
	send_spare_away();
}

static int on_bell(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	uint64_t count;

	(void)source;
	(void)revents;
	(void)userdata;
	if (read(fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return -errno;
	pthread_mutex_lock(&lock);
	hand_on();
	pthread_mutex_unlock(&lock);
	return 0;
}

int async_close_begin(void)
{
	_Atomic int *mail;
	int r = foreign_fds_begin();

	if (r < 0)
		return r;
	if (getrandom(&queue.seed, sizeof(queue.seed), 0) < 0)
		return -errno;
	mail = mmap(NULL, CLOSE_AT_ONCE_MAX * sizeof(*mail), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (mail == MAP_FAILED || bell < 0)
		return -errno;
	for (size_t i = 0; i < CLOSE_AT_ONCE_MAX; i++)
		closers[i].mail = &mail[i];
	is_main = true;
	/* As long as one lives, it is the last to let go of what is in the table: our end closes nothing of others'. */
	return closer_start(&closers[0]);
}

int async_close_attach(sd_event *event)
{
	return sd_event_add_io(event, NULL, bell, EPOLLIN, on_bell, NULL);
}

/* ---- what is left to closers ---- */

/* It stays open until somebody has closed it; without memory, for ever. */
static void leave(int fd, uint64_t owner)
{
	uint64_t place = file_place_of(fd);

	pthread_mutex_lock(&lock);
	if (close_queue_add(&queue, owner, place, fd) == 0) {
		if (is_main)
			hand_on();
		else
			ring();
	}
	pthread_mutex_unlock(&lock);
}

size_t async_close_crowd(int fd, uid_t uid)
{
	const uint64_t owners[] = { FOREIGN_FD_OF(uid), FOREIGN_FD_UNKNOWN };
	uint64_t place = file_place_of(fd), now_ns = clock_read_ns(CLOCK_MONOTONIC);
	size_t n = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < 2; i++)
		n += close_queue_crowd(&queue, owners[i], place, now_ns);
	pthread_mutex_unlock(&lock);
	return n;
}

/* Stands for libc's, in libsystemd, too. */
int close(int fd)
{
	uint64_t owner = foreign_fds_forget(fd);
	int error = errno;

	if (owner == FOREIGN_FD_OWN)
		return close_really(fd);
	leave(fd, owner);
	errno = error;
	return 0;
}

/* Likewise. What other threads receive comes from whom they have asked. */
ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	ssize_t n = syscall(SYS_recvmsg, fd, m, flags);

	if (n < 0 || !is_main)
		return n;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		const int *fds = (const int *)(const void *)CMSG_DATA(c);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(*fds); i++)
			foreign_fds_mark(fds[i], FOREIGN_FD_UNKNOWN);
	}
	return n;
}
