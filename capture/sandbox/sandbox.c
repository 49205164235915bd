/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sandbox is a forked child without exec. All its code is in this program, so nothing has to be
 * installed or found. Before it reads the file, the child gives up all that it inherited:
 * descriptors, capabilities, the user, and shared memory (the rings of the collector).
 */
#include "capture/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file-kind.h"
#include "capture/sandbox/after-fork.h"
#include "capture/sandbox/child-end.h"
#include "capture/sandbox/clean-fd-table.h"
#include "capture/sandbox/local-devices.h"
#include "capture/sandbox/process-rights.h"

enum {
	NOBODY = 65534,
	PIPE_FD = 0, /* descriptor of the pipe in the child */
	CPU_SECONDS = 30,
};

#define MEMORY_MAX ((uint64_t)256 << 20) /* in addition to the memory at the fork (with the file) */

/* The beginning of the answer. */
struct apart_head {
	int32_t error; /* result of the function */
	uint32_t pad;
	uint64_t size; /* bytes of the answer that follow */
};

/* A function to run, and the N bytes of the file. */
struct job {
	void *data;
	size_t n;
	sandbox_with_fn fn;
	const void *userdata;
	uint64_t place; /* of the file: what the child can hang at */
	uint64_t deadline_ns;
	size_t max;
	struct outbuf *answer;
};

int sandbox_map_file(int fd, void **ret, size_t *ret_n)
{
	struct statx st;
	void *data;

	/* (the open of the file has refreshed the size in the cache) */
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_SIZE, &st) < 0)
		return -errno;
	if (!S_ISREG(st.stx_mode) || st.stx_size == 0)
		return -ENOEXEC;
	data = mmap(NULL, (size_t)st.stx_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return -errno;
	*ret = data;
	*ret_n = (size_t)st.stx_size;
	return 0;
}

/* ---- the child ---- */

static int sandbox_limit_one(__rlimit_resource_t what, uint64_t value)
{
	struct rlimit limit;

	if (getrlimit(what, &limit) < 0)
		return -errno;
	if (value < limit.rlim_max)
		limit.rlim_cur = limit.rlim_max = value;
	return setrlimit(what, &limit) < 0 ? -errno : 0;
}

static int sandbox_limit(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	uint64_t pages = 0;

	if (!f)
		return -errno;
	if (fscanf(f, "%" SCNu64, &pages) != 1)
		pages = 0;
	fclose(f);
	if (!pages)
		return -EIO;
	return sandbox_limit_one(RLIMIT_AS, pages * (uint64_t)getpagesize() + MEMORY_MAX)
		       ?: sandbox_limit_one(RLIMIT_CPU, CPU_SECONDS) ?: sandbox_limit_one(RLIMIT_CORE, 0)
		       ?: sandbox_limit_one(RLIMIT_FSIZE, 0);
}

static int sandbox_drop_rights(void)
{
	int r = geteuid() == 0 ? rights_become(NOBODY, NOBODY) : 0;

	return r < 0 ? r : rights_drop();
}

/*
 * The child allocates from the arena of the thread that has forked it. When glibc returns memory of
 * such an arena to the kernel, it opens a file in /proc. The filter would then kill the child. So
 * trimming is disabled.
 */
static void sandbox_keep_memory(void)
{
#if defined(__GLIBC__)
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

/*
 * Allows the system calls of malloc(), and writes to the pipe. All other system calls kill the
 * process.
 */
static int sandbox_allow_calls(scmp_filter_ctx filter)
{
	static const int calls[] = {
		SCMP_SYS(brk),         SCMP_SYS(munmap),     SCMP_SYS(mremap), SCMP_SYS(madvise),
		SCMP_SYS(exit),        SCMP_SYS(exit_group), SCMP_SYS(futex),  SCMP_SYS(getrandom),
		SCMP_SYS(sched_yield), SCMP_SYS(sysinfo), /* qsort() needs these */
	};
	const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(calls); i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	if (r == 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1,
				     SCMP_A0(SCMP_CMP_EQ, PIPE_FD));
	if (r == 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_code);
	if (r == 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, no_code,
				     SCMP_A3(SCMP_CMP_MASKED_EQ,
					     MAP_ANONYMOUS | MAP_SHARED | MAP_PRIVATE,
					     MAP_ANONYMOUS | MAP_PRIVATE));
	return r;
}

static int sandbox_forbid_calls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int r;

	if (!filter)
		return -ENOMEM;
	r = sandbox_allow_calls(filter) ?: seccomp_load(filter);
	seccomp_release(filter);
	return r;
}

static bool sandbox_write_all(const void *p, size_t n)
{
	const uint8_t *at = p;

	while (n > 0) {
		ssize_t m = write(PIPE_FD, at, n);

		if (m <= 0)
			return false;
		at += m;
		n -= (size_t)m;
	}
	return true;
}

/*
 * Runs JOB in the child, and does not return. Failures before the filter is loaded are reported,
 * too.
 */
static void sandbox_run_child(const struct job *job, int pipe_fd)
{
	struct outbuf answer = { .limit = job->max };
	struct apart_head head = { 0 };
	int r = after_fork_unmap_shared() ?: sandbox_limit();

	if (dup2(pipe_fd, PIPE_FD) < 0)
		_exit(1);
	if (close_range(PIPE_FD + 1, ~0U, 0) < 0)
		_exit(1);
	r = r ?: sandbox_drop_rights();
	sandbox_keep_memory();
	r = r ?: sandbox_forbid_calls() ?: job->fn(job->data, job->n, &answer, job->userdata)
		    ?: answer.error;
	head.error = r;
	head.size = r == 0 ? answer.size : 0;
	_exit(sandbox_write_all(&head, sizeof(head)) && sandbox_write_all(answer.data, head.size)
		      ? 0
		      : 1);
}

/* ---- the parent ---- */

/* Reads up to N bytes; fewer at the end of the pipe. Returns their number, a negative errno, or
 * -ETIME. */
static ssize_t sandbox_read_until(int fd, void *to, size_t n, uint64_t deadline_ns)
{
	size_t done = 0;

	while (done < n) {
		uint64_t now = clock_read_ns(CLOCK_MONOTONIC);
		struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
		ssize_t m;
		int r;

		if (now >= deadline_ns)
			return -ETIME;
		r = poll(&poll_fd, 1, (int)((deadline_ns - now) / 1000000 + 1));
		if (r == 0 || (r < 0 && errno == EINTR))
			continue;
		m = r < 0 ? -1 : read(fd, (uint8_t *)to + done, n - done);
		if (m < 0)
			return -errno;
		if (m == 0)
			break;
		done += (size_t)m;
	}
	return (ssize_t)done;
}

static int sandbox_read_answer(int fd, uint64_t deadline_ns, size_t max, struct outbuf *answer)
{
	struct apart_head head;
	ssize_t n = sandbox_read_until(fd, &head, sizeof(head), deadline_ns);
	size_t before = answer->size;
	void *to;

	if (n < 0)
		return (int)n;
	if (n != sizeof(head) || head.size > max || head.error > 0 || head.error < -4095)
		return -EBADMSG;
	if (head.error < 0)
		return head.error;
	if (head.size == 0)
		return 0;
	to = outbuf_reserve(answer, head.size);
	if (!to)
		return answer->error;
	n = sandbox_read_until(fd, to, head.size, deadline_ns);
	if (n == (ssize_t)head.size)
		return 0;
	answer->size = before;
	return n < 0 ? (int)n : -EBADMSG;
}

/*
 * Returns the place of JOB's file if the child can wait there forever, otherwise 0. On a local file
 * system, a late child only waits for a busy disk or for memory, and so can its exit. Such a delay
 * says nothing about other files.
 */
static uint64_t sandbox_mute_place(const struct job *job)
{
	struct local_devices local = { 0 };

	/* (the numbers of the device, as file_place_of() has them for files and memfds) */
	return local_devices_has(&local, "", job->place >> 32 << 20 | (uint32_t)job->place)
		       ? 0
		       : job->place;
}

/* Forks the child, in a thread with few descriptors, which the child inherits. */
static int sandbox_run_job(void *userdata)
{
	const struct job *job = userdata;
	int fds[2], r;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid < 0) {
		r = -errno;
		close(fds[0]);
		close(fds[1]);
		return r;
	}
	if (pid == 0)
		sandbox_run_child(job, fds[1]);
	close(fds[1]);
	r = sandbox_read_answer(fds[0], job->deadline_ns, job->max, job->answer);
	close(fds[0]);
	/*
	 * The child has sent its answer, or its time is over. The child may wait for a page of the
	 * file, and then it cannot be killed. The number of such children is limited: if there are
	 * too many, only the callers wait here whose own child hangs.
	 */
	if (!child_end_kill(pid, r == -ETIME ? sandbox_mute_place(job) : 0))
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	return r;
}

int sandbox_run_with(int fd, sandbox_with_fn fn, const void *userdata, uint64_t timeout_ns,
		     size_t max, struct outbuf *answer)
{
	struct job job = {
		.fn = fn,
		.userdata = userdata,
		.place = file_place_of(fd),
		.deadline_ns = clock_read_ns(CLOCK_MONOTONIC) + timeout_ns,
		.max = max,
		.answer = answer,
	};
	int r = child_end_hangs_at(job.place) ? -EBUSY : sandbox_map_file(fd, &job.data, &job.n);

	r = r ?: clean_fd_table_run(sandbox_run_job, &job);
	munmap(job.data, job.n);
	return r;
}

static int sandbox_run_alone(const void *data, size_t n, struct outbuf *answer,
			     const void *userdata)
{
	const sandbox_fn *fn = userdata;

	return (*fn)(data, n, answer);
}

int sandbox_run(int fd, sandbox_fn fn, uint64_t timeout_ns, size_t max, struct outbuf *answer)
{
	return sandbox_run_with(fd, sandbox_run_alone, &fn, timeout_ns, max, answer);
}
