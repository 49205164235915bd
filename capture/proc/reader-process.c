/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/proc/reader-process.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file-kind.h"
#include "capture/sandbox/after-fork.h"
#include "capture/sandbox/child-end.h"
#include "capture/sandbox/clean-fd-table.h"

/* A child that has returned a descriptor may take this long to close its own copy. */
#define CLOSE_NS UINT64_C(1000000000)

/*
 * A child keeps the memory that its parent had at the fork, also what the parent has freed or
 * changed since then. So a child is replaced after this time.
 */
#define LIFE_NS UINT64_C(30000000000)

enum { IDLE_MAX = 4, POLL_MS_MAX = 60000 };

struct reader_process {
	struct hang_request request;
	struct reader_process *next; /* in the list of abandoned children */
	pid_t pid;
	int sock; /* -1 = it is ending */
};

/* A request, which its arguments follow. Parent and child have the same functions. */
struct reader_question {
	reader_process_fn fn;
	size_t n_args, max;
};

/*
 * An answer, which its data follows. A descriptor comes last, with one byte of its own. So a child
 * that is killed in between does not leave a descriptor without its data to the parent. (The parent
 * could not get rid of it: to close it could take forever.)
 */
struct reader_head {
	int error;
	bool has_fd, closes_soon;
	size_t size;
	uint64_t cpu_ns;
};

union reader_one_fd {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* Children without a request. */
static pthread_mutex_t reader_process_lock = PTHREAD_MUTEX_INITIALIZER; /* guards them */
static struct {
	pid_t pid;
	int sock;
} reader_process_idle[IDLE_MAX];
static size_t reader_process_n_idle;
static uint64_t reader_process_life_ns = LIFE_NS;

/* ---- messages ---- */

/* Sends SIZE bytes, with FD unless that is -1. Returns 0 or a negative errno. */
static int reader_process_send(int sock, const void *data, size_t size, int fd)
{
	union reader_one_fd control = { .head = {
						.cmsg_len = CMSG_LEN(sizeof(int)),
						.cmsg_level = SOL_SOCKET,
						.cmsg_type = SCM_RIGHTS,
					} };
	struct iovec part = { (void *)(uintptr_t)data, size };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
	}
	while (part.iov_len > 0) {
		ssize_t n = sendmsg(sock, &m, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		part.iov_base = (char *)part.iov_base + n;
		part.iov_len -= (size_t)n;
		m.msg_control = NULL;
		m.msg_controllen = 0;
	}
	return 0;
}

/* Waits until SOCK is readable. Returns 0, -ETIME, or another negative errno. */
static int reader_process_wait(int sock, uint64_t deadline_ns)
{
	struct pollfd pollfd = { .fd = sock, .events = POLLIN };

	for (;;) {
		uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC), left_ms;
		int r;

		if (now_ns >= deadline_ns)
			return -ETIME;
		left_ms = (deadline_ns - now_ns) / 1000000 + 1;
		r = poll(&pollfd, 1, left_ms < POLL_MS_MAX ? (int)left_ms : POLL_MS_MAX);
		if (r > 0)
			return 0;
		if (r < 0 && errno != EINTR)
			return -errno;
	}
}

/*
 * Receives SIZE bytes until DEADLINE_NS, and a descriptor with them, unless RET_FD is NULL. Returns
 * 0, -ETIME, -EPIPE at the end, or another negative errno.
 */
static int reader_process_receive(int sock, void *data, size_t size, uint64_t deadline_ns,
				  int *ret_fd)
{
	struct iovec part = { data, size };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	while (part.iov_len > 0) {
		union reader_one_fd control;
		int r = reader_process_wait(sock, deadline_ns);
		struct cmsghdr *head;
		ssize_t n;

		if (r < 0)
			return r;
		m.msg_control = ret_fd ? &control : NULL;
		/* (CMSG_SPACE() would have room for a second descriptor) */
		m.msg_controllen = ret_fd ? CMSG_LEN(sizeof(int)) : 0;
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EPIPE;
		head = CMSG_FIRSTHDR(&m);
		if (ret_fd && head && head->cmsg_level == SOL_SOCKET &&
		    head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(int)))
			memcpy(ret_fd, CMSG_DATA(head), sizeof(*ret_fd));
		part.iov_base = (char *)part.iov_base + n;
		part.iov_len -= (size_t)n;
	}
	return 0;
}

/* ---- the child ---- */

/*
 * Sets whether SIGIO ends this process, even in most waits in the kernel, when its parent ends or
 * gives it up. While SIGIO ends it, no other events may happen on the socket. Returns false if the
 * parent has already ended or given this process up.
 */
static bool reader_process_ends_with_parent(int sock, bool ends)
{
	struct pollfd pollfd = { .fd = sock };

	return fcntl(sock, F_SETFL, ends ? O_ASYNC : 0) == 0 && poll(&pollfd, 1, 0) == 0;
}

static bool reader_process_is_local(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && file_system_is_local((uint32_t)fs.f_type);
}

/*
 * Serves one request, which must begin by DEADLINE_NS. Returns 0, or a negative errno, after which
 * the child ends.
 */
static int reader_process_serve(int sock, uint64_t deadline_ns)
{
	static _Alignas(8) char args[READER_ARGS_MAX];
	struct reader_question q;
	struct reader_head head = { 0 };
	struct outbuf data = { 0 };
	uint64_t begin_ns;
	int fd = -1;
	int r = reader_process_receive(sock, &q, sizeof(q), deadline_ns, NULL)
			?: reader_process_receive(sock, args, q.n_args, UINT64_MAX, NULL);

	if (r < 0)
		return r;
	if (!reader_process_ends_with_parent(sock, true))
		return -EPIPE;
	begin_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	data.limit = q.max;
	head.error = q.fn(args, &data, &fd);
	head.has_fd = fd >= 0;
	head.closes_soon = fd >= 0 && reader_process_is_local(fd);
	head.size = data.size;
	head.cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
	if (!reader_process_ends_with_parent(sock, false))
		return -EPIPE;
	r = reader_process_send(sock, &head, sizeof(head), -1)
		    ?: reader_process_send(sock, data.data, data.size, -1);
	if (r == 0 && fd >= 0)
		r = reader_process_send(sock, "", 1, fd);
	outbuf_deinit(&data);
	/*
	 * (if closing FD could hang, the end of this process closes it, and nothing waits for that)
	 */
	if (head.has_fd && !head.closes_soon)
		return -EPIPE;
	close_fd(fd);
	return r;
}

/* Does not return. */
static void reader_process_run_child(int sock)
{
	uint64_t end_ns = clock_read_ns(CLOCK_MONOTONIC) + reader_process_life_ns;
	uint64_t deadline_ns = UINT64_MAX; /* (the first request is on its way) */
	sigset_t blocked;

	/* The child must not end with the terminal or the process group of the parent. */
	setsid();
	prctl(PR_SET_NAME, "kymo-reader");
	sigfillset(&blocked);
	sigdelset(&blocked, SIGIO);
	signal(SIGIO, SIG_DFL);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	if (after_fork_unmap_shared() < 0 ||
	    (sock > 0 && close_range(0, (unsigned)sock - 1, 0) < 0) ||
	    close_range((unsigned)sock + 1, ~0U, 0) < 0 || fcntl(sock, F_SETOWN, getpid()) < 0)
		_exit(1);
	while (reader_process_serve(sock, deadline_ns) == 0)
		deadline_ns = end_ns;
	_exit(0);
}

/* ---- the parent ---- */

/* Runs in a thread with a clean descriptor table, which the child inherits. */
static int reader_process_fork_child(int sock, void *userdata)
{
	pid_t *ret = userdata;

	*ret = fork();
	if (*ret == 0)
		reader_process_run_child(sock);
	return *ret < 0 ? -errno : 0;
}

static int reader_process_begin(struct reader_process *p)
{
	int socks[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) < 0)
		return -errno;
	r = clean_fd_table_run_with(socks[1], reader_process_fork_child, &p->pid);
	close(socks[1]);
	if (r < 0)
		close(socks[0]);
	else
		p->sock = socks[0];
	return r;
}

/* Ends a child that has no request, or that has died. */
static void reader_process_end(pid_t pid, int sock)
{
	close(sock);
	child_end_kill(pid, 0);
}

/* Returns true if the child of an idle SOCK has ended: it sends nothing of its own accord. */
static bool reader_process_has_ended(int sock)
{
	struct pollfd pollfd = { .fd = sock, .events = POLLIN };

	return poll(&pollfd, 1, 0) > 0;
}

void reader_process_forget_ended(void)
{
	struct reader_process ended[IDLE_MAX];
	size_t n = 0, n_ended = 0;

	pthread_mutex_lock(&reader_process_lock);
	for (size_t i = 0; i < reader_process_n_idle; i++)
		if (reader_process_has_ended(reader_process_idle[i].sock))
			ended[n_ended++] = (struct reader_process){
				.pid = reader_process_idle[i].pid,
				.sock = reader_process_idle[i].sock,
			};
		else
			reader_process_idle[n++] = reader_process_idle[i];
	reader_process_n_idle = n;
	pthread_mutex_unlock(&reader_process_lock);
	for (size_t i = 0; i < n_ended; i++)
		reader_process_end(ended[i].pid, ended[i].sock);
}

static bool reader_process_take_idle(struct reader_process *p)
{
	bool any;

	reader_process_forget_ended();
	pthread_mutex_lock(&reader_process_lock);
	any = reader_process_n_idle > 0;
	if (any) {
		p->pid = reader_process_idle[--reader_process_n_idle].pid;
		p->sock = reader_process_idle[reader_process_n_idle].sock;
	}
	pthread_mutex_unlock(&reader_process_lock);
	return any;
}

static void reader_process_put_idle(const struct reader_process *p)
{
	bool has_room;

	pthread_mutex_lock(&reader_process_lock);
	has_room = reader_process_n_idle < IDLE_MAX;
	if (has_room) {
		reader_process_idle[reader_process_n_idle].pid = p->pid;
		reader_process_idle[reader_process_n_idle++].sock = p->sock;
	}
	pthread_mutex_unlock(&reader_process_lock);
	if (!has_room)
		reader_process_end(p->pid, p->sock);
}

void reader_process_end_idle(void)
{
	struct reader_process p;

	while (reader_process_take_idle(&p))
		reader_process_end(p.pid, p.sock);
}

void reader_process_set_life(uint64_t ns)
{
	reader_process_life_ns = ns;
}

/*
 * Sends JOB to a child, P, which was idle before if *RET_WAS_IDLE. Returns 0 or a negative errno;
 * then there is no child.
 */
static int reader_process_ask(struct reader_process *p, const struct reader_job *job,
			      bool *ret_was_idle)
{
	const struct reader_question q = { job->fn, job->n_args, job->max };
	int r;

	do {
		*ret_was_idle = reader_process_take_idle(p);
		r = *ret_was_idle ? 0 : reader_process_begin(p);
		if (r < 0)
			return r;
		r = reader_process_send(p->sock, &q, sizeof(q), -1)
			    ?: reader_process_send(p->sock, job->args, job->n_args, -1);
		if (r < 0)
			reader_process_end(p->pid, p->sock);
		/* (an idle child that has ended meanwhile is replaced) */
	} while (r < 0 && *ret_was_idle);
	return r;
}

static int reader_process_get_answer(int sock, size_t max, uint64_t deadline_ns,
				     struct reader_head *head, struct reader_answer *ret)
{
	int r = reader_process_receive(sock, head, sizeof(*head), deadline_ns, NULL);
	void *to;
	char last;

	if (r == 0 && head->size > max)
		return -EBADMSG;
	if (r == 0 && head->size > 0) {
		to = outbuf_reserve(&ret->data, head->size);
		r = to ? reader_process_receive(sock, to, head->size, deadline_ns, NULL)
		       : ret->data.error;
	}
	if (r == 0 && head->has_fd)
		r = reader_process_receive(sock, &last, sizeof(last), deadline_ns, &ret->fd);
	return r;
}

/*
 * Runs JOB in a child, P, until DEADLINE_NS. A child that was idle can end, or be killed, before it
 * answers; then another one gets the job. Returns 0 with *HEAD, or a negative errno. If there is no
 * child at the end, P's socket is -1.
 */
static int reader_process_ask_until_answer(struct reader_process *p, const struct reader_job *job,
					   uint64_t deadline_ns, struct reader_head *head,
					   struct reader_answer *ret)
{
	bool was_idle, is_lost;
	int r;

	do {
		r = reader_process_ask(p, job, &was_idle);
		if (r < 0) {
			p->sock = -1;
			return r;
		}
		r = reader_process_get_answer(p->sock, job->max, deadline_ns, head, ret);
		is_lost = (r == -EPIPE || r == -ECONNRESET) && !ret->data.data;
		if (is_lost && was_idle)
			reader_process_end(p->pid, p->sock);
	} while (is_lost && was_idle);
	return r;
}

/*
 * Forgets abandoned children that have ended, and ends abandoned children whose requests are done.
 * The lock is held.
 */
static void reader_process_sweep(struct reader_pool *pool)
{
	struct reader_process **at = &pool->left, *p;

	while ((p = *at)) {
		struct pollfd pollfd = { .fd = p->sock, .events = POLLIN };

		if (p->sock >= 0 && poll(&pollfd, 1, 0) > 0) {
			kill(p->pid, SIGKILL);
			p->sock = close_fd(p->sock);
		}
		if (!child_end_wait(p->pid, 0, NULL)) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		hang_limits_remove(&pool->limits, &p->request);
		close_fd(p->sock);
		free(p);
	}
}

static int reader_process_add(struct reader_pool *pool, struct reader_process *p,
			      uint64_t *ret_deadline_ns)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC), timeout_ns = 0;
	int r;

	pthread_mutex_lock(&pool->lock);
	reader_process_sweep(pool);
	r = hang_limits_add(&pool->limits, &p->request, now_ns, &timeout_ns);
	pthread_mutex_unlock(&pool->lock);
	*ret_deadline_ns = now_ns + timeout_ns;
	return r;
}

static void reader_process_remove(struct reader_pool *pool, struct reader_process *p)
{
	pthread_mutex_lock(&pool->lock);
	hang_limits_remove(&pool->limits, &p->request);
	pthread_mutex_unlock(&pool->lock);
	free(p);
}

/* Abandons P, which hangs if it has not ended by HANGS_NS. */
static void reader_process_leave(struct reader_pool *pool, struct reader_process *p,
				 uint64_t hangs_ns)
{
	pthread_mutex_lock(&pool->lock);
	p->request.hangs_ns = hangs_ns;
	p->next = pool->left;
	pool->left = p;
	pthread_mutex_unlock(&pool->lock);
}

static void reader_process_reset(struct reader_answer *a)
{
	outbuf_deinit(&a->data);
	a->data = (struct outbuf){ 0 };
	a->fd = -1;
}

/*
 * Handles the end of a request: R is its result, and HEAD its answer if R is 0. Only a whole answer
 * has a descriptor, which belongs to the caller. Returns the result of the function.
 */
static int reader_process_finish(struct reader_pool *pool, struct reader_process *p, int r,
				 const struct reader_head *head, struct reader_answer *ret)
{
	if (r == -ETIME) {
		reader_process_leave(pool, p, 0);
	} else if (r < 0) {
		reader_process_end(p->pid, p->sock);
		reader_process_remove(pool, p);
	} else if (head->has_fd && !head->closes_soon) {
		p->sock = close_fd(p->sock);
		reader_process_leave(pool, p, clock_read_ns(CLOCK_MONOTONIC) + CLOSE_NS);
	} else {
		reader_process_put_idle(p);
		reader_process_remove(pool, p);
	}
	if (r < 0) {
		reader_process_reset(ret);
		return r;
	}
	ret->closes_soon = head->closes_soon;
	ret->cpu_ns = head->cpu_ns;
	return head->error;
}

int reader_process_run(struct reader_pool *pool, const struct reader_job *job,
		       struct reader_answer *ret)
{
	struct reader_process *p = calloc(1, sizeof(*p));
	struct reader_head head = { 0 };
	uint64_t deadline_ns;
	int r;

	assert(job->n_args <= READER_ARGS_MAX);
	*ret = (struct reader_answer){ .fd = -1 };
	if (!p)
		return -ENOMEM;
	p->request = (struct hang_request){
		.owner = job->owner,
		.place = job->place,
		.hangs_ns = UINT64_MAX,
	};
	r = reader_process_add(pool, p, &deadline_ns);
	if (r < 0) {
		free(p);
		return r;
	}
	r = reader_process_ask_until_answer(p, job, deadline_ns, &head, ret);
	if (p->sock < 0) {
		reader_process_remove(pool, p);
		return r;
	}
	return reader_process_finish(pool, p, r, &head, ret);
}
