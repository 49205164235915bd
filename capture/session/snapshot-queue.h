/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The requested snapshots of one flight recorder. One at a time is taken and written, a few wait,
 * and the results of the last ones are kept. They are numbered from 1 in the order of requests, and
 * end in that order.
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
	struct snapshot *now; /* NULL = none */
	uint64_t asked_ns;    /* CLOCK_BOOTTIME: it contains all events up to then */
	bool taken;           /* it was handed to its receiver */
	struct {
		struct store *to;
		uint64_t asked_ns;
	} waiting[SNAPSHOTS_WAITING_MAX]; /* in order of requests */
	unsigned n_waiting;
	uint64_t n_asked, n_ended;
	int errors[SNAPSHOTS_KNOWN]; /* by number */
};

void snapshot_queue_deinit(struct snapshot_queue *q);

/* Takes ownership of TO on success. Returns 0, or -EBUSY if too many wait. */
int snapshot_queue_request(struct snapshot_queue *q, struct store *to, uint64_t *ret_number);

/*
 * To be called after every possible change. Records the end of the snapshot that is being written,
 * and starts the next one. Returns true if it has started one, whose descriptor must then be waited
 * for.
 */
bool snapshot_queue_step(struct snapshot_queue *q);

/* Cancels number N, if it has not ended. It then has failed with -ECANCELED. */
void snapshot_queue_cancel(struct snapshot_queue *q, uint64_t number);

/* Whether N has ended. *RET_ERROR is 0 if all of it was written. */
bool snapshot_queue_ended(const struct snapshot_queue *q, uint64_t number, int *ret_error);
