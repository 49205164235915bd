/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two recordings side by side: what each process did with its time, in A and in B.
 *
 * Pids differ from run to run, so processes are matched by name. Where several command lines go by
 * one name, but at most DIFF_SPLIT_MAX in either recording, they are told apart by command line: a
 * row for each that is in both, and one for what is left of the name, if that is in both, too.
 * Where there are more, as with compilers, they are one row. All workqueue threads of the kernel
 * are one process, since their names are chance.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/table.h"
#include "reader/views/latency.h"
#include "reader/views/summary.h"

/* With less than this, chance alone makes a difference of a fifth and more. */
enum { DIFF_SAMPLES_FEW = 30 };

enum { DIFF_SPLIT_MAX = 8 };

enum diff_side_index { DIFF_A, DIFF_B, DIFF_SIDES };

enum diff_metric {
	DIFF_CPU,
	DIFF_SWITCHES,
	DIFF_LATENCY, /* from wakeup to running */
	DIFF_WAIT,    /* on a run queue, woken or preempted */
	DIFF_METRIC_MAX,
};

/* Sums over threads. */
struct diff_sums {
	uint64_t n_processes; /* that did anything; of rows by thread: threads */
	uint64_t cpu_ns, wait_ns;
	uint64_t switches, preempted, wakeups;
	struct latency latency; /* wakeup to running */
};

struct diff_row {
	const char *name;         /* of the process; borrowed from the recording */
	const char *command_line; /* what it has in common; NULL = none, or not known */
	const char *thread;       /* of rows by thread: its name */
	bool several;             /* there are other rows of this name */
	bool others;              /* what those left over */
	struct diff_sums side[DIFF_SIDES];
};

/* One recording, as it is read. */
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

/* Takes one event in. Returns 0 or -ENOMEM. Behind the last one call summary_finish(). */
int diff_input_add(struct diff_input *in, const struct event *ev);

/*
 * Lays B beside A, which are finished and must live as long as the result; a row is a process, or
 * with BY_THREAD the threads of one name in processes of one name. Returns 0 or -ENOMEM.
 */
int summary_diff_new(const struct diff_input *a, const struct diff_input *b, bool by_thread,
		     struct summary_diff **ret);
struct summary_diff *summary_diff_free(struct summary_diff *d);
DEFINE_CLEANUP(struct summary_diff *, summary_diff_free)

/*
 * What SUMS of SIDE come to in METRIC, made independent of how long the recording was: CPU time and
 * wait in seconds a second, switches a second, mean latency in nanoseconds.
 */
double summary_diff_value(const struct summary_diff *d, enum diff_side_index side,
			  const struct diff_sums *sums, enum diff_metric metric);

/* Whether SIDE of ROW has such a value: it was there, and for latency, it was woken. */
bool diff_row_has(const struct diff_row *row, enum diff_side_index side, enum diff_metric metric);

/* Whether the row's value is made of so few events that chance makes the difference. */
bool diff_row_is_small(const struct diff_row *row, enum diff_metric metric);

/*
 * Sorts the rows by how much they changed in METRIC, most first; for latency, which
 * has no sum, those with few samples come last.
 */
void summary_diff_sort(struct summary_diff *d, enum diff_metric metric);
