/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The activity of a machine during a recording: sums of consecutive windows, from a possibly
 * endless stream of events. The counts are those of reader/views/summary and reader/views/profile.
 *
 * Windows form a grid: the n-th ends n intervals after the recording began, in the time of the
 * events. A window is over when a later event arrives (live_is_over()). If none arrives, the
 * caller, who has a clock, must decide.
 *
 * Memory grows with live tasks and with the activity in one window, not with time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/text-set.h"
#include "reader/views/profile-names.h"
#include "model/event.h"

/* Of more threads or processes, the idle ones are discarded. */
enum { LIVE_THREADS_MAX = 1 << 18 };

/* A thread or a process; texts belong to the window. */
struct live_task {
	uint32_t pid, tid;   /* koids; tid is only set for threads */
	const char *name;    /* "?" = unknown */
	const char *process; /* the name of its process; for a process the command line, or "" */
	uint64_t cpu_ns, runnable_ns;
	uint64_t switches; /* times it got a CPU */
	uint64_t wakeups;
	uint64_t samples;
	uint64_t n_threads; /* active ones; for processes */
	uint64_t wait_ns;   /* 99 % of its wakeups were served in this time */
};

/* A function by name, in the processes of one name. */
struct live_function {
	const char *name, *module, *process; /* owned by the window; module may be "" */
	bool kernel;
	uint64_t samples;
};

struct live_cpu {
	uint32_t number;
	uint64_t busy_ns;
	uint64_t switches;
};

struct live_loss {
	const char *class_name;
	uint64_t count;
};

struct live_window {
	uint64_t start_ns, end_ns;
	uint64_t n_events, n_samples;
	uint64_t n_lost;      /* lost events in the window */
	uint64_t n_lost_ever; /* lost events since the recording began */
	/* Mappings without room since the recording began (maps.h) */
	uint64_t n_unmapped;
	struct live_loss *lost; /* n_lost by class; owned, as are the following */
	size_t n_classes;
	struct live_cpu *cpus;
	size_t n_cpus;
	uint64_t busy_ns;                /* sum of all CPUs */
	struct live_function *functions; /* the hottest first */
	size_t n_functions;
	struct live_task *threads, *processes; /* active ones; most CPU time first */
	size_t n_threads, n_processes;
	struct text_set texts;
};

/* All zeroes is an empty one. */
void live_window_deinit(struct live_window *w);

struct live;

/* Windows of INTERVAL_NS. */
int live_new(struct live **ret, uint64_t interval_ns);
struct live *live_free(struct live *l);
DEFINE_CLEANUP(struct live *, live_free)

/* The end of the current window; 0 before the recording has begun. */
uint64_t live_end_ns(const struct live *l);

/* Whether EV, which is not processed yet, is after the window, which must be closed first. */
bool live_is_over(const struct live *l, const struct event *ev);

/* Takes one event in. Returns 0 or -ENOMEM. */
int live_add(struct live *l, const struct event *ev);

/*
 * Ends the window and begins the next one. Events up to NOW_NS were processed, so it ends at the
 * last line of the grid before that, or with LAST at NOW_NS itself. *RET (an empty one, or NULL if
 * it is not needed) is filled. NAMES is queried for the addresses with most samples first. Returns
 * 0 or -ENOMEM.
 */
struct live_close_args {
	uint64_t now_ns;
	bool last;
	const struct profile_names *names;
};
int live_close(struct live *l, const struct live_close_args *args, struct live_window *ret);

/* Processes (koids) that ended in the last closed window. */
const uint32_t *live_ended(const struct live *l, size_t *ret_n);
