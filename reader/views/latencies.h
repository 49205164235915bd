/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Distributions of durations, for `kymo latency`: of each metric, in total and by thread, process,
 * CPU, unit, cgroup or name. And the balance of the CPUs. Computed from events in one pass.
 *
 * A duration counts once, at its end, if the end is in the window. If the begin or the end of a
 * duration was not observed (it was open at the end, or cut by a loss or a pause), the duration
 * counts in n_open and longest_open_ns only: a thread that never ran again is a worse latency than
 * any that was observed. The part of a duration outside of the recording does not count; only
 * damaged files have such times.
 *
 * Memory: 8 bytes for each used step of each distribution (latency.h); at most LATENCIES_KEYS_MAX
 * distributions of a metric. Further durations count in the total only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/event.h"
#include "reader/views/latency.h"
#include "reader/views/run-queues.h"
#include "reader/views/summary.h"

enum { LATENCIES_KEYS_MAX = 1 << 16 };

enum latency_metric {
	LATENCY_WAKEUP,  /* from a wakeup until the thread runs */
	LATENCY_READY,   /* time in which a thread waited for a CPU, also after a preemption */
	LATENCY_BLOCKED, /* from leaving the CPU until the wakeup */
	LATENCY_RUN,     /* from getting a CPU until leaving it */
	LATENCY_CALL,    /* calls of functions and system calls */
	LATENCY_IRQ,     /* handlers of interrupts */
	LATENCY_SOFTIRQ,
	LATENCY_WORK,  /* work items */
	LATENCY_BLOCK, /* requests of block devices, as durations of the thread that issued them */
	LATENCY_METRICS,
};

/* The names on the command line and in reports. */
extern const char *const latency_metric_names[LATENCY_METRICS];

/* Descriptions of the measured durations, for reports: "woken, until it runs". */
extern const char *const latency_metric_titles[LATENCY_METRICS];

enum latencies_by {
	LATENCIES_TOTAL,
	LATENCIES_BY_THREAD,
	LATENCIES_BY_PROCESS,
	LATENCIES_BY_CPU, /* the CPU of work items, calls and requests is unknown */
	LATENCIES_BY_UNIT,
	LATENCIES_BY_CGROUP,
	/*
	 * The name is that of the function, the handler, the vector, or the device and operation;
	 * for other metrics, that of the thread
	 */
	LATENCIES_BY_NAME,
	LATENCIES_BY_MAX,
};

extern const char *const latencies_by_names[LATENCIES_BY_MAX];

/* The distribution of one metric for one key. */
struct latencies_row {
	uint32_t pid, tid; /* koids of the process or thread of the row; 0 = other rows */
	uint32_t cpu;      /* for rows by CPU */
	const char *name;  /* owned by the latencies; "?" = unknown; "" = by CPU, or the total */
	struct latency times;
	uint64_t n_open, longest_open_ns;
};

struct latencies_options {
	enum latencies_by by;
	uint64_t from_ns, to_ns; /* [from_ns, to_ns); UINT64_MAX = no end */
	bool absolute;           /* the times are the archive's, not relative to its begin */
	/* Returns true if thread TID counts; called by latencies_finish(). NULL = all threads */
	bool (*wants)(void *userdata, uint32_t tid);
	void *userdata;
};

struct latencies;

/*
 * The caller gives each event to SUMMARY before the latencies. The latencies listen to SUMMARY for
 * segments, and use its names and pauses. SUMMARY and the pointers of OPTIONS are borrowed. Returns
 * 0 or -ENOMEM.
 */
int latencies_new(struct latencies **ret, const struct latencies_options *options,
		  struct summary *summary);
struct latencies *latencies_free(struct latencies *l);
DEFINE_CLEANUP(struct latencies *, latencies_free)

/* Adds an event. Returns 0 or -ENOMEM. */
int latencies_add(struct latencies *l, const struct event *ev);

/* Must be called once, after the last event and summary_finish(). Returns 0 or -ENOMEM. */
int latencies_finish(struct latencies *l);

/* Returns the distribution of METRIC for all selected threads. The row belongs to L. */
const struct latencies_row *latencies_total(const struct latencies *l, enum latency_metric metric);

/*
 * Stores the rows of METRIC, the greatest sum first, in a new array, which the caller frees; the
 * rows belong to L. There are no rows by LATENCIES_TOTAL. Returns 0 or -ENOMEM.
 */
int latencies_rows(const struct latencies *l, enum latency_metric metric,
		   const struct latencies_row ***ret, size_t *ret_n);

/* Returns the balance of all CPUs in the window, which belongs to L. */
const struct run_queues *latencies_run_queues(const struct latencies *l);

/*
 * Returns the number of durations of METRIC that have no row, since there were too many
 * distributions. If threads are selected, the total lacks these durations, too.
 */
uint64_t latencies_n_keyless(const struct latencies *l, enum latency_metric metric);
