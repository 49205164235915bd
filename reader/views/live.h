/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a machine does, while it is recorded: sums of windows that follow each other, from a stream
 * of events that may have no end. What is counted is what reader/views/summary and
 * reader/views/profile count.
 *
 * Windows lie on a grid: the n-th ends n intervals after the recording began, in the time of the
 * events. One is over when an event behind it comes (live_is_over()); when none comes, it is for
 * the caller to say, who has a clock.
 *
 * Memory grows with what lives and with what happens in one window, not with time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/text-set.h"
#include "reader/views/profile-names.h"
#include "writer/event.h"

/* Of more threads, or processes, those that did nothing are forgotten. */
enum { LIVE_THREADS_MAX = 1 << 18 };

/* A thread or a process; texts are the window's. */
struct live_task {
	uint32_t pid, tid;   /* koids; tid of a thread */
	const char *name;    /* "?" = not known */
	const char *process; /* its process's name; of a process the command line, or "" */
	uint64_t cpu_ns, runnable_ns;
	uint64_t switches; /* times it got a CPU */
	uint64_t wakeups;
	uint64_t samples;
	uint64_t n_threads; /* that did anything; of processes */
	uint64_t wait_ns;   /* 99 % of its wakeups were answered in this time */
};

/* Code of one name in the processes of one name. */
struct live_function {
	const char *name, *module, *process; /* of the window; module may be "" */
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
	uint64_t n_lost, n_lost_ever; /* in the window; since the recording began */
	/* Mappings that there was no room for since the recording began (maps.h) */
	uint64_t n_unmapped;
	struct live_loss *lost; /* n_lost by class; owned, as what follows */
	size_t n_classes;
	struct live_cpu *cpus;
	size_t n_cpus;
	uint64_t busy_ns;                /* of all CPUs */
	struct live_function *functions; /* the hottest first */
	size_t n_functions;
	struct live_task *threads, *processes; /* that did anything; most CPU time first */
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

/* The end of the window that is going on; 0 before the recording has begun. */
uint64_t live_end_ns(const struct live *l);

/* Whether EV, which was not taken in, is behind the window: it is to be closed first. */
bool live_is_over(const struct live *l, const struct event *ev);

/* Takes one event in. Returns 0 or -ENOMEM. */
int live_add(struct live *l, const struct event *ev);

/*
 * Ends the window and begins the next one. Events up to NOW_NS were taken in, so that it ends where
 * the grid has its last line before that, or at NOW_NS itself with LAST. *RET (an empty one, or
 * NULL if nobody wants to see it) is filled, names are asked of NAMES, for the addresses with most
 * samples first. Returns 0 or -ENOMEM.
 */
struct live_close_args {
	uint64_t now_ns;
	bool last;
	const struct profile_names *names;
};
int live_close(struct live *l, const struct live_close_args *args, struct live_window *ret);

/* Processes (koids) that have ended in the window that was closed last. */
const uint32_t *live_ended(const struct live *l, size_t *ret_n);
