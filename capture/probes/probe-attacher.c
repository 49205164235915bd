/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/probe-attacher.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/outbuf.h"
#include "base/table.h"
#include "capture/sandbox/after-fork.h"
#include "capture/sandbox/clean-fd-table.h"
#include "capture/probes/probe-guards.h"

enum {
	FDS_MAX = 1 + PROBES_PROGRAMS,
	REST_MS = 500,   /* guards rest after this idle time; requests come in bursts */
	UNUSED_MAX = 32, /* maximum number of unused guards during a burst */
};

struct probe_attacher {
	int sock;
	pid_t pid;
	uint32_t last_id;
	uint64_t cpu_ns; /* CPU time that is already in the sum */
	uint64_t *cpu_ns_sum;
};

/*
 * A request. With ATTACH, the file and the PROGRAMS (bits) come as descriptors, and N struct
 * allocator_probe follow. Otherwise, N ids (uint32_t) follow, whose probes are detached.
 */
struct attacher_request {
	bool attach;
	uint32_t id;
	int32_t way;
	int32_t pid;
	uint32_t programs;
	uint32_t n;
};

struct attacher_reply {
	int32_t error;
	uint32_t failed_functions; /* as in struct probes_failed */
	uint64_t failed;
	uint64_t cpu_ns; /* CPU time that the attacher has used so far */
};

/* ---- messages ---- */

/* Sends SIZE bytes and N_FDS descriptors. Returns 0 or a negative errno. */
static int probe_attacher_send_all(int sock, const void *data, size_t size, const int *fds,
				   size_t n_fds)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(FDS_MAX * sizeof(int))] = { 0 };
	struct iovec iov = { (void *)data, size };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (n_fds > 0) {
		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
	}
	while (iov.iov_len > 0) {
		ssize_t sent = sendmsg(sock, &m, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -errno;
		iov.iov_base = (char *)iov.iov_base + sent;
		iov.iov_len -= (size_t)sent;
		m.msg_control = NULL;
		m.msg_controllen = 0;
	}
	return 0;
}

static size_t probe_attacher_collect_fds(struct msghdr *m, int *fds, size_t n)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		size_t n_new = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
		    n_new > FDS_MAX - n)
			continue;
		memcpy(fds + n, CMSG_DATA(c), n_new * sizeof(int));
		n += n_new;
	}
	return n;
}

/*
 * Receives SIZE bytes. Received descriptors go to FDS, an array of FDS_MAX, and their number is
 * added to *RET_N. If FDS is NULL, no descriptors are expected. Returns 0, or a negative errno:
 * -EPIPE at the end.
 */
static int probe_attacher_receive_all(int sock, void *data, size_t size, int *fds, size_t *ret_n)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(FDS_MAX * sizeof(int))];
	struct iovec iov = { data, size };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	while (iov.iov_len > 0) {
		ssize_t got;

		m.msg_control = fds ? control : NULL;
		m.msg_controllen = fds ? sizeof(control) : 0;
		got = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EPIPE;
		if (fds)
			*ret_n = probe_attacher_collect_fds(&m, fds, *ret_n);
		iov.iov_base = (char *)iov.iov_base + got;
		iov.iov_len -= (size_t)got;
	}
	return 0;
}

/* ---- the child ---- */

struct kept_probes {
	struct probes *probes;
	struct probe_guard *guard; /* can be NULL */
	unsigned slot;             /* capture/probes/probe-removals.h */
};

struct attacher_child {
	int sock;
	struct table probes; /* id -> struct kept_probes */
	struct probe_guards guards;
	struct probe_removals *removals; /* NULL = none */
};

static struct kept_probes *probe_attacher_new_kept(struct attacher_child *k, uint32_t id)
{
	struct kept_probes *kept = calloc(1, sizeof(*kept));

	if (kept && table_set(&k->probes, id, kept) == 0)
		return kept;
	return free_ptr(kept);
}

static int probe_attacher_serve_attach(struct attacher_child *k, const struct attacher_request *q,
				       const int *fds, size_t n_fds,
				       const struct allocator_probe *probes,
				       struct attacher_reply *answer)
{
	struct probes_target target = {
		.way = (enum probes_way)q->way,
		.pid = q->pid,
		.fd = n_fds ? fds[0] : -1,
		.probes = probes,
		.n = q->n,
	};
	struct kept_probes *kept = probe_attacher_new_kept(k, q->id);
	struct probes_failed failed = { 0 };
	size_t at = 1;
	int r;

	if (!kept)
		return -ENOMEM;
	for (size_t i = 0; i < PROBES_PROGRAMS; i++)
		target.programs[i] = q->programs >> i & 1 && at < n_fds ? fds[at++] : -1;
	kept->slot = probe_removals_slot(target.fd);
	kept->guard = probe_guards_acquire(&k->guards, &target);
	r = probes_new(&target, &kept->probes, &failed);
	/*
	 * If the kernel refused a probe, probes_new() has removed probes, so this removal is noted.
	 */
	if (r < 0 || failed.n > 0 || probes_were_retried(kept->probes)) {
		probe_removals_begin(k->removals, kept->slot);
		probe_removals_end(k->removals);
	}
	if (r < 0) {
		probe_guards_drop(&k->guards, kept->guard);
		free(table_remove(&k->probes, q->id));
		return r;
	}
	answer->failed = failed.n;
	answer->failed_functions = failed.functions;
	return 0;
}

/*
 * Detaches probes in parallel, or one by one if there is no memory. Their guards are awake
 * meanwhile.
 */
static void probe_attacher_detach_kept(struct attacher_child *k, struct kept_probes **list,
				       size_t n)
{
	_cleanup_(outbuf_deinit) struct outbuf probes = { 0 };

	for (size_t i = 0; i < n; i++)
		probe_guards_wake(&k->guards, list[i]->guard);
	for (size_t i = 0; i < n; i++)
		probe_removals_begin(k->removals, list[i]->slot);
	for (size_t i = 0; i < n; i++)
		if (outbuf_append(&probes, &list[i]->probes, sizeof(list[i]->probes)) < 0)
			probes_free(list[i]->probes);
	probes_free_all((struct probes **)probes.data, probes.size / sizeof(struct probes *));
	probe_removals_end(k->removals);
	for (size_t i = 0; i < n; i++) {
		probe_guards_drop(&k->guards, list[i]->guard);
		free(list[i]);
	}
}

static void probe_attacher_serve_detach(struct attacher_child *k, const uint32_t *ids, size_t n)
{
	_cleanup_free_ struct kept_probes **list = calloc(n + 1, sizeof(struct kept_probes *));
	size_t n_kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct kept_probes *kept = table_remove(&k->probes, ids[i]);

		if (kept && list)
			list[n_kept++] = kept;
		else if (kept)
			probe_attacher_detach_kept(k, &kept, 1);
	}
	probe_attacher_detach_kept(k, list, n_kept);
}

static uint64_t probe_attacher_cpu_ns_of(const struct rusage *usage)
{
	const struct timeval *user = &usage->ru_utime, *system = &usage->ru_stime;

	return (uint64_t)(user->tv_sec + system->tv_sec) * 1000000000 +
	       (uint64_t)(user->tv_usec + system->tv_usec) * 1000;
}

/* Returns the CPU time of this process, its threads, and the children that it has waited for. */
static uint64_t probe_attacher_own_cpu_ns(void)
{
	struct rusage own = { 0 }, children = { 0 };

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	return probe_attacher_cpu_ns_of(&own) + probe_attacher_cpu_ns_of(&children);
}

/* Serves one request. Returns 0, or a negative errno, which ends this process. */
static int probe_attacher_serve(struct attacher_child *k)
{
	struct attacher_request q;
	struct attacher_reply answer = { 0 };
	int fds[FDS_MAX];
	size_t n_fds = 0, size;
	_cleanup_free_ void *data = NULL;
	int r = probe_attacher_receive_all(k->sock, &q, sizeof(q), fds, &n_fds);

	if (r == 0) {
		size = q.n * (q.attach ? sizeof(struct allocator_probe) : sizeof(uint32_t));
		data = malloc(size + 1);
		r = data ? probe_attacher_receive_all(k->sock, data, size, NULL, NULL) : -ENOMEM;
	}
	if (r == 0 && q.attach)
		answer.error = probe_attacher_serve_attach(k, &q, fds, n_fds, data, &answer);
	else if (r == 0)
		probe_attacher_serve_detach(k, data, q.n);
	for (size_t i = 0; i < n_fds; i++)
		close(fds[i]);
	answer.cpu_ns = probe_attacher_own_cpu_ns();
	return r < 0 ? r : probe_attacher_send_all(k->sock, &answer, sizeof(answer), NULL, 0);
}

/*
 * Waits for a request. The guards rest if no request comes for a while, or if too many guards are
 * unused.
 */
static void probe_attacher_wait_for_request(struct attacher_child *k)
{
	struct pollfd pollfd = { .fd = k->sock, .events = POLLIN };
	bool guarded = k->guards.n_awake > 0 || k->guards.n_unused > 0;

	if (guarded && poll(&pollfd, 1, REST_MS) == 0)
		probe_guards_rest(&k->guards);
	else if (k->guards.n_unused >= UNUSED_MAX)
		probe_guards_rest(&k->guards);
}

static void probe_attacher_detach_all(struct attacher_child *k)
{
	_cleanup_(outbuf_deinit) struct outbuf list = { 0 };
	struct kept_probes *kept;

	/* If there is no memory for the list, the probes are removed when this process ends. */
	for (size_t pos = 0; (kept = table_next(&k->probes, &pos));)
		outbuf_append(&list, &kept, sizeof(kept));
	probe_attacher_detach_kept(k, (struct kept_probes **)list.data,
				   list.size / sizeof(struct kept_probes *));
}

/* Does not return. All signals are blocked, as in the thread that forked. */
static void probe_attacher_run_child(int sock)
{
	struct attacher_child k = { .sock = sock };

	/* The child must not end with the terminal or the process group of the parent. */
	setsid();
	prctl(PR_SET_NAME, "kymo-probes");
	if (after_fork_unmap_shared() < 0 ||
	    (sock > 0 && close_range(0, (unsigned)sock - 1, 0) < 0) ||
	    close_range((unsigned)sock + 1, ~0U, 0) < 0)
		_exit(1);
	/*
	 * This comes first, because it needs the lowest descriptor. It fails if the user is not
	 * root.
	 */
	probe_removals_open(&k.removals);
	probe_guards_init(&k.guards, k.removals);
	do {
		probe_attacher_wait_for_request(&k);
	} while (probe_attacher_serve(&k) == 0);
	probe_attacher_detach_all(&k);
	probe_guards_end(&k.guards);
	probes_end_process();
}

/* ---- the parent ---- */

/* Runs in a thread with a clean descriptor table, which the child inherits. */
static int probe_attacher_fork_child(int sock, void *userdata)
{
	pid_t *ret = userdata;

	*ret = fork();
	if (*ret == 0)
		probe_attacher_run_child(sock);
	return *ret < 0 ? -errno : 0;
}

int probe_attacher_new(uint64_t *cpu_ns_sum, struct probe_attacher **ret)
{
	struct probe_attacher *k = calloc(1, sizeof(*k));
	int socks[2], r;

	if (!k)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) < 0) {
		r = -errno;
		free(k);
		return r;
	}
	r = clean_fd_table_run_with(socks[1], probe_attacher_fork_child, &k->pid);
	close(socks[1]);
	if (r < 0) {
		close(socks[0]);
		free(k);
		return r;
	}
	k->sock = socks[0];
	k->cpu_ns_sum = cpu_ns_sum;
	*ret = k;
	return 0;
}

static void probe_attacher_count_cpu(struct probe_attacher *k, uint64_t cpu_ns)
{
	if (cpu_ns <= k->cpu_ns)
		return;
	__atomic_add_fetch(k->cpu_ns_sum, cpu_ns - k->cpu_ns, __ATOMIC_RELAXED);
	k->cpu_ns = cpu_ns;
}

struct probe_attacher *probe_attacher_free(struct probe_attacher *k)
{
	struct rusage usage = { 0 };

	if (!k)
		return NULL;
	close(k->sock);
	while (wait4(k->pid, NULL, 0, &usage) < 0 && errno == EINTR)
		;
	probe_attacher_count_cpu(k, probe_attacher_cpu_ns_of(&usage));
	return free_ptr(k);
}

static int probe_attacher_call(struct probe_attacher *k, const struct attacher_request *q,
			       const int *fds, size_t n_fds, const void *data, size_t size,
			       struct attacher_reply *ret)
{
	int r = probe_attacher_send_all(k->sock, q, sizeof(*q), fds, n_fds)
			?: probe_attacher_send_all(k->sock, data, size, NULL, 0)
			?: probe_attacher_receive_all(k->sock, ret, sizeof(*ret), NULL, NULL);

	if (r == 0)
		probe_attacher_count_cpu(k, ret->cpu_ns);
	return r;
}

int probe_attacher_attach(struct probe_attacher *k, const struct probes_target *t, uint32_t *ret_id,
			  struct probes_failed *ret_failed)
{
	struct attacher_request q = {
		.attach = true,
		.id = k->last_id + 1,
		.way = (int32_t)t->way,
		.pid = t->pid,
		.n = (uint32_t)t->n,
	};
	struct attacher_reply answer;
	int fds[FDS_MAX] = { t->fd }, r;
	size_t n_fds = 1;

	for (size_t i = 0; i < PROBES_PROGRAMS; i++) {
		if (t->programs[i] < 0 || !probes_use(t->way, (enum probes_program)i))
			continue;
		q.programs |= UINT32_C(1) << i;
		fds[n_fds++] = t->programs[i];
	}
	r = probe_attacher_call(k, &q, fds, n_fds, t->probes, t->n * sizeof(*t->probes), &answer)
		    ?: answer.error;
	if (r < 0)
		return r;
	*ret_id = k->last_id = q.id;
	*ret_failed = (struct probes_failed){ answer.failed, answer.failed_functions };
	return 0;
}

void probe_attacher_detach(struct probe_attacher *k, const uint32_t *ids, size_t n)
{
	const struct attacher_request q = { .n = (uint32_t)n };
	struct attacher_reply answer;

	/* If the attacher has ended, its probes are removed anyway. */
	if (n > 0)
		probe_attacher_call(k, &q, NULL, 0, ids, n * sizeof(*ids), &answer);
}
