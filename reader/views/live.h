/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The activity of a machine during a recording: sums of consecutive windows, from a possibly
 * endless stream of events. The counts are those of reader/views/summary and reader/views/profile.
 *
 * Windows form a grid: the n-th one ends n intervals after the recording began, by the times of the
 * events. A window is over when a later event arrives (live_is_over()). If no event arrives, the
 * caller must close the window by its own clock.
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

/* The maximum number of threads, and of processes. Beyond this number, idle ones are discarded. */
enum { LIVE_THREADS_MAX = 1 << 18 };

/* A thread or a process; texts belong to the window. */
struct live_task {
	uint32_t pid, tid; /* koids; tid is only set for threads */
	/* Name of the thread or process. */
	const char *name;
	const char *process; /* name of its process; for a process, its command line or "" */
	uint64_t cpu_ns, runnable_ns;
	uint64_t switches; /* number of times that it was switched in */
	uint64_t wakeups;
	uint64_t samples;
	uint64_t n_threads; /* for a process: number of active threads */
	uint64_t wait_ns;   /* 99 % of its wakeups led to a run within this time */
};

/* A function, identified by its name, in all processes of one name. */
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
	/* Number of mappings so far that exceeded a limit (maps.h) */
	uint64_t n_unmapped;
	struct live_loss *lost; /* n_lost by class; owned, as are the lists below */
	size_t n_classes;
	struct live_cpu *cpus;
	size_t n_cpus;
	uint64_t busy_ns;                /* time in which threads ran: the sum over all CPUs */
	struct live_function *functions; /* most samples first */
	size_t n_functions;
	/* Active threads and processes, those with most CPU time first. */
	struct live_task *threads, *processes;
	size_t n_threads, n_processes;
	struct text_set texts;
};

/* Frees the content of W. A struct with all bytes zero is an empty window. */
void live_window_deinit(struct live_window *w);

struct live;

/* Creates a view with windows of INTERVAL_NS. */
int live_new(struct live **ret, uint64_t interval_ns);
struct live *live_free(struct live *l);
DEFINE_CLEANUP(struct live *, live_free)

/* Returns the end of the current window; 0 = the recording has not begun. */
uint64_t live_end_ns(const struct live *l);

/*
 * Returns true if EV, which was not added yet, is after the current window. Then the caller must
 * close the window before it adds EV.
 */
bool live_is_over(const struct live *l, const struct event *ev);

/* Adds an event. Returns 0 or -ENOMEM. */
int live_add(struct live *l, const struct event *ev);

/*
 * Ends the window and begins the next one. The caller has added all events up to NOW_NS, so the
 * window ends at the last line of the grid before NOW_NS, or, if LAST, at NOW_NS itself. *RET,
 * which is empty, gets the data of the window; RET NULL = the data is not needed. NAMES is asked
 * for names of addresses in the order of their samples, most first. Returns 0 or -ENOMEM.
 */
struct live_close_args {
	uint64_t now_ns;
	bool last;
	const struct profile_names *names;
};
int live_close(struct live *l, const struct live_close_args *args, struct live_window *ret);

/* Returns the processes (koids) that ended in the window that was closed last. */
const uint32_t *live_ended(const struct live *l, size_t *ret_n);
