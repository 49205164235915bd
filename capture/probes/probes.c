/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/probes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "bpf/record.h"
#include "capture/perf/perf-event.h"

/* Constants that are missing in older versions of linux/bpf.h. */
enum {
	ATTACH_PERF_EVENT = 41,
	ATTACH_UPROBE_MULTI = 48,   /* since 6.6 */
	ATTACH_UPROBE_SESSION = 57, /* since 6.13 */
};
#define UPROBE_MULTI_RETURN 1u
struct link_create_multi {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t n, multi_flags;
	int32_t pid;
	uint32_t pad;
};

enum { CLOSE_CHILDREN_MAX = 16 };

struct probes {
	size_t n;
	int *fds;     /* perf events and links; each event comes before its link */
	bool retried; /* probes_were_retried() */
};

/* ---- features of the kernel ---- */

struct multi {
	int program;
	uint32_t attach_type;
	bool on_return;
	pid_t pid;
	const char *path;
	const uint64_t *offsets, *semaphores, *cookies;
	uint32_t n;
};

/* Attaches M. Returns the descriptor of a link or a negative errno. */
static int probes_attach_multi(const struct multi *m)
{
	struct link_create_multi attr = {
		.prog_fd = (uint32_t)m->program,
		.attach_type = m->attach_type,
		.path = (uintptr_t)m->path,
		.offsets = (uintptr_t)m->offsets,
		.ref_ctr_offsets = (uintptr_t)m->semaphores,
		.cookies = (uintptr_t)m->cookies,
		.n = m->n,
		.multi_flags = m->on_return ? UPROBE_MULTI_RETURN : 0,
		.pid = (int32_t)m->pid,
	};
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : (int)fd;
}

/* Loads an empty program for attach type TYPE. */
static int probes_load_nothing(int type)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = (enum bpf_attach_type)type);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", insns, ARRAY_SIZE(insns), &opts);
}

/* Returns the error of an attempt to attach PROGRAM to an invalid place in PATH, in process PID. */
static int probes_refuse_multi(int type, int program, const char *path, pid_t pid)
{
	const uint64_t offset = 0;
	_cleanup_close_ int link = probes_attach_multi(&(struct multi){
		.program = program,
		.attach_type = (uint32_t)type,
		.pid = pid,
		.path = path,
		.offsets = &offset,
		.n = 1,
	});

	return link;
}

/*
 * Returns true if the kernel supports links of attach type TYPE. Kernels that do not support such
 * links load the program, too, but return -EINVAL for any link. Kernels that support them return
 * -EBADF for a path that is not a file. The first kernels with such links are excluded: they filter
 * by thread instead of by process, and accept invalid process IDs such as -1.
 */
static bool probes_has_multi(int type)
{
	_cleanup_close_ int program = probes_load_nothing(type);

	return program >= 0 && probes_refuse_multi(type, program, "/", 0) == -EBADF &&
	       probes_refuse_multi(type, program, "/proc/self/exe", -1) == -EINVAL;
}

enum probes_way probes_way(void)
{
	if (!probes_has_multi(ATTACH_UPROBE_MULTI))
		return PROBES_PERF;
	return probes_has_multi(ATTACH_UPROBE_SESSION) ? PROBES_SESSION : PROBES_MULTI;
}

bool probes_use(enum probes_way way, enum probes_program program)
{
	switch (program) {
	case PROBES_RETURN:
		return way != PROBES_SESSION;
	case PROBES_BOTH:
		return way == PROBES_SESSION;
	default:
		return true;
	}
}

int probes_attach_type(enum probes_way way, enum probes_program program)
{
	if (way == PROBES_PERF)
		return 0;
	return program == PROBES_BOTH ? ATTACH_UPROBE_SESSION : ATTACH_UPROBE_MULTI;
}

/* ---- programs of probes ---- */

/* Returns true if the function of the entry probe PROBE also has probes on its returns. */
static bool probes_has_ret(const struct probes_target *t, const struct allocator_probe *probe)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->probes[i].kind == ALLOCATOR_PROBE_RET &&
		    t->probes[i].function == probe->function)
			return true;
	}
	return false;
}

/* Returns true if PROGRAM is attached at PROBE. */
static bool probes_belongs(const struct probes_target *t, enum probes_program program,
			   const struct allocator_probe *probe)
{
	bool session = probe->kind == ALLOCATOR_PROBE_SESSION;

	switch (program) {
	case PROBES_ENTRY:
		return probe->kind == ALLOCATOR_PROBE_ENTRY && !probes_has_ret(t, probe);
	case PROBES_CALL:
		return (session && t->way != PROBES_SESSION) ||
		       (probe->kind == ALLOCATOR_PROBE_ENTRY && probes_has_ret(t, probe));
	case PROBES_RETURN:
		return session && t->way != PROBES_SESSION;
	case PROBES_RET:
		return probe->kind == ALLOCATOR_PROBE_RET;
	case PROBES_BOTH:
		return session && t->way == PROBES_SESSION;
	default:
		return false;
	}
}

static uint64_t probes_cookie_of(const struct allocator_probe *probe)
{
	return probe->function |
	       (probe->kind == ALLOCATOR_PROBE_SESSION ? 0 : (uint64_t)MEMORY_COOKIE_RET);
}

/* ---- detaching ---- */

/* The open probes of LIST, and the children that close them. */
struct closing {
	struct probes **list;
	size_t n, n_children;
	int ready[2]; /* a pipe that ends when each child has only its own share */
	pid_t children[CLOSE_CHILDREN_MAX];
};

void probes_end_process(void)
{
	/*
	 * Unlike exit(), this removes SIGKILL from the pending signals. If another SIGKILL came
	 * just before the exit, it would stay pending, and interrupt the removal of probes.
	 */
	kill(getpid(), SIGKILL);
	_exit(1);
}

static void probes_forget_ended_process(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void probes_close_descriptors(const struct probes *p)
{
	for (size_t i = p->n; i > 0; i--)
		close_fd(p->fds[i - 1]);
}

/* Closes the descriptors of the probes whose share has a child. */
static void probes_close_of_children(const struct closing *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (i % CLOSE_CHILDREN_MAX < c->n_children)
			probes_close_descriptors(c->list[i]);
}

static int probes_highest_descriptor(const struct closing *c)
{
	int highest = 0;

	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < c->list[i]->n; k++)
			if (c->list[i]->fds[k] > highest)
				highest = c->list[i]->fds[k];
	return highest;
}

/*
 * Leaves only the probes of SHARE open in this process. At the end of a process, the kernel first
 * closes the descriptor with the highest number. Probes on entries were attached last and are
 * closed first, so they get the highest numbers.
 */
static void probes_keep_share(const struct closing *c, size_t share)
{
	int above = probes_highest_descriptor(c) + 1;

	for (size_t i = 0; i < c->n; i++) {
		const struct probes *p = c->list[i];

		for (size_t k = 0; k < p->n; k++)
			if (i % CLOSE_CHILDREN_MAX != share ||
			    fcntl(p->fds[k], F_DUPFD_CLOEXEC, above) >= 0)
				close(p->fds[k]);
	}
}

/* Waits until all other processes have closed the pipe. */
static void probes_wait_for_others(const struct closing *c)
{
	char byte;

	close(c->ready[1]);
	while (read(c->ready[0], &byte, 1) < 0 && errno == EINTR)
		;
}

static bool probes_make_child(struct closing *c)
{
	size_t share = c->n_children;
	pid_t pid = fork();

	if (pid == 0) {
		probes_keep_share(c, share);
		probes_wait_for_others(c);
		probes_end_process();
	}
	if (pid < 0)
		return false;
	c->children[c->n_children++] = pid;
	return true;
}

/*
 * Closes the probes of the list, which has no empty element. Each child closes its share of the
 * probes. The descriptors of a share stay open in its child until this process and all other
 * children have closed them. So no child closes the last descriptor of a probe before the end of
 * the child.
 */
static void probes_close_by_children(struct closing *c)
{
	if (c->n > 0 && pipe2(c->ready, O_CLOEXEC) == 0) {
		while (c->n_children < CLOSE_CHILDREN_MAX && c->n_children < c->n &&
		       probes_make_child(c))
			;
		close(c->ready[0]);
		probes_close_of_children(c);
		close(c->ready[1]);
	}
	/*
	 * If no more children could be made, this process closes the other probes. A signal can
	 * interrupt this.
	 */
	for (size_t i = 0; i < c->n; i++)
		if (i % CLOSE_CHILDREN_MAX >= c->n_children)
			probes_close_descriptors(c->list[i]);
	for (size_t i = 0; i < c->n_children; i++)
		probes_forget_ended_process(c->children[i]);
}

static void probes_free_closed(struct probes *p)
{
	if (p)
		free(p->fds);
	free(p);
}

void probes_free_all(struct probes **list, size_t n)
{
	struct closing c = { .list = list };

	/* Those with descriptors come first. */
	for (size_t i = 0; i < n; i++) {
		struct probes *p = list[i];

		if (!p || p->n == 0)
			continue;
		list[i] = list[c.n];
		list[c.n++] = p;
	}
	probes_close_by_children(&c);
	for (size_t i = 0; i < n; i++)
		probes_free_closed(list[i]);
}

struct probes *probes_free(struct probes *p)
{
	probes_free_all(&p, 1);
	return NULL;
}

/* ---- attaching ---- */

static uint32_t probes_function_bit(uint64_t function)
{
	return function < 32 ? UINT32_C(1) << function : 0;
}

static void probes_note_failed(struct probes_failed *failed, uint64_t function)
{
	failed->n++;
	failed->functions |= probes_function_bit(function);
}

static void probes_keep(struct probes *p, int fd)
{
	p->fds[p->n++] = fd;
}

static void probes_close_last(struct probes *p)
{
	struct probes last = { .n = 1, .fds = &p->fds[p->n - 1] };
	struct probes *list = &last;

	probes_close_by_children(&(struct closing){ .list = &list, .n = 1 });
	p->n--;
}

static int probes_attach_perf(struct probes *p, const struct probes_target *t,
			      const struct multi *m, uint32_t at)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = m->cookies[at]);
	int event = perf_event_open_probe(t->pid, t->fd, m->offsets[at], m->semaphores[at],
					  m->on_return);
	int link;

	if (event < 0)
		return event;
	link = bpf_link_create(m->program, event, (enum bpf_attach_type)ATTACH_PERF_EVENT, &opts);
	probes_keep(p, event);
	if (link >= 0)
		probes_keep(p, link);
	else
		probes_close_last(p);
	return link < 0 ? link : 0;
}

/* Attaches all probes of M at once or, if the kernel refuses one of them, one by one. */
static int probes_attach(struct probes *p, const struct probes_target *t, const struct multi *m,
			 struct probes_failed *failed)
{
	int r = -EINVAL;

	if (t->way != PROBES_PERF)
		r = probes_attach_multi(m);
	if (r >= 0)
		probes_keep(p, r);
	if (r >= 0 || r == -ESRCH)
		return r < 0 ? r : 0;
	p->retried |= t->way != PROBES_PERF;
	for (uint32_t i = 0; i < m->n; i++) {
		struct multi one = *m;

		one.n = 1;
		one.offsets += i;
		one.semaphores += i;
		one.cookies += i;
		if (t->way == PROBES_PERF)
			r = probes_attach_perf(p, t, m, i);
		else if ((r = probes_attach_multi(&one)) >= 0)
			probes_keep(p, r);
		/* After a timeout, the next probe would wait as long, so this ends here. */
		if (r == -ESRCH || r == -ETIMEDOUT)
			return r;
		if (r < 0)
			probes_note_failed(failed, MEMORY_COOKIE_FN(m->cookies[i]));
	}
	return 0;
}

static int probes_attach_program(struct probes *p, const struct probes_target *t,
				 enum probes_program program, struct probes_failed *failed)
{
	_cleanup_free_ uint64_t *offsets = calloc(t->n, sizeof(*offsets));
	_cleanup_free_ uint64_t *semaphores = calloc(t->n, sizeof(*semaphores));
	_cleanup_free_ uint64_t *cookies = calloc(t->n, sizeof(*cookies));
	char path[32];
	struct multi m = {
		.program = t->programs[program],
		.attach_type = (uint32_t)probes_attach_type(t->way, program),
		.on_return = program == PROBES_RETURN,
		.pid = t->pid,
		.path = path,
		.offsets = offsets,
		.semaphores = semaphores,
		.cookies = cookies,
	};

	if (!offsets || !semaphores || !cookies)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", t->fd);
	for (size_t i = 0; i < t->n; i++) {
		if (!probes_belongs(t, program, &t->probes[i]))
			continue;
		offsets[m.n] = t->probes[i].offset;
		semaphores[m.n] = t->probes[i].semaphore;
		cookies[m.n++] = probes_cookie_of(&t->probes[i]);
	}
	return m.n ? probes_attach(p, t, &m, failed) : 0;
}

static struct probes *probes_alloc(size_t n_max)
{
	struct probes *p = calloc(1, sizeof(*p));

	if (p)
		p->fds = calloc(n_max, sizeof(*p->fds));
	if (p && p->fds)
		return p;
	return free_ptr(p);
}

/* Opens one perf event at each place. The probes are sorted by place. */
static int probes_hold(struct probes *p, const struct probes_target *t,
		       struct probes_failed *failed)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct allocator_probe *probe = &t->probes[i];
		int event;

		if (i > 0 && probe[-1].offset == probe->offset)
			continue;
		event = perf_event_open_probe(t->pid, t->fd, probe->offset, probe->semaphore,
					      false);
		if (event == -ESRCH || event == -ETIMEDOUT)
			return event;
		if (event >= 0)
			probes_keep(p, event);
		for (size_t k = i; event < 0 && k < t->n && t->probes[k].offset == probe->offset;
		     k++)
			failed->functions |= probes_function_bit(t->probes[k].function);
		failed->n += event < 0;
	}
	return 0;
}

static int probes_attach_programs(struct probes *p, const struct probes_target *t,
				  struct probes_failed *failed)
{
	/*
	 * Probes on returns are attached before probes on entries. Otherwise, a recorded entry
	 * would wait for a return that has no probe yet.
	 */
	static const enum probes_program order[] = {
		PROBES_RET, PROBES_RETURN, PROBES_CALL, PROBES_BOTH, PROBES_ENTRY,
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(order); i++)
		r = probes_attach_program(p, t, order[i], failed);
	return r;
}

int probes_new(const struct probes_target *t, struct probes **ret, struct probes_failed *ret_failed)
{
	_cleanup_(probes_freep) struct probes *p = probes_alloc(4 * t->n + PROBES_PROGRAMS);
	struct probes_failed failed = { 0 };
	int r;

	if (!p)
		return -ENOMEM;
	r = t->way == PROBES_HOLD ? probes_hold(p, t, &failed)
				  : probes_attach_programs(p, t, &failed);
	if (r < 0)
		return r;
	if (p->n == 0)
		return -EOPNOTSUPP;
	*ret_failed = failed;
	*ret = TAKE_PTR(p);
	return 0;
}

bool probes_were_retried(const struct probes *p)
{
	return p->retried;
}

/* ---- for no process ---- */

/*
 * Makes a process that has ended (a zombie), which has no memory. Returns its process ID or a
 * negative errno.
 */
static pid_t probes_make_ended_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return -errno;
	while (waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	return pid;
}

/*
 * Attaches probes that affect no process. A link can be attached to a zombie. A perf event cannot,
 * so it is attached to this process.
 */
static int probes_attach_for_nobody(struct probes *p, const struct probes_target *t,
				    struct multi *m)
{
	pid_t ended = t->way == PROBES_PERF ? 0 : probes_make_ended_process();
	struct probes_target target = *t;
	struct probes_failed failed = { 0 };
	int r;

	if (ended < 0)
		return ended;
	target.pid = m->pid = ended ?: getpid();
	r = probes_attach(p, &target, m, &failed);
	if (ended)
		probes_forget_ended_process(ended);
	return r;
}

int probes_new_for_nobody(enum probes_way way, int fd, const uint64_t *offsets,
			  const uint64_t *semaphores, size_t n, struct probes **ret)
{
	int type = way == PROBES_PERF ? 0 : ATTACH_UPROBE_MULTI;
	_cleanup_(probes_freep) struct probes *p = probes_alloc(2 * n + 1);
	_cleanup_free_ uint64_t *cookies = calloc(n + 1, sizeof(*cookies));
	_cleanup_free_ uint64_t *none = calloc(n + 1, sizeof(*none));
	const struct probes_target target = { .way = way, .fd = fd };
	_cleanup_close_ int program = probes_load_nothing(type);
	char path[32];
	struct multi m = {
		.program = program,
		.attach_type = (uint32_t)type,
		.path = path,
		.offsets = offsets,
		.semaphores = semaphores ?: none,
		.cookies = cookies,
		.n = (uint32_t)n,
	};
	int r;

	if (!p || !cookies || !none)
		return -ENOMEM;
	if (program < 0)
		return program;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = probes_attach_for_nobody(p, &target, &m);
	if (r == 0 && p->n == 0)
		r = -EOPNOTSUPP;
	if (r == 0)
		*ret = TAKE_PTR(p);
	return r;
}
