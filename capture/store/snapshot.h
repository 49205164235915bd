/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot of a flight recorder on the way to its destination. The snapshot is taken in the
 * thread of the recording's output (or by the owner of the recording), and written by a separate
 * thread, so that no other thread waits for a slow reader.
 */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "capture/store/flight.h"

struct snapshot;

/*
 * How many snapshots a process may write at a time; if there are more, -EBUSY. Cancelled snapshots
 * that hang count, too.
 */
enum {
	SNAPSHOTS_WRITING_MAX = 32,
	SNAPSHOTS_WRITING_ROOT = 8, /* this part of SNAPSHOTS_WRITING_MAX is only for root */
	SNAPSHOTS_WRITING_PER_USER = 6,
};

/*
 * Makes a snapshot that will be written to TO. Takes ownership of TO on success. Returns 0 or a
 * negative errno.
 */
int snapshot_new(struct store *to, struct snapshot **ret);

/*
 * The owner of a snapshot, the output's thread and the thread that writes the snapshot each hold a
 * reference to it. If the owner releases a snapshot without cancelling it, the snapshot continues.
 * A thread that hangs in the kernel keeps its resources until it returns. snapshot_unref() returns
 * NULL.
 */
struct snapshot *snapshot_ref(struct snapshot *s);
struct snapshot *snapshot_unref(struct snapshot *s);

DEFINE_CLEANUP(struct snapshot *, snapshot_unref)

/*
 * For any thread, once. Writes TAKEN and takes ownership of it, or ends with ERROR if that is
 * negative.
 */
void snapshot_set_data(struct snapshot *s, struct flight_snapshot *taken, int error);

/* For any thread. Ends the snapshot with -ECANCELED, if it has not ended. */
void snapshot_cancel(struct snapshot *s);

/* Returns a descriptor (eventfd, borrowed) that is readable when the snapshot has ended. */
int snapshot_fd(const struct snapshot *s);

/* Returns true if the snapshot has ended. *RET_ERROR is 0 if all of it was written. */
bool snapshot_ended(struct snapshot *s, int *ret_error);
