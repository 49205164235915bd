/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The queue of files whose tables were requested.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/record-unwind.h"

enum {
	UNWIND_QUEUE_MAX = 4096,    /* maximum number of files that wait */
	UNWIND_QUEUE_OPEN_MAX = 64, /* if fewer files wait, a new file is opened at once */
	UNWIND_OWNERS_MAX = 64,     /* shares of time: one is for root, the others are by user ID */
};

struct unwind_waiting {
	struct unwind_ask ask;
	int fd;         /* owned; negative = not open */
	unsigned owner; /* the share to which the time is charged; set when the file is added */
};

/* All zeroes at the beginning. */
struct unwind_queue {
	struct unwind_waiting *files; /* owned */
	size_t n, room;
	uint64_t spent_ns[UNWIND_OWNERS_MAX];
};

void unwind_queue_deinit(struct unwind_queue *q);

/*
 * Takes ownership of FILE, whose file system must answer. Returns 0, or -ENOBUFS or -ENOMEM after
 * its descriptor was closed.
 */
int unwind_queue_put(struct unwind_queue *q, const struct unwind_waiting *file);

/*
 * Returns the next file, which the caller owns. The queue must not be empty. The file is of the
 * owner whose files took the fewest whole seconds. Of those files, it is the file with the most
 * misses (in FILES, by number; in steps of 16), then the newest file.
 */
struct unwind_waiting unwind_queue_pop(struct unwind_queue *q, const struct unwind_file *files);

/* Notes that a file of OWNER took NS. */
void unwind_queue_charge(struct unwind_queue *q, unsigned owner, uint64_t ns);
