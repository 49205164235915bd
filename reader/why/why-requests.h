/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The requests to block devices during a wait. They name the disk for which a thread waited.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text-set.h"
#include "model/event.h"

enum { WHY_REQUESTS_MAX = 1 << 20 /* later requests are dropped */ };

struct why_request {
	uint64_t from_ns, to_ns;
	const char *disk; /* of the text set */
	uint32_t tid;     /* that issued it */
};

struct why_requests {
	struct why_request *list; /* owned */
	size_t n, room;
	uint64_t n_dropped;
	struct text_set disks;
};

/* The requests of one disk in an interval. */
struct why_disk {
	const char *name;
	uint64_t n, longest_ns;
	bool own; /* only requests of the thread itself count */
};

void why_requests_deinit(struct why_requests *r);

/* Adds EV, if it is a request. Returns 0 or -ENOMEM. */
int why_requests_add(struct why_requests *r, const struct event *ev);

/*
 * Finds the disk whose requests overlap longest with [FROM_NS, TO_NS). Counts only requests of TID,
 * or those of all threads if TID has none. Returns false if there are none, or if requests were
 * dropped.
 */
bool why_requests_find(const struct why_requests *r, uint32_t tid, uint64_t from_ns, uint64_t to_ns,
		       struct why_disk *ret);
