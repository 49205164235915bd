/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The snapshots of one flight recorder that were asked for: one at a time is taken and written, a
 * few wait, and of the last ones it is known how they ended. They are numbered from 1 on, in the
 * order in which they were asked for, and end in that order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/store/snapshot.h"

enum {
	SNAPSHOTS_WAITING_MAX = 4,
	SNAPSHOTS_KNOWN = 16, /* how these ended */
};

struct snapshots {
	struct snapshot *now; /* NULL = none */
	uint64_t asked_ns;    /* CLOCK_BOOTTIME: what happened up to then is to be in it */
	bool taken;           /* it was handed to who takes it */
	struct {
		struct store *to;
		uint64_t asked_ns;
	} waiting[SNAPSHOTS_WAITING_MAX]; /* first come first */
	unsigned n_waiting;
	uint64_t n_asked, n_ended;
	int errors[SNAPSHOTS_KNOWN]; /* by number */
};

void snapshots_deinit(struct snapshots *q);

/* Takes over TO, on success. Returns 0, or -EBUSY if too many wait. */
int snapshots_ask(struct snapshots *q, struct store *to, uint64_t *ret_number);

/*
 * To be called whenever something may have changed: takes note of the end of the one that is
 * written, and makes the next one that waits the one of now. Returns true if it has, so that its
 * descriptor is to be waited for.
 */
bool snapshots_step(struct snapshots *q);

/* Calls number N off, if it has not ended: it will have failed with -ECANCELED. */
void snapshots_cancel(struct snapshots *q, uint64_t number);

/* Whether N has ended, and how: *RET_ERROR is 0 when all of it was written. */
bool snapshots_ended(const struct snapshots *q, uint64_t number, int *ret_error);
