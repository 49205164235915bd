/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The queue of files with requested tables.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/record-unwind.h"

enum {
	UNWIND_QUEUE_MAX = 4096,    /* that wait */
	UNWIND_QUEUE_OPEN_MAX = 64, /* the first waiting files, which are open */
	UNWIND_OWNERS_MAX = 64,     /* shares of time: one for root, the others by user ID */
};

struct unwind_waiting {
	struct unwind_ask ask;
	int fd;         /* owned; < 0: not open */
	unsigned owner; /* the share that pays; set when it is added */
};

/* All zeroes at the beginning. */
struct unwind_queue {
	struct unwind_waiting *files; /* owned */
	size_t n, room;
	uint64_t spent_ns[UNWIND_OWNERS_MAX];
};

void unwind_queue_deinit(struct unwind_queue *q);

/*
 * Takes ownership of FILE, whose file system must answer. Returns 0; or -ENOBUFS or -ENOMEM, and
 * its descriptor is closed.
 */
int unwind_queue_put(struct unwind_queue *q, const struct unwind_waiting *file);

/*
 * The next file, owned by the caller; there must be one. It is a file of the owner whose files took
 * the fewest whole seconds. Among these, it is the file with the most misses (in FILES, by number;
 * in steps of 16), then the newest one.
 */
struct unwind_waiting unwind_queue_pop(struct unwind_queue *q, const struct unwind_file *files);

/* A file of OWNER took NS. */
void unwind_queue_charge(struct unwind_queue *q, unsigned owner, uint64_t ns);
