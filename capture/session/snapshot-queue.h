/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The requested snapshots of one flight recorder. Only one at a time is taken and written, a few
 * wait, and the results of the last ones are kept. Snapshots are numbered from 1 in the order of
 * requests, and end in that order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/store/snapshot.h"

enum {
	SNAPSHOTS_WAITING_MAX = 4,
	SNAPSHOTS_KNOWN = 16, /* number of kept results */
};

struct snapshot_queue {
	struct snapshot *now; /* the snapshot that is being written; NULL = no snapshot */
	uint64_t asked_ns;    /* CLOCK_BOOTTIME: the snapshot contains all events up to this time */
	bool taken;           /* its data was passed to `to` */
	struct {
		struct store *to;
		uint64_t asked_ns;
	} waiting[SNAPSHOTS_WAITING_MAX]; /* in the order of requests */
	unsigned n_waiting;
	uint64_t n_asked, n_ended;
	int errors[SNAPSHOTS_KNOWN]; /* results, indexed by number % SNAPSHOTS_KNOWN */
};

void snapshot_queue_deinit(struct snapshot_queue *q);

/*
 * Requests a snapshot. Takes ownership of TO on success. Returns 0, or -EBUSY if too many requests
 * wait.
 */
int snapshot_queue_request(struct snapshot_queue *q, struct store *to, uint64_t *ret_number);

/*
 * To be called after every possible change. Records the end of the snapshot that is being written,
 * and starts the next one. Returns true if a snapshot was started. The caller must then wait for
 * the descriptor of this snapshot.
 */
bool snapshot_queue_step(struct snapshot_queue *q);

/* Cancels snapshot NUMBER, if it has not ended. Its result is then -ECANCELED. */
void snapshot_queue_cancel(struct snapshot_queue *q, uint64_t number);

/* Returns true if snapshot NUMBER has ended. *RET_ERROR is 0 if the whole snapshot was written. */
bool snapshot_queue_ended(const struct snapshot_queue *q, uint64_t number, int *ret_error);
