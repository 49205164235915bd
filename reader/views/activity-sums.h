/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums of activities on CPUs and of counters: interrupts, softirqs, work items and idle states by
 * name; counters by name and id; requests of block devices by device and operation; tracepoints and
 * moments by the name of their point.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "model/event.h"

struct activity_sum {
	enum interval_kind kind;
	char *name;     /* owned */
	int32_t number; /* of the interrupt or idle state; 0 for other kinds */
	uint64_t count, total_ns, max_ns;
	uint64_t *cpu_ns; /* owned; n_cpus elements; NULL for work items */
	size_t n_cpus;
};

struct counter_sum {
	char *category, *name, *value; /* owned */
	uint64_t id;
	uint64_t count;
	double min, max, sum;
};

/* Requests of one device and operation. */
struct request_sum {
	char *disk, *op; /* owned; the device can be "" */
	uint64_t count, bytes, total_ns, max_ns;
	uint64_t n_errors;
};

/* The number of events of a tracepoint, or of moments of a point. */
struct name_sum {
	char *name; /* SYSTEM:NAME, or the name of the point; owned */
	uint64_t count;
};

struct activity_sums {
	struct table intervals, counters, requests, tracepoints,
		moments;     /* all own their elements */
	struct table points; /* number of a point + 1 -> its sum, which `moments` owns */
};

void activity_sums_deinit(struct activity_sums *s);

/* Adds EV, an EVENT_INTERVAL; NS of its time are inside the recording. Returns 0 or -ENOMEM. */
int activity_sums_add_interval(struct activity_sums *s, const struct event *ev, uint64_t ns);

/*
 * Sets the duration of the recording. Longer sums, which only a damaged file has, are cut to it.
 */
void activity_sums_finish(struct activity_sums *s, uint64_t duration_ns);

/* Adds an EVENT_REQUEST. Returns 0 or -ENOMEM. */
int activity_sums_add_request(struct activity_sums *s, const struct event *ev);

/* Adds an EVENT_TRACEPOINT. Returns 0 or -ENOMEM. */
int activity_sums_add_tracepoint(struct activity_sums *s, const struct event *ev);

/*
 * Adds an EVENT_MOMENT_POINT, which gives later moments of the point their name, or an
 * EVENT_MOMENT. Returns 0 or -ENOMEM.
 */
int activity_sums_add_point(struct activity_sums *s, const struct event *ev);
int activity_sums_add_moment(struct activity_sums *s, const struct event *ev);

/* Adds an EVENT_COUNTER. Returns 0 or -ENOMEM. */
int activity_sums_add_counter(struct activity_sums *s, const struct event *ev);

/*
 * Stores the sums of KIND, sorted by time, largest first, in a new array, which the caller frees.
 * Returns 0 or -ENOMEM.
 */
int activity_sums_by_time(const struct activity_sums *s, enum interval_kind kind,
			  struct activity_sum ***ret, size_t *ret_n);
/* Stores all counters, by name and id, like activity_sums_by_time(). */
int activity_sums_counters(const struct activity_sums *s, struct counter_sum ***ret, size_t *ret_n);
/* Stores all sums of requests, the longest total time first, like activity_sums_by_time(). */
int activity_sums_requests(const struct activity_sums *s, struct request_sum ***ret, size_t *ret_n);
/* Stores the sums in OF (`tracepoints` or `moments`), the largest count first, like
 * activity_sums_by_time(). */
int activity_sums_by_count(const struct table *of, struct name_sum ***ret, size_t *ret_n);
