/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Child processes for operations that can take forever: to read a list in /proc, or to open a file
 * on a file system that never answers. A process ends only when all its threads have ended, so a
 * thread that hangs would keep the recorder from ending. A late child is abandoned with its
 * request, and other children serve the next requests.
 *
 * An abandoned child ends when its request does, or with this process, if it can be killed. A child
 * has no descriptors except its socket.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/outbuf.h"
#include "capture/proc/hang-limits.h"

struct reader_process;

/* Requests of one kind, with their limits. */
struct reader_pool {
	pthread_mutex_t lock; /* guards the other members */
	struct hang_limits limits;
	struct reader_process *left;
};

#define READER_POOL_INIT(max, ns)                                                                  \
	{                                                                                          \
		.lock = PTHREAD_MUTEX_INITIALIZER,                                                 \
		.limits = { .n_max = (max), .timeout_ns = (ns) },                                  \
	}

enum { READER_ARGS_MAX = 8192 };

/*
 * Runs in a child, which may have been forked long before. ARGS, aligned to 8 bytes, is a copy of
 * the caller's bytes. Appends data to TO. Can set *RET_FD, which is -1, to a descriptor for the
 * caller. Returns 0 or a negative errno.
 */
typedef int (*reader_process_fn)(const void *args, struct outbuf *to, int *ret_fd);

struct reader_job {
	uid_t owner;    /* struct hang_request */
	uint64_t place; /* likewise */
	reader_process_fn fn;
	const void *args;
	size_t n_args; /* at most READER_ARGS_MAX */
	size_t max;    /* of bytes that FN appends */
};

struct reader_answer {
	struct outbuf data; /* the caller frees it */
	int fd;             /* -1 = none; otherwise, the caller closes it */
	bool closes_soon;   /* `fd` is on a local file system */
	uint64_t cpu_ns;    /* of FN */
};

/*
 * Runs JOB. Returns the result of its function; *RET can have data even if that is negative.
 * Returns -ETIME if it takes too long; -EBUSY or -EUSERS (hang_limits_add()); or another negative
 * errno. Then *RET is empty.
 */
int reader_process_run(struct reader_pool *pool, const struct reader_job *job,
		       struct reader_answer *ret);

/*
 * Removes the children without a request that have ended from the process table. Requests do this,
 * too. So it matters only if there are none for a while.
 */
void reader_process_forget_ended(void);

/* Ends the children that have no request. Later requests begin new ones. */
void reader_process_end_idle(void);

/*
 * Children that start from now on end NS after their start, or after the request that they have
 * then; the default is 30 seconds. For tests.
 */
void reader_process_set_life(uint64_t ns);
