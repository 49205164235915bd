/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A comparison of two recordings: the time of each process, in A and in B.
 *
 * Pids differ between runs, so processes are matched by name. A name with up to DIFF_SPLIT_MAX
 * command lines in each recording has a row for each command line that is in both recordings. If
 * both recordings have further command lines of this name, these share one row. A name with more
 * command lines, such as that of a compiler, has a single row. All workqueue threads of the kernel
 * share a row, since their names contain random numbers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/table.h"
#include "reader/views/latency.h"
#include "reader/views/summary.h"

/*
 * If a value has fewer events, chance alone makes a difference of a fifth or more. For a
 * percentile, only the events beyond the percentile count.
 */
enum { DIFF_SAMPLES_FEW = 30 };

enum { DIFF_SPLIT_MAX = 8 };

enum diff_side_index { DIFF_A, DIFF_B, DIFF_SIDES };

enum diff_metric {
	DIFF_CPU,
	DIFF_SWITCHES,
	DIFF_LATENCY, /* the mean duration from a wakeup to running */
	DIFF_P50,     /* the median of these durations; below, other percentiles */
	DIFF_P99,
	DIFF_P99_9,
	DIFF_WAIT, /* the time in run queues, after wakeups and preemptions */
	DIFF_METRIC_MAX,
};

/* Sums over threads. */
struct diff_sums {
	uint64_t n_processes; /* number of active processes; in rows by thread, of threads */
	uint64_t cpu_ns, wait_ns;
	uint64_t switches, preempted, wakeups;
	struct latency latency; /* durations from wakeups to running */
};

struct diff_row {
	const char *name; /* name of the process; borrowed from the recording */
	/* The command line that all processes of the row have; NULL = they differ, or are
	 * unknown. */
	const char *command_line;
	const char *thread; /* for rows by thread: name of the threads */
	bool several;       /* there are other rows with this name */
	bool others;        /* the row has all command lines of the name that have no row */
	struct diff_sums side[DIFF_SIDES];
};

/* One recording while it is read. */
struct diff_input {
	struct summary *summary; /* owned */
	struct table latencies;  /* tid -> struct latency, owned */
};

struct summary_diff {
	const struct diff_input *input[DIFF_SIDES]; /* borrowed */
	struct diff_row *rows;                      /* owned; in no order */
	size_t n_rows;
	struct diff_sums total[DIFF_SIDES];
};

/* Returns 0 or -ENOMEM. */
int diff_input_init(struct diff_input *in);
void diff_input_deinit(struct diff_input *in);

/* Adds an event. After the last event, the caller must call summary_finish(). Returns 0 or
 * -ENOMEM. */
int diff_input_add(struct diff_input *in, const struct event *ev);

/*
 * Compares B with A, which are finished and must live as long as the result. A row is a process
 * name, or, if BY_THREAD, a thread name within a process name. Returns 0 or -ENOMEM.
 */
int summary_diff_new(const struct diff_input *a, const struct diff_input *b, bool by_thread,
		     struct summary_diff **ret);
struct summary_diff *summary_diff_free(struct summary_diff *d);
DEFINE_CLEANUP(struct summary_diff *, summary_diff_free)

/*
 * Returns true if METRIC is the mean or a percentile of the time from a wakeup to running. Such a
 * metric has no sum.
 */
bool diff_metric_is_latency(enum diff_metric metric);

/*
 * Returns true if too few durations of L lie beyond the percentile PERCENT to make it significant.
 */
bool diff_is_percentile_small(const struct latency *l, double percent);

/*
 * Returns the value of METRIC in SUMS, which are sums of SIDE. Sums are divided by the recording's
 * duration: CPU time and wait are in seconds per second, switches per second. Latencies are in
 * nanoseconds.
 */
double summary_diff_value(const struct summary_diff *d, enum diff_side_index side,
			  const struct diff_sums *sums, enum diff_metric metric);

/*
 * Returns true if SIDE of ROW has a value for METRIC: the process existed, and for a latency, it
 * was woken.
 */
bool diff_row_has(const struct diff_row *row, enum diff_side_index side, enum diff_metric metric);

/* Returns true if a value of METRIC in ROW has too few events to be significant. */
bool diff_row_is_small(const struct diff_row *row, enum diff_metric metric);

/*
 * Sorts the rows by their change in METRIC, the largest first. If METRIC is a latency, rows with
 * few samples, or without a value on one side, come last.
 */
void summary_diff_sort(struct summary_diff *d, enum diff_metric metric);
