/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel ends a wait for the lock only when the waiting process is killed, and a wait for a
 * page not even then. An abandoned child ends by itself when the lock is free, the page is there,
 * or the other process has ended.
 */
#include "capture/proc/bounded-read.h"

#include <stdio.h>

#include "capture/proc/reader-process.h"

struct bounded_read_args {
	bounded_read_fn fn;
	uint32_t pid, pad;
	char root[64];
};

/* The readings of all sessions, including those that hang. */
static struct reader_pool bounded_read_pool = READER_POOL_INIT(256, BOUNDED_READ_NS_MAX);

/* A reader_process_fn. */
static int bounded_read_serve(const void *args, struct outbuf *to, int *ret_fd)
{
	const struct bounded_read_args *a = args;

	(void)ret_fd;
	return a->fn(a->root, a->pid, to);
}

int bounded_read(const char *root, uint32_t pid, bounded_read_fn fn, size_t max, struct outbuf *ret,
		 uint64_t *cpu_ns_sum)
{
	struct bounded_read_args args = { .fn = fn, .pid = pid };
	const struct reader_job job = {
		.owner = hang_limits_owner_of(root, pid),
		.place = pid,
		.fn = bounded_read_serve,
		.args = &args,
		.n_args = sizeof(args),
		.max = max,
	};
	struct reader_answer answer;
	int r;

	snprintf(args.root, sizeof(args.root), "%s", root);
	r = reader_process_run(&bounded_read_pool, &job, &answer);
	*ret = answer.data;
	if (cpu_ns_sum)
		__atomic_fetch_add(cpu_ns_sum, answer.cpu_ns, __ATOMIC_RELAXED);
	return r;
}
