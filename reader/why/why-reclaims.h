/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The times in which threads reclaimed or compacted memory themselves ("reclaims"), from pairs of
 * tracepoints (`-e reclaim`). A time whose begin or end was not recorded is unknown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "model/event.h"

enum {
	WHY_RECLAIMS_MAX = 1 << 20,      /* if an archive has more, no reclaim is reported */
	WHY_RECLAIMS_GAPS_MAX = 1 << 16, /* losses, and pauses; likewise */
	WHY_RECLAIMS_PAIRS = 3,
};

struct why_reclaim {
	uint32_t tid;
	uint64_t from_ns, to_ns;
	const char *what; /* "direct reclaim", ...; a constant */
};

/* A loss or a pause: from_ns and to_ns belong to it. */
struct why_reclaims_gap {
	uint64_t from_ns, to_ns;
};

struct why_reclaims_gaps {
	struct why_reclaims_gap *list; /* owned; when finished, disjoint and ascending */
	size_t n, room;
};

struct why_reclaims {
	struct why_reclaim *list; /* owned; when finished, disjoint for each thread */
	size_t n, room;
	uint64_t n_dropped;
	struct table open; /* tid and pair -> number + 1 of the one that has not ended */
	/* Tid and pair -> not NULL, if the last event of both was an end without a begin. */
	struct table ended;
	bool repeats[WHY_RECLAIMS_PAIRS]; /* a thread has two begins, or two ends, in succession */
	struct why_reclaims_gaps losses, pauses;
	bool pauses_now; /* the last element of `pauses` has not ended */
	uint64_t last_ns;
	uint64_t n_begins[WHY_RECLAIMS_PAIRS], n_ends[WHY_RECLAIMS_PAIRS];
};

void why_reclaims_deinit(struct why_reclaims *r);

/* Adds EV, if it is the begin or end of a reclaim, or a loss. Returns 0 or -ENOMEM. */
int why_reclaims_add(struct why_reclaims *r, const struct event *ev);

/*
 * Notes the last pause of the recording. It began at FROM_NS (0 = there was none), and goes on
 * (PAUSED) or ended at AT_NS at the latest. Repeats change nothing. Returns 0 or -ENOMEM.
 */
int why_reclaims_pause(struct why_reclaims *r, uint64_t from_ns, bool paused, uint64_t at_ns);

/*
 * Computes the result, after the last event and before the functions below. Reclaims that have not
 * ended last until END_NS, if any end of their pair was recorded. A pause ends each reclaim. A
 * reclaim in which records were lost is dropped, since its end can be that of a later one.
 */
void why_reclaims_finish(struct why_reclaims *r, uint64_t end_ns);

/* A pair of which the recording has only one half. Its time is not known. */
struct why_reclaims_half {
	const char *what;
	bool begins; /* it has only begins, not only ends */
	/*
	 * The other half was not recorded: a thread has two begins, or two ends, in succession.
	 * Otherwise, all of them may have lasted until the end of the recording, or from its begin.
	 */
	bool certain;
};

/* Returns true, and *RET, if the recording has only one half of the pair PAIR. */
bool why_reclaims_half(const struct why_reclaims *r, size_t pair, struct why_reclaims_half *ret);

/* The reclaim of TID that contains AT_NS; NULL = none. */
const struct why_reclaim *why_reclaims_find(const struct why_reclaims *r, uint32_t tid,
					    uint64_t at_ns);

/* The sum of the parts of [FROM_NS, TO_NS) in which TID was in a reclaim. */
uint64_t why_reclaims_overlap(const struct why_reclaims *r, uint32_t tid, uint64_t from_ns,
			      uint64_t to_ns);
