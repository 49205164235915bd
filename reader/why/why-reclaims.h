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

enum { WHY_RECLAIMS_MAX = 1 << 20 /* of an archive with more, nothing is claimed */ };

struct why_reclaim {
	uint32_t tid;
	uint64_t from_ns, to_ns;
	const char *what; /* "direct reclaim", ...; a constant */
};

struct why_reclaims {
	struct why_reclaim *list; /* owned; those of a thread do not overlap */
	size_t n, room;
	uint64_t n_dropped;
	struct table open; /* tid -> number + 1 of the one that has not ended */
};

void why_reclaims_deinit(struct why_reclaims *r);

/* Takes one event in. Returns 0 or -ENOMEM. */
int why_reclaims_add(struct why_reclaims *r, const struct event *ev);

/*
 * After the last event, and before the functions below. Those that have not ended last until
 * END_NS, unless events of tracepoints were LOST: then their end can be one of these.
 */
void why_reclaims_finish(struct why_reclaims *r, uint64_t end_ns, bool lost);

/* The one of TID at AT_NS; NULL = none. */
const struct why_reclaim *why_reclaims_find(const struct why_reclaims *r, uint32_t tid,
					    uint64_t at_ns);

/* The time of TID in [FROM_NS, TO_NS) that is in them. */
uint64_t why_reclaims_overlap(const struct why_reclaims *r, uint32_t tid, uint64_t from_ns,
			      uint64_t to_ns);
