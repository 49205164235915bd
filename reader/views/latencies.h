/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Distributions of durations, for `kymo latency` and `kymo diff`: of each metric, in total and by
 * thread, process, CPU, unit, cgroup or function. And the balance of the CPUs. Computed from events
 * in one pass.
 *
 * A duration counts once, at its end, if the end is in the window. Durations with an end that was
 * not observed (open at the end, cut by a loss or a pause) are not in the distribution, but in
 * n_open, with the longest of them: a thread that never ran again is a worse latency than any that
 * was observed.
 *
 * Memory: 8 bytes for each used step of each distribution (latency.h); at most LATENCIES_KEYS_MAX
 * distributions of a metric. Durations of further keys count in total only; n_keyless is their
 * number.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/table.h"
#include "model/event.h"
#include "reader/views/latency.h"
#include "reader/views/summary.h"

enum { LATENCIES_KEYS_MAX = 1 << 16 };

enum latency_metric {
	LATENCY_WAKEUP,  /* from a wakeup until the thread runs */
	LATENCY_READY,   /* each time in which a thread waited for a CPU, also after preemption */
	LATENCY_BLOCKED, /* from leaving the CPU until the wakeup */
	LATENCY_RUN,     /* from getting a CPU until leaving it */
	LATENCY_CALL,    /* calls of functions and system calls, by function */
	LATENCY_IRQ,     /* handlers of interrupts, by handler */
	LATENCY_SOFTIRQ, /* by vector */
	LATENCY_WORK,    /* work items, by function */
	LATENCY_BLOCK,   /* requests of block devices, from issue to completion; by device */
	LATENCY_FAULT,   /* time off CPU in page faults, from the threshold of `offcpu` on */
	LATENCY_METRICS,
};

/* The names on the command line and in reports. */
extern const char *const latency_metric_names[LATENCY_METRICS];

enum latencies_by {
	LATENCIES_TOTAL,
	LATENCIES_BY_THREAD,
	LATENCIES_BY_PROCESS,
	LATENCIES_BY_CPU,
	LATENCIES_BY_UNIT,
	LATENCIES_BY_CGROUP,
	LATENCIES_BY_NAME, /* of the function, handler, vector or device */
	LATENCIES_BY_MAX,
};

/* The distribution of one metric for one key. */
struct latencies_row {
	uint64_t key;     /* koid, number of a CPU, or 0 */
	const char *name; /* of the latencies; "" = the key is a koid or a CPU */
	struct latency times;
	uint64_t n_open, longest_open_ns;
};

/*
 * The balance of the CPUs. A queue has the thread that runs and those that wait for this CPU. The
 * time is that in which the state of all threads was known.
 */
struct latencies_balance {
	uint64_t known_ns;
	/* Some CPU had a queue of two or more while another one was idle. (It need not be allowed
	 * for the waiting thread: affinities are not recorded.) */
	uint64_t idle_beside_queue_ns;
	uint64_t queue_ns; /* sum over all CPUs of the queue's length times its duration */
	uint64_t longest_queue;
	uint32_t longest_cpu;
	uint64_t longest_at_ns;
};

struct latencies_options {
	bool metrics[LATENCY_METRICS]; /* none = all */
	enum latencies_by by;
	uint64_t from_ns, to_ns; /* [from, to) in the time of the archive; UINT64_MAX = no end */
	/* Whether thread TID counts; NULL = all */
	bool (*wants)(void *userdata, uint32_t tid);
	void *userdata;
};

struct latencies;

/*
 * SUMMARY gets each event before the latencies do, has identities and pauses, and passes segments
 * to the latencies, its only listener. It is borrowed, like the pointers of OPTIONS. Returns 0 or
 * -ENOMEM.
 */
int latencies_new(struct latencies **ret, const struct latencies_options *options,
		  struct summary *summary);
struct latencies *latencies_free(struct latencies *l);
DEFINE_CLEANUP(struct latencies *, latencies_free)

/* Takes one event in. Returns 0 or -ENOMEM. */
int latencies_add(struct latencies *l, const struct event *ev);

/* Once, after the last event and summary_finish(). Returns 0 or -ENOMEM. */
int latencies_finish(struct latencies *l);

/*
 * The rows of METRIC, those with the greatest sum first, into a new array (free() it); the rows
 * belong to L. Returns 0 or -ENOMEM.
 */
int latencies_rows(const struct latencies *l, enum latency_metric metric,
		   const struct latencies_row ***ret, size_t *ret_n);

const struct latencies_balance *latencies_balance(const struct latencies *l);

/* Durations of METRIC that count in total only, since there were too many keys. */
uint64_t latencies_n_keyless(const struct latencies *l, enum latency_metric metric);

/* For a recording in progress: starts again, and keeps the state of threads. */
void latencies_begin_part(struct latencies *l, uint64_t start_ns);
