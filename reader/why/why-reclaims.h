/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The times in which threads reclaimed memory themselves, or compacted it: from pairs of
 * tracepoints (`-e reclaim`). A time whose begin or end was not recorded is not known.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "model/event.h"

enum {
	WHY_RECLAIMS_MAX = 1 << 20,      /* of an archive with more, nothing is claimed */
	WHY_RECLAIMS_GAPS_MAX = 1 << 16, /* losses, and pauses; likewise */
	WHY_RECLAIMS_PAIRS = 3,
};

struct why_reclaim {
	uint32_t tid;
	uint64_t from_ns, to_ns;
	const char *what; /* "direct reclaim", ...; a constant */
};

/* A time in which nothing, or not everything, was recorded; it includes both times. */
struct why_reclaims_gap {
	uint64_t from_ns, to_ns;
};

struct why_reclaims_gaps {
	struct why_reclaims_gap *list; /* owned; when finished, disjoint and ascending */
	size_t n, room;
};

struct why_reclaims {
	struct why_reclaim *list; /* owned; when finished, those of a thread do not overlap */
	size_t n, room;
	uint64_t n_dropped;
	struct table open; /* tid and pair -> number + 1 of the one that has not ended */
	struct why_reclaims_gaps losses, pauses;
	bool pauses_now; /* the last one of `pauses` has not ended */
	uint64_t last_ns;
	uint64_t n_begins[WHY_RECLAIMS_PAIRS], n_ends[WHY_RECLAIMS_PAIRS];
};

void why_reclaims_deinit(struct why_reclaims *r);

/* Takes one event in. Returns 0 or -ENOMEM. */
int why_reclaims_add(struct why_reclaims *r, const struct event *ev);

/*
 * The last pause of the recording began at FROM_NS (0 = none), and goes on (PAUSED), or has ended
 * at AT_NS at the latest. Repeats change nothing. Returns 0 or -ENOMEM.
 */
int why_reclaims_pause(struct why_reclaims *r, uint64_t from_ns, bool paused, uint64_t at_ns);

/*
 * After the last event, and before the functions below. Those that have not ended last until
 * END_NS, if an end of their pair was recorded at all. Each one ends with the begin of a pause. If
 * records were lost meanwhile, another one can have begun, so it is dropped.
 */
void why_reclaims_finish(struct why_reclaims *r, uint64_t end_ns);

/*
 * The pair PAIR, if only its begins (*RET_BEGINS) or only its ends were recorded; its time is not
 * known then. NULL = no, or none of both.
 */
const char *why_reclaims_half(const struct why_reclaims *r, size_t pair, bool *ret_begins);

/* The one of TID at AT_NS; NULL = none. */
const struct why_reclaim *why_reclaims_find(const struct why_reclaims *r, uint32_t tid,
					    uint64_t at_ns);

/* The time of TID in [FROM_NS, TO_NS) that is in them. */
uint64_t why_reclaims_overlap(const struct why_reclaims *r, uint32_t tid, uint64_t from_ns,
			      uint64_t to_ns);
