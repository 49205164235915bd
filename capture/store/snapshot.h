/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot of a flight recorder on its way to where it was asked for: it is taken in the thread
 * of the recording's output (or by its owner), and written by a thread of its own, so that nobody
 * waits for a slow reader.
 */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "capture/store/flight.h"

struct snapshot;

/*
 * More than these are never being written at once in a process: -EBUSY. Those that were called off
 * and hang count, too.
 */
enum {
	SNAPSHOTS_WRITING_MAX = 32,
	SNAPSHOTS_WRITING_ROOT = 8, /* of these only for root */
	SNAPSHOTS_WRITING_PER_USER = 6,
};

/* Takes over TO, on success. Returns 0 or a negative errno. */
int snapshot_new(struct store *to, struct snapshot **ret);

/*
 * The owner, the output's thread and its own each hold it. It goes on when its owner has let go
 * without cancelling it; a thread that hangs in the kernel keeps what it needs until it comes back.
 * snapshot_unref() returns NULL.
 */
struct snapshot *snapshot_ref(struct snapshot *s);
struct snapshot *snapshot_unref(struct snapshot *s);

DEFINE_CLEANUP(struct snapshot *, snapshot_unref)

/* Any thread, once: writes TAKEN, which it takes over, or ends with ERROR if that is negative. */
void snapshot_take(struct snapshot *s, struct flight_snapshot *taken, int error);

/* Any thread: ends it with -ECANCELED, if it has not ended. */
void snapshot_cancel(struct snapshot *s);

/* Readable (eventfd, borrowed) from when it has ended. */
int snapshot_fd(const struct snapshot *s);

/* Whether it has, and how: *RET_ERROR is 0 when all of it was written. */
bool snapshot_ended(struct snapshot *s, int *ret_error);
