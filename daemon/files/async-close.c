/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Closers (async-close.h) close the descriptors of clients. Any thread can queue descriptors, but
 * only the main thread gives them to closers.
 *
 * A reaper starts the closers, and ends with the main thread. The reaper and the closers run on
 * copies of the service's memory (only CLONE_FILES is set). So the reaper is started before there
 * are sessions, since it would keep a copy of their memory. These processes make only system calls,
 * since other threads may have held locks at the time of the fork. Each closer has a mailbox for
 * one descriptor in shared memory, and writes to the eventfd after it has closed the descriptor.
 *
 * A closer that hangs keeps the table of descriptors, and with it all files that this process has
 * open, even after this process was killed. So the reaper, which never closes a client's descriptor
 * and thus never hangs, then closes the service's own descriptors. This unloads its programs from
 * the kernel, releases locks, and lets the bus notice that the service has ended.
 */
#include "daemon/files/async-close.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
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
#include "daemon/files/close-queue.h"
#include "daemon/files/direct-sockets.h"
#include "daemon/files/fd-sink.h"
#include "daemon/common/bus-flush.h"
#include "daemon/common/log.h"
#include "daemon/files/message-sender.h"
#include "daemon/files/passed-fds.h"
#include "daemon/files/reaper-sockets.h"

/* Values of a mailbox other than a descriptor: empty, being closed, and a request to exit. */
enum { REQUEST_NONE = -1, MAIL_BUSY = -2, REQUEST_EXIT = -3 };

/* The number of idle closers to keep. */
enum { CLOSE_THREADS_SPARE = 2 };

/*
 * Signals to the reaper: the main thread has ended, a closer has ended, and the main thread needs a
 * closer.
 */
enum { SIGNAL_ENDED = SIGTERM, SIGNAL_CLOSE_THREAD = SIGCHLD, SIGNAL_WANTED = SIGUSR1 };

/* The delay before another attempt to start a closer. */
enum { RETRY_MS = 100 };

/* The maximum number of unknown senders to remember. */
enum { PEERS_MAX = 4096 };

/* The minimum time between two warnings. */
#define WARN_NS UINT64_C(60000000000)

struct close_thread {
	_Atomic int request_fd;
	_Atomic pid_t pid; /* set by the reaper; 0 = no process */
};

/* Memory that is shared by this process, the reaper and the closers. */
struct async_close_shared {
	_Atomic int bus;         /* socket of the bus, or -1 */
	_Atomic int locks_limit; /* above the descriptors with locks */
	struct close_thread threads[CLOSE_AT_ONCE_MAX];
};

static __thread bool is_main;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct close_queue queue;
static struct async_close_shared *shared;
static struct close_thread *close_threads;          /* equal to shared->threads */
static struct close_line *lines[CLOSE_AT_ONCE_MAX]; /* line of each closer; NULL = no line */
static pid_t reaper;
/* An eventfd. It is readable if a closer is done, or another thread has queued a descriptor. */
static int bell = -1;

/* Used only by the main thread: */
static int bus_fd = -1; /* socket of the bus */
/* Hashes of the names of unknown senders that have passed descriptors. */
static struct table peers;
static async_close_owner_fn whose;
static void *whose_userdata;
static uint64_t warned_ns; /* time of the last warning */

static int async_close_really(int fd)
{
	return (int)syscall(SYS_close, fd);
}

static void async_close_ring(void)
{
	const uint64_t one = 1;

	syscall(SYS_write, bell, &one, sizeof(one));
}

/* ---- closers ---- */

static void async_close_futex(_Atomic int *at, int what, int value)
{
	syscall(SYS_futex, at, what, value, NULL, NULL, 0);
}

static _Noreturn void async_close_leave_process(void)
{
	for (;;)
		syscall(SYS_exit_group, 0);
}

/* Disables lingering, since a lingering socket would wait until its data is received. */
static void async_close_without_lingering(int fd)
{
	const struct linger none = { 0 };

	syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	/*
	 * The mark is kept until now, since a reaper whose service has ended closes all unmarked
	 * descriptors.
	 */
	foreign_fds_forget(fd);
	async_close_really(fd);
}

static _Noreturn void async_close_thread_run(struct close_thread *c, pid_t parent)
{
	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	syscall(SYS_prctl, PR_SET_NAME, "kymod-closer", 0, 0, 0);
	while (syscall(SYS_getppid) == parent) {
		int fd = atomic_load(&c->request_fd);

		if (fd == REQUEST_EXIT)
			break;
		if (fd < 0) {
			async_close_futex(&c->request_fd, FUTEX_WAIT, fd);
			continue;
		}
		atomic_store(&c->request_fd, MAIL_BUSY);
		async_close_without_lingering(fd);
		atomic_store(&c->request_fd, REQUEST_NONE);
		async_close_ring();
	}
	async_close_leave_process();
}

/* ---- the reaper ---- */

static pid_t async_close_clone_with_files(int end_signal)
{
	return (pid_t)syscall(SYS_clone, CLONE_FILES | (unsigned)end_signal, 0, 0, 0, 0);
}

/*
 * Reaps closers. If a closer was killed during close(), its descriptor is closed, and the number
 * may already be in use again. So the descriptor is not closed again.
 */
static void async_close_reap_close_threads(void)
{
	pid_t pid;

	while ((pid = (pid_t)syscall(SYS_wait4, -1, NULL, WNOHANG | __WALL, NULL)) > 0) {
		for (size_t i = 0; i < CLOSE_AT_ONCE_MAX; i++) {
			if (close_threads[i].pid != pid)
				continue;
			if (atomic_load(&close_threads[i].request_fd) < 0)
				atomic_store(&close_threads[i].request_fd, REQUEST_NONE);
			atomic_store(&close_threads[i].pid, 0);
		}
		async_close_ring();
	}
}

/*
 * Starts the closers with a descriptor in their mailboxes. Returns true if one could not be
 * started.
 */
static bool async_close_start_close_threads(pid_t self)
{
	bool failed = false;

	for (size_t i = 0; i < CLOSE_AT_ONCE_MAX; i++) {
		pid_t pid;

		if (close_threads[i].pid || atomic_load(&close_threads[i].request_fd) < 0)
			continue;
		pid = async_close_clone_with_files(SIGNAL_CLOSE_THREAD);
		if (pid == 0)
			async_close_thread_run(&close_threads[i], self);
		if (pid > 0)
			atomic_store(&close_threads[i].pid, pid);
		failed |= pid < 0;
	}
	return failed;
}

/*
 * Releases the locks of the service. The next service begins when the name on the bus is free, and
 * ignores data that is still locked. Closing all descriptors takes longer, since the kernel then
 * unloads eBPF programs.
 */
static void async_close_reaper_unlock(void)
{
	int limit = atomic_load(&shared->locks_limit);

	for (int fd = 0; fd < limit; fd++)
		if (foreign_fds_owner(fd) == FOREIGN_FD_OWN)
			syscall(SYS_flock, fd, LOCK_UN);
}

/* Closes all descriptors except those from clients. */
static void async_close_own(void)
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
 * Ends the connections by shutdown(), which affects all processes that have the sockets: a killed
 * sink can hang while it closes received descriptors, and keeps its socket of the bus until then. A
 * closer that hangs keeps the sockets of other clients.
 */
static void async_close_reaper_leave_bus(void)
{
	int bus = atomic_load(&shared->bus);

	if (bus >= 0)
		syscall(SYS_shutdown, bus, SHUT_RDWR);
	reaper_sockets_shut_down();
}

static _Noreturn void async_close_reaper_run(pid_t parent)
{
	const struct timespec soon = { .tv_nsec = RETRY_MS * 1000000 };
	/* A set of signals in the kernel's format. */
	const uint64_t signals = UINT64_C(1) << (SIGNAL_ENDED - 1) |
				 UINT64_C(1) << (SIGNAL_CLOSE_THREAD - 1) |
				 UINT64_C(1) << (SIGNAL_WANTED - 1);
	pid_t self = (pid_t)syscall(SYS_getpid);
	bool retry = false;

	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGNAL_ENDED, 0, 0, 0);
	syscall(SYS_prctl, PR_SET_NAME, "kymod-reaper", 0, 0, 0);
	while (syscall(SYS_getppid) == parent) {
		siginfo_t info = { 0 };
		long signal = syscall(SYS_rt_sigtimedwait, &signals, &info, retry ? &soon : NULL,
				      sizeof(signals));

		/*
		 * When the thread that started the reaper ends, the kernel sends this signal with
		 * the pid of the reaper's parent.
		 */
		if (signal == SIGNAL_ENDED && info.si_pid == parent)
			break;
		async_close_reap_close_threads();
		retry = async_close_start_close_threads(self);
	}
	async_close_reaper_unlock();
	async_close_reaper_leave_bus();
	async_close_own();
	async_close_leave_process();
}

/* ---- main thread ---- */

/* Starts the reaper. Returns 0 or a negative errno. */
static int async_close_reaper_start(void)
{
	pid_t parent = getpid(), pid;
	sigset_t all, before;
	int r = 0;

	for (size_t i = 0; i < CLOSE_AT_ONCE_MAX; i++)
		atomic_store(&close_threads[i].pid, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = async_close_clone_with_files(0);
	if (pid == 0)
		async_close_reaper_run(parent);
	if (pid < 0)
		r = -errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	reaper = pid > 0 ? pid : 0;
	return r;
}

/*
 * Returns true if a reaper exists. If it was killed, its closers have ended with it, and another
 * reaper is started.
 */
static bool async_close_have_reaper(void)
{
	int error = errno;
	bool have = reaper && waitpid(reaper, NULL, WNOHANG | __WALL) == 0;

	if (!have) {
		for (size_t i = 0; i < CLOSE_AT_ONCE_MAX; i++)
			if (atomic_load(&close_threads[i].request_fd) < 0)
				atomic_store(&close_threads[i].request_fd, REQUEST_NONE);
		have = async_close_reaper_start() == 0;
	}
	errno = error;
	return have;
}

static void async_close_closer_send(size_t i, int what)
{
	atomic_store(&close_threads[i].request_fd, what);
	/*
	 * Before the reaper has stored the closer's pid, the closer can already wait on the futex.
	 */
	async_close_futex(&close_threads[i].request_fd, FUTEX_WAKE, 1);
	if (!atomic_load(&close_threads[i].pid))
		kill(reaper, SIGNAL_WANTED);
}

static bool async_close_is_idle(size_t i)
{
	return !lines[i] && atomic_load(&close_threads[i].request_fd) == REQUEST_NONE;
}

/* Notes which closers are done, and gives them the next descriptors of their lines. */
static void async_close_collect(uint64_t now_ns)
{
	int fd;

	for (size_t i = 0; i < CLOSE_AT_ONCE_MAX; i++) {
		if (!lines[i] || atomic_load(&close_threads[i].request_fd) != REQUEST_NONE)
			continue;
		if (close_queue_done(&queue, lines[i], now_ns, &fd))
			async_close_closer_send(i, fd);
		else
			lines[i] = NULL;
	}
}

/*
 * Returns the index of an idle closer or, if all closers are busy, CLOSE_AT_ONCE_MAX. A closer
 * whose process is running is preferred.
 */
static size_t async_close_find_close_thread(void)
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

static void async_close_stop_spare_threads(void)
{
	unsigned n = 0;

	for (size_t i = 0; i < CLOSE_AT_ONCE_MAX; i++)
		if (async_close_is_idle(i) && atomic_load(&close_threads[i].pid) &&
		    n++ >= CLOSE_THREADS_SPARE)
			async_close_closer_send(i, REQUEST_EXIT);
}

/* Gives queued descriptors to idle closers. The lock must be held. */
static void async_close_assign(void)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	size_t i;
	int fd;

	if (!async_close_have_reaper())
		return;
	async_close_collect(now_ns);
	while (close_queue_is_ready(&queue) &&
	       (i = async_close_find_close_thread()) < CLOSE_AT_ONCE_MAX) {
		lines[i] = close_queue_pop(&queue, now_ns, &fd);
		async_close_closer_send(i, fd);
	}
	async_close_stop_spare_threads();
}

/* ---- queued descriptors ---- */

/*
 * Queues FD, which stays open until a closer closes it. If there is no memory for the queue, FD
 * stays open forever.
 */
static void async_close_queue_fd(int fd, uint64_t owner)
{
	uint64_t place = file_place_of(fd);
	int error = errno;

	if (owner >= FOREIGN_FD_OF_PEER(0))
		owner = FOREIGN_FD_UNKNOWN;
	pthread_mutex_lock(&lock);
	if (close_queue_add(&queue, owner, place, fd) == 0) {
		if (is_main)
			async_close_assign();
		else
			async_close_ring();
	}
	pthread_mutex_unlock(&lock);
	errno = error;
}

/* ---- the event loop ---- */

static int async_close_on_bell(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	uint64_t count;

	(void)source;
	(void)revents;
	(void)userdata;
	if (read(fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return -errno;
	pthread_mutex_lock(&lock);
	async_close_assign();
	pthread_mutex_unlock(&lock);
	return 0;
}

int async_close_begin(void)
{
	int r = foreign_fds_begin();

	if (r == 0)
		r = reaper_sockets_begin();
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
		atomic_store(&close_threads[i].request_fd, REQUEST_NONE);
	is_main = true;
	foreign_fds_set_closer(async_close_queue_fd);
	return async_close_reaper_start();
}

void async_close_note_lock(int fd)
{
	int limit = shared ? atomic_load(&shared->locks_limit) : INT_MAX;

	while (fd >= limit && !atomic_compare_exchange_weak(&shared->locks_limit, &limit, fd + 1))
		;
}

static int async_close_attach_bus(sd_bus *bus)
{
	int r = sd_bus_get_fd(bus);

	if (r < 0)
		return r;
	bus_fd = r;
	r = sd_bus_set_close_on_exit(bus, false);
	if (r < 0)
		return r;
	atomic_store(&shared->bus, bus_fd);
	return fd_sink_begin(bus_fd);
}

int async_close_attach(sd_event *event, sd_bus *bus)
{
	int r = bus ? async_close_attach_bus(bus) : 0;

	if (r < 0)
		return r;
	r = passed_fds_begin(event);
	if (r < 0)
		return r;
	return sd_event_add_io(event, NULL, bell, EPOLLIN, async_close_on_bell, NULL);
}

void async_close_disconnect(sd_bus *bus)
{
	bus_flush(bus);
	if (sd_bus_get_fd(bus) == bus_fd)
		shutdown(bus_fd, SHUT_RDWR);
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

/* ---- received descriptors ---- */

void async_close_set_owner_fn(async_close_owner_fn fn, void *userdata)
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
		foreign_fds_transfer(peer, FOREIGN_FD_OF(uid));
}

/* Peeks at the next message in the socket, without its descriptors. Returns the number of bytes. */
static ssize_t async_close_peek(int fd, uint8_t *data, size_t n, int *ret_flags)
{
	struct iovec part = { data, n };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t size = syscall(SYS_recvmsg, fd, &m, MSG_PEEK | MSG_DONTWAIT);

	*ret_flags = m.msg_flags;
	return size;
}

/*
 * Returns the owner of the descriptors that come with the next N bytes, or FOREIGN_FD_OWN if no
 * descriptors come with them. Descriptors come with the first bytes of a message. The peek has no
 * room for descriptors, so the kernel sets MSG_CTRUNC if there are any.
 */
static uint64_t async_close_peek_owner(size_t n)
{
	char name[MESSAGE_SENDER_MAX];
	uint8_t data[MESSAGE_HEADER_PEEK];
	ssize_t size;
	uid_t uid;
	int flags;

	size = async_close_peek(bus_fd, data, n < FD_SINK_BYTES ? n : FD_SINK_BYTES, &flags);
	if (size <= 0 || !(flags & MSG_CTRUNC))
		return FOREIGN_FD_OWN;
	size = async_close_peek(bus_fd, data, sizeof(data), &flags);
	if (size <= 0 || message_find_sender(data, (size_t)size, name) < 0)
		return FOREIGN_FD_UNKNOWN;
	if (whose && whose(name, &uid, whose_userdata) == 0)
		return FOREIGN_FD_OF(uid);
	/* (nobody tells when an unknown sender leaves the bus, so a full table is cleared) */
	if (peers.n_used >= PEERS_MAX)
		table_clear(&peers);
	if (table_set(&peers, async_close_hash_of(name), &peers) < 0)
		return FOREIGN_FD_UNKNOWN;
	return async_close_hash_of(name);
}

static bool async_close_has_room(uint64_t owner)
{
	bool has;

	if (owner >= FOREIGN_FD_OF_PEER(0))
		owner = FOREIGN_FD_UNKNOWN;
	pthread_mutex_lock(&lock);
	has = close_queue_has_room(&queue, owner, foreign_fds_max());
	pthread_mutex_unlock(&lock);
	return has;
}

bool async_close_is_full(uid_t uid)
{
	return !async_close_has_room(FOREIGN_FD_OF(uid));
}

static void async_close_warn_refused(uint64_t owner)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (warned_ns && now_ns - warned_ns < WARN_NS)
		return;
	warned_ns = now_ns;
	if (owner == FOREIGN_FD_UNKNOWN || owner >= FOREIGN_FD_OF_PEER(0))
		log_warning(0, "files from callers are refused: too many earlier ones are "
			       "still not closed");
	else
		log_warning(0,
			    "files from user %u are refused: too many earlier ones are still "
			    "not closed",
			    (uid_t)(owner - FOREIGN_FD_OF(0)));
}

/* Puts N stand-ins without descriptors into the control data of M, or as many as can be created. */
static void async_close_put_stand_ins(struct msghdr *m, unsigned n)
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

/* Receives like recvmsg(), but without the descriptors. -EAGAIN: nothing was received. */
static ssize_t async_close_receive_without(struct msghdr *m)
{
	uint8_t data[FD_SINK_BYTES];
	unsigned n_fds;
	ssize_t n = fd_sink_receive(data, m->msg_iov[0].iov_len, &n_fds);

	if (n < 0)
		return n;
	memcpy(m->msg_iov[0].iov_base, data, (size_t)n);
	async_close_put_stand_ins(m, n_fds);
	return n;
}

/*
 * Replaces the descriptors that came with M, which belong to OWNER, by stand-ins. If there are too
 * few free descriptor numbers, the array in M is shortened. Then the bus library closes the
 * connection, as it does if the kernel itself has no free numbers.
 */
static void async_close_replace_received(struct msghdr *m, uint64_t owner)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	size_t n, n_put;
	int *fds;

	/* The kernel puts all descriptors of a message into one control message. */
	while (c && (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS))
		c = CMSG_NXTHDR(m, c);
	if (!c)
		return;
	fds = (int *)(void *)CMSG_DATA(c);
	n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(*fds);
	for (size_t i = 0; i < n; i++)
		foreign_fds_mark(fds[i], owner);
	n_put = passed_fds_adopt(fds, n);
	if (n_put == n)
		return;
	c->cmsg_len = CMSG_LEN(n_put * sizeof(*fds));
	m->msg_controllen = (size_t)((uint8_t *)c - (uint8_t *)m->msg_control) + c->cmsg_len;
	m->msg_flags |= MSG_CTRUNC;
}

/*
 * Receives from the direct connection FD of OWNER, like recvmsg(). An error ends this connection,
 * and no other.
 */
static ssize_t async_close_receive_direct(int fd, struct msghdr *m, int flags, uint64_t owner)
{
	uint8_t data[FD_SINK_BYTES];
	int peek_flags = 0;
	ssize_t n;

	/* libsystemd allows messages of 128 MiB, and would allocate that much. */
	if (m->msg_iovlen == 1 && m->msg_iov[0].iov_len > DIRECT_MESSAGE_BYTES) {
		errno = EMSGSIZE;
		return -1;
	}
	if (!async_close_has_room(owner) &&
	    async_close_peek(fd, data, sizeof(data), &peek_flags) > 0 && peek_flags & MSG_CTRUNC) {
		async_close_warn_refused(owner);
		errno = EMFILE;
		return -1;
	}
	n = syscall(SYS_recvmsg, fd, m, flags);
	if (n >= 0)
		async_close_replace_received(m, owner);
	return n;
}

/*
 * Replaces libc's recvmsg() in all of this process, including libsystemd. Only descriptors from the
 * bus and from direct connections are treated. Other sockets lead to processes that this process
 * has asked for descriptors.
 */
ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	uint64_t owner = is_main ? direct_sockets_owner(fd) : FOREIGN_FD_OWN;
	ssize_t n;

	if (owner != FOREIGN_FD_OWN)
		return async_close_receive_direct(fd, m, flags, owner);
	if (!is_main || fd != bus_fd)
		return syscall(SYS_recvmsg, fd, m, flags);
	if (m->msg_iovlen == 1)
		owner = async_close_peek_owner(m->msg_iov[0].iov_len);
	if (owner != FOREIGN_FD_OWN && !async_close_has_room(owner)) {
		async_close_warn_refused(owner);
		n = async_close_receive_without(m);
		if (n >= 0)
			return n;
		if (n != -EAGAIN) {
			errno = (int)-n;
			return -1;
		}
	}
	n = syscall(SYS_recvmsg, fd, m, flags);
	if (n >= 0)
		async_close_replace_received(m,
					     owner == FOREIGN_FD_OWN ? FOREIGN_FD_UNKNOWN : owner);
	return n;
}
