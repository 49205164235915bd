/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any thread leaves descriptors to closers; only the main thread hands them out.
 *
 * A guard starts the closers and ends with the main thread. It is started when there are no
 * sessions, since guard and closers run on copies of its memory (CLONE_FILES alone) and would keep
 * what sessions have in theirs. They call nothing but the kernel: other threads may have held locks
 * when they were made. Each closer has a mailbox for one descriptor in memory that all share, and
 * rings when it has closed that.
 *
 * A closer that hangs keeps the table of descriptors, and so all that this process has open, though
 * this process may have been killed. So the guard, which never closes what is others' and never
 * hangs, closes what was ours by then: programs leave the kernel, locks are free, and the bus knows
 * that we have gone.
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
#include <string.h>
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
#include "daemon/fd-sink.h"
#include "daemon/log.h"
#include "daemon/message-sender.h"
#include "daemon/passed-fds.h"

/* What is in a mailbox but a descriptor: nothing; the closer is at it; the closer is to go. */
enum { MAIL_NONE = -1, MAIL_TAKEN = -2, MAIL_EXIT = -3 };

/* Closers without work that are kept. */
enum { CLOSE_THREADS_SPARE = 2 };

/*
 * What the guard is notified of by these bytes: the main thread has ended, a closer has, the main
 * thread wants one.
 */
enum { SIGNAL_ENDED = SIGTERM, SIGNAL_CLOSE_THREAD = SIGCHLD, SIGNAL_WANTED = SIGUSR1 };

/* So long after a closer could not be started it is tried again. */
enum { RETRY_MS = 100 };

/* Senders that are remembered. */
enum { PEERS_MAX = 4096 };

/* Between two complaints of the same. */
#define WARN_NS UINT64_C(60000000000)

struct close_thread {
	_Atomic int mail;
	_Atomic pid_t pid; /* the guard's to set; 0 = there is none */
};

/* Shared by all. */
struct async_close_shared {
	_Atomic int bus; /* the bus's socket while there is one, else -1 */
	struct close_thread threads[CLOSE_AT_ONCE_MAX];
};

static __thread bool is_main;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct close_queue queue;
static struct async_close_shared *shared;
static struct close_thread *close_threads;          /* of these */
static struct close_line *lines[CLOSE_AT_ONCE_MAX]; /* that they are at; NULL = none */
static pid_t guard;
static int bell = -1; /* eventfd: a closer has done, or another thread has left something */

/* The main thread's. */
static int guarded = -1; /* the bus's socket */
static struct table
	peers; /* hashes of senders who are not known yet, and have passed descriptors */
static async_close_owner_fn whose;
static void *whose_userdata;
static uint64_t warned_ns; /* when it was said last that some were not taken */

static int close_really(int fd)
{
	return (int)syscall(SYS_close, fd);
}

static void async_close_ring(void)
{
	const uint64_t one = 1;

	syscall(SYS_write, bell, &one, sizeof(one));
}

/* ---- a closer ---- */

static void async_close_futex(_Atomic int *at, int what, int value)
{
	syscall(SYS_futex, at, what, value, NULL, NULL, 0);
}

static _Noreturn void leave_process(void)
{
	for (;;)
		syscall(SYS_exit_group, 0);
}

/* What lingers would wait for bytes that nobody takes. */
static void close_without_lingering(int fd)
{
	const struct linger none = { 0 };

	syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	/* Not before: the guard may be about to close what is not marked. */
	foreign_fds_forget(fd);
	close_really(fd);
}

static _Noreturn void close_thread_run(struct close_thread *c, pid_t parent)
{
	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	syscall(SYS_prctl, PR_SET_NAME, "kymod-closer", 0, 0, 0);
	while (syscall(SYS_getppid) == parent) {
		int fd = atomic_load(&c->mail);

		if (fd == MAIL_EXIT)
			break;
		if (fd < 0) {
			async_close_futex(&c->mail, FUTEX_WAIT, fd);
			continue;
		}
		atomic_store(&c->mail, MAIL_TAKEN);
		close_without_lingering(fd);
		atomic_store(&c->mail, MAIL_NONE);
		async_close_ring();
	}
	leave_process();
}

/* ---- the guard ---- */

static pid_t clone_with_files(int end_signal)
{
	return (pid_t)syscall(SYS_clone, CLONE_FILES | (unsigned)end_signal, 0, 0, 0, 0);
}

/*
 * One that was killed in the middle of a close has closed: the descriptor may be another one's by
 * now.
 */
static void reap_close_threads(void)
{
	pid_t pid;

	while ((pid = (pid_t)syscall(SYS_wait4, -1, NULL, WNOHANG | __WALL, NULL)) > 0) {
		for (size_t i = 0; i < CLOSE_AT_ONCE_MAX; i++) {
			if (close_threads[i].pid != pid)
				continue;
			if (atomic_load(&close_threads[i].mail) < 0)
				atomic_store(&close_threads[i].mail, MAIL_NONE);
			atomic_store(&close_threads[i].pid, 0);
		}
		async_close_ring();
	}
}

/* The closers for which there is mail. Returns whether one could not be started. */
static bool start_close_threads(pid_t self)
{
	bool failed = false;

	for (size_t i = 0; i < CLOSE_AT_ONCE_MAX; i++) {
		pid_t pid;

		if (close_threads[i].pid || atomic_load(&close_threads[i].mail) < 0)
			continue;
		pid = clone_with_files(SIGNAL_CLOSE_THREAD);
		if (pid == 0)
			close_thread_run(&close_threads[i], self);
		if (pid > 0)
			atomic_store(&close_threads[i].pid, pid);
		failed |= pid < 0;
	}
	return failed;
}

/* All but what is others'. */
static void close_own(void)
{
	unsigned first = 0, limit = foreign_fds_limit();

	for (unsigned fd = 0; fd < limit; fd++) {
		if (foreign_fds_owner((int)fd) == FOREIGN_FD_OWN)
			continue;
		if (fd > first)
			syscall(SYS_close_range, first, fd - 1, 0);
		first = fd + 1;
	}
	syscall(SYS_close_range, first, ~0U, 0);
}

/*
 * The connection ends for all who have its socket: a sink that is killed hangs in what it has
 * received before it closes that.
 */
static void guard_leave_bus(void)
{
	int bus = atomic_load(&shared->bus);

	if (bus >= 0)
		syscall(SYS_shutdown, bus, SHUT_RDWR);
}

static _Noreturn void guard_run(pid_t parent)
{
	const struct timespec soon = { .tv_nsec = RETRY_MS * 1000000 };
	/* (as the kernel has them) */
	const uint64_t signals = UINT64_C(1) << (SIGNAL_ENDED - 1) |
				 UINT64_C(1) << (SIGNAL_CLOSE_THREAD - 1) |
				 UINT64_C(1) << (SIGNAL_WANTED - 1);
	pid_t self = (pid_t)syscall(SYS_getpid);
	bool retry = false;

	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGNAL_ENDED, 0, 0, 0);
	syscall(SYS_prctl, PR_SET_NAME, "kymod-guard", 0, 0, 0);
	while (syscall(SYS_getppid) == parent) {
		siginfo_t info = { 0 };
		long signal = syscall(SYS_rt_sigtimedwait, &signals, &info, retry ? &soon : NULL,
				      sizeof(signals));

		/*
		 * (in our parent's name the kernel sends it, when the thread that started us ends)
		 */
		if (signal == SIGNAL_ENDED && info.si_pid == parent)
			break;
		reap_close_threads();
		retry = start_close_threads(self);
	}
	guard_leave_bus();
	close_own();
	leave_process();
}

/* ---- the main thread ---- */

/* Returns 0 or a negative errno. */
static int guard_start(void)
{
	pid_t parent = getpid(), pid;
	sigset_t all, before;
	int r = 0;

	for (size_t i = 0; i < CLOSE_AT_ONCE_MAX; i++)
		atomic_store(&close_threads[i].pid, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = clone_with_files(0);
	if (pid == 0)
		guard_run(parent);
	if (pid < 0)
		r = -errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	guard = pid > 0 ? pid : 0;
	return r;
}

/* Whether there is a guard; one that was killed took the closers along, and is replaced. */
static bool have_guard(void)
{
	int error = errno;
	bool have = guard && waitpid(guard, NULL, WNOHANG | __WALL) == 0;

	if (!have) {
		for (size_t i = 0; i < CLOSE_AT_ONCE_MAX; i++)
			if (atomic_load(&close_threads[i].mail) < 0)
				atomic_store(&close_threads[i].mail, MAIL_NONE);
		have = guard_start() == 0;
	}
	errno = error;
	return have;
}

static void closer_send(size_t i, int what)
{
	atomic_store(&close_threads[i].mail, what);
	/* (it may have been started, and wait, before the guard has noted that) */
	async_close_futex(&close_threads[i].mail, FUTEX_WAKE, 1);
	if (!atomic_load(&close_threads[i].pid))
		kill(guard, SIGNAL_WANTED);
}

static bool async_close_is_idle(size_t i)
{
	return !lines[i] && atomic_load(&close_threads[i].mail) == MAIL_NONE;
}

/* Notes what closers have done, and gives them what is next in their lines. */
static void async_close_collect(uint64_t now_ns)
{
	int fd;

	for (size_t i = 0; i < CLOSE_AT_ONCE_MAX; i++) {
		if (!lines[i] || atomic_load(&close_threads[i].mail) != MAIL_NONE)
			continue;
		if (close_queue_done(&queue, lines[i], now_ns, &fd))
			closer_send(i, fd);
		else
			lines[i] = NULL;
	}
}

/* One that is idle, if possible one that has been started. CLOSE_AT_ONCE_MAX = there is none. */
static size_t find_close_thread(void)
{
	size_t unused = CLOSE_AT_ONCE_MAX;

	for (size_t i = 0; i < CLOSE_AT_ONCE_MAX; i++) {
		if (!async_close_is_idle(i))
			continue;
		if (atomic_load(&close_threads[i].pid))
			return i;
		if (unused == CLOSE_AT_ONCE_MAX)
			unused = i;
	}
	return unused;
}

static void send_spare_away(void)
{
	unsigned n = 0;

	for (size_t i = 0; i < CLOSE_AT_ONCE_MAX; i++)
		if (async_close_is_idle(i) && atomic_load(&close_threads[i].pid) &&
		    n++ >= CLOSE_THREADS_SPARE)
			closer_send(i, MAIL_EXIT);
}

/* With the lock held. */
static void async_close_hand_on(void)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	size_t i;
	int fd;

	if (!have_guard())
		return;
	async_close_collect(now_ns);
	while (close_queue_is_ready(&queue) && (i = find_close_thread()) < CLOSE_AT_ONCE_MAX) {
		lines[i] = close_queue_take(&queue, now_ns, &fd);
		closer_send(i, fd);
	}
	send_spare_away();
}

/* ---- what is left to closers ---- */

/* It stays open until somebody has closed it; without memory, for ever. */
static void async_close_give_back(int fd, uint64_t owner)
{
	uint64_t place = file_place_of(fd);
	int error = errno;

	if (owner >= FOREIGN_FD_OF_PEER(0))
		owner = FOREIGN_FD_UNKNOWN;
	pthread_mutex_lock(&lock);
	if (close_queue_add(&queue, owner, place, fd) == 0) {
		if (is_main)
			async_close_hand_on();
		else
			async_close_ring();
	}
	pthread_mutex_unlock(&lock);
	errno = error;
}

/* ---- the event loop ---- */

static int on_bell(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	uint64_t count;

	(void)source;
	(void)revents;
	(void)userdata;
	if (read(fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return -errno;
	pthread_mutex_lock(&lock);
	async_close_hand_on();
	pthread_mutex_unlock(&lock);
	return 0;
}

int async_close_begin(void)
{
	int r = foreign_fds_begin();

	if (r < 0)
		return r;
	if (getrandom(&queue.seed, sizeof(queue.seed), 0) < 0)
		return -errno;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (shared == MAP_FAILED || bell < 0)
		return -errno;
	close_threads = shared->threads;
	atomic_store(&shared->bus, -1);
	for (size_t i = 0; i < CLOSE_AT_ONCE_MAX; i++)
		atomic_store(&close_threads[i].mail, MAIL_NONE);
	is_main = true;
	foreign_fds_set_closer(async_close_give_back);
	return guard_start();
}

int async_close_attach(sd_event *event, sd_bus *bus)
{
	int r = sd_bus_get_fd(bus);

	if (r < 0)
		return r;
	guarded = r;
	r = sd_bus_set_close_on_exit(bus, false);
	if (r < 0)
		return r;
	atomic_store(&shared->bus, guarded);
	r = fd_sink_begin(guarded);
	if (r < 0)
		return r;
	r = passed_fds_begin(event);
	if (r < 0)
		return r;
	return sd_event_add_io(event, NULL, bell, EPOLLIN, on_bell, NULL);
}

void async_close_leave(sd_bus *bus)
{
	sd_bus_flush(bus);
	if (sd_bus_get_fd(bus) == guarded)
		shutdown(guarded, SHUT_RDWR);
	atomic_store(&shared->bus, -1);
	sd_bus_close(bus);
}

size_t async_close_backlog(int fd, uid_t uid)
{
	uint64_t place = file_place_of(fd);
	size_t n;

	pthread_mutex_lock(&lock);
	n = close_queue_backlog(&queue, FOREIGN_FD_OF(uid), place, clock_read_ns(CLOCK_MONOTONIC));
	pthread_mutex_unlock(&lock);
	return n;
}

/* ---- what comes in ---- */

void async_close_ask(async_close_owner_fn fn, void *userdata)
{
	whose = fn;
	whose_userdata = userdata;
}

static uint64_t async_close_hash_of(const char *name)
{
	return FOREIGN_FD_OF_PEER(table_hash_seeded(queue.seed, name, strlen(name)));
}

void async_close_learn(const char *name, uid_t uid)
{
	uint64_t peer = async_close_hash_of(name);

	if (table_remove(&peers, peer))
		foreign_fds_give(peer, FOREIGN_FD_OF(uid));
}

/* Of the message that is to be received next, without anything of it. Returns how many bytes. */
static ssize_t async_close_look_at(uint8_t *data, size_t n, int *ret_flags)
{
	struct iovec part = { data, n };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t size = syscall(SYS_recvmsg, guarded, &m, MSG_PEEK | MSG_DONTWAIT);

	*ret_flags = m.msg_flags;
	return size;
}

/*
 * Whose the descriptors are that come with the next N bytes; 0 if none do. They come with the first
 * bytes of a message; what is missing then, for there is no room for them, shows it.
 */
static uint64_t look_whose(size_t n)
{
	char name[MESSAGE_SENDER_MAX];
	uint8_t data[MESSAGE_HEADER_PEEK];
	ssize_t size;
	uid_t uid;
	int flags;

	size = async_close_look_at(data, n < FD_SINK_BYTES ? n : FD_SINK_BYTES, &flags);
	if (size <= 0 || !(flags & MSG_CTRUNC))
		return FOREIGN_FD_OWN;
	size = async_close_look_at(data, sizeof(data), &flags);
	if (size <= 0 || message_find_sender(data, (size_t)size, name) < 0)
		return FOREIGN_FD_UNKNOWN;
	if (whose && whose(name, &uid, whose_userdata) == 0)
		return FOREIGN_FD_OF(uid);
	/* (those who left before anybody knew them are not reported) */
	if (peers.n_used >= PEERS_MAX)
		table_clear(&peers);
	if (table_set(&peers, async_close_hash_of(name), &peers) < 0)
		return FOREIGN_FD_UNKNOWN;
	return async_close_hash_of(name);
}

static bool has_room(uint64_t owner)
{
	bool has;

	if (owner >= FOREIGN_FD_OF_PEER(0))
		owner = FOREIGN_FD_UNKNOWN;
	pthread_mutex_lock(&lock);
	has = close_queue_has_room(&queue, owner, foreign_fds_max());
	pthread_mutex_unlock(&lock);
	return has;
}

static void warn_refused(uint64_t owner)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (warned_ns && now_ns - warned_ns < WARN_NS)
		return;
	warned_ns = now_ns;
	if (owner == FOREIGN_FD_UNKNOWN || owner >= FOREIGN_FD_OF_PEER(0))
		log_warning(0, "files that callers pass are not taken: too many cannot be closed");
	else
		log_warning(0, "files that user %u passes are not taken: too many cannot be closed",
			    (uid_t)(owner - FOREIGN_FD_OF(0)));
}

/* Puts N stand-ins for nothing into the control data of M, or as many as there can be. */
static void put_stand_ins(struct msghdr *m, unsigned n)
{
	struct cmsghdr *c = (struct cmsghdr *)m->msg_control;
	unsigned n_put = 0;

	if (m->msg_controllen < CMSG_SPACE(n * sizeof(int)))
		n = 0;
	for (; n_put < n; n_put++) {
		int fd = passed_fds_refuse(-EDQUOT);

		if (fd < 0)
			break;
		memcpy(CMSG_DATA(c) + n_put * sizeof(fd), &fd, sizeof(fd));
	}
	m->msg_flags = 0;
	m->msg_controllen = n_put ? CMSG_SPACE(n_put * sizeof(int)) : 0;
	if (n_put) {
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n_put * sizeof(int));
	}
}

/* Like recvmsg(), without the descriptors. -EAGAIN: as if it had not been called. */
static ssize_t receive_without(struct msghdr *m)
{
	uint8_t data[FD_SINK_BYTES];
	unsigned n_fds;
	ssize_t n = fd_sink_receive(data, m->msg_iov[0].iov_len, &n_fds);

	if (n < 0)
		return n;
	memcpy(m->msg_iov[0].iov_base, data, (size_t)n);
	put_stand_ins(m, n_fds);
	return n;
}

/*
 * Puts stand-ins in place of the descriptors that came with M, OWNER's. Where there are no numbers
 * for all, M gets fewer and ends there: the bus library gives up the connection then, as when the
 * kernel has none for those that come.
 */
static void take_received(struct msghdr *m, uint64_t owner)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	size_t n, n_put;
	int *fds;

	/* (the kernel puts all into one) */
	while (c && (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS))
		c = CMSG_NXTHDR(m, c);
	if (!c)
		return;
	fds = (int *)(void *)CMSG_DATA(c);
	n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(*fds);
	for (size_t i = 0; i < n; i++)
		foreign_fds_mark(fds[i], owner);
	n_put = passed_fds_take(fds, n);
	if (n_put == n)
		return;
	c->cmsg_len = CMSG_LEN(n_put * sizeof(*fds));
	m->msg_controllen = (size_t)((uint8_t *)c - (uint8_t *)m->msg_control) + c->cmsg_len;
	m->msg_flags |= MSG_CTRUNC;
}

/*
 * Stands for libc's, in libsystemd, too. What comes from anywhere but the bus comes from whom this
 * process has asked.
 */
ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	uint64_t owner = FOREIGN_FD_OWN;
	ssize_t n;

	if (!is_main || fd != guarded)
		return syscall(SYS_recvmsg, fd, m, flags);
	if (m->msg_iovlen == 1)
		owner = look_whose(m->msg_iov[0].iov_len);
	if (owner != FOREIGN_FD_OWN && !has_room(owner)) {
		warn_refused(owner);
		n = receive_without(m);
		if (n >= 0)
			return n;
		if (n != -EAGAIN) {
			errno = (int)-n;
			return -1;
		}
	}
	n = syscall(SYS_recvmsg, fd, m, flags);
	if (n >= 0)
		take_received(m, owner == FOREIGN_FD_OWN ? FOREIGN_FD_UNKNOWN : owner);
	return n;
}
