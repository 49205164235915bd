/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shared part of the files of leaks. Internal to leaks*.c.
 *
 *   leaks.c           events: watches, live blocks, groups, sums
 *   leaks-names.c     names of processes at each time
 *   leaks-finish.c    the rest at the end, and the verdicts
 */
#pragma once

#include "reader/views/leaks.h"

/* The maximum number of names of a process. The oldest one is discarded. */
enum { NAMES_MAX = 32 };

/* The data of a process, and its watch. Texts belong to the leaks. */
struct leak_process {
	uint32_t real_pid;
	unsigned n_watches;
	const char *task;              /* the name in its kernel object, which has no time */
	struct leak_watch *watch;      /* the latest one; NULL = none */
	uint64_t forked_ns, execed_ns; /* its fork and its first exec; 0 = not in the archive */
	struct leak_process_name {
		uint64_t ts_ns; /* the process has the name from this time on */
		const char *name, *program;
	} names[NAMES_MAX]; /* ordered as in the archive */
	size_t n_names;
};

/* The live blocks of a watch whose begin was written again are complete by TS_NS. */
void leak_watch_finish_repetition(struct leak_watch *w, uint64_t ts_ns);

/* TEXT with the lifetime of the leaks; NULL without memory. */
const char *leaks_keep_text(struct leaks *l, const char *text);

/* The process PID, created if it is new; NULL without memory. */
struct leak_process *leaks_get_process(struct leaks *l, uint32_t pid);

/* Events about processes. Each returns 0 or -ENOMEM. */
int leaks_on_task(struct leaks *l, const struct event *ev);
int leaks_on_rename(struct leaks *l, const struct event *ev);
int leaks_on_exec(struct leaks *l, const struct event *ev);
int leaks_on_fork(struct leaks *l, const struct event *ev);

/* When a fork began the program of W, in the archive; 0 = otherwise. */
uint64_t leaks_fork_of(const struct leaks *l, const struct leak_watch *w);

/* The name of W's process when W ended, before any later name. */
void leaks_name_watch(const struct leaks *l, struct leak_watch *w);

/* W ends at TS_NS. */
void leak_watch_close(struct leak_watch *w, uint64_t ts_ns);

/* The age of W at TS_NS. */
uint64_t leak_watch_age(const struct leak_watch *w, uint64_t ts_ns);

/* Whether RESOURCE is selected. */
static inline bool leaks_want(const struct leaks *l, enum resource resource)
{
	return l->options.resources == 0 || l->options.resources & 1u << resource;
}
