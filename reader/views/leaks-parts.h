/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The declarations that the files leaks*.c share.
 *
 *   leaks.c           events: watches, live blocks, groups, sums
 *   leaks-names.c     names of processes at each time
 *   leaks-finish.c    what is done at the end: values of groups, and verdicts
 */
#pragma once

#include "reader/views/leaks.h"

/* The maximum number of names of a process. Beyond it, the oldest name is discarded. */
enum { NAMES_MAX = 32 };

/* The data of a process, and its watch. Texts belong to the leaks. */
struct leak_process {
	uint32_t real_pid;
	unsigned n_watches;
	const char *task;         /* name in the process's kernel object, which has no time */
	struct leak_watch *watch; /* latest watch of the process; NULL = none */
	/* Times of its fork and of its first exec; 0 = not in the archive. */
	uint64_t forked_ns, execed_ns;
	struct leak_process_name {
		uint64_t ts_ns; /* the process has the name from this time on */
		const char *name, *program;
	} names[NAMES_MAX]; /* in the order of the archive */
	size_t n_names;
};

/* Ends the repetition of W's begin, at TS_NS: removes the blocks that the repetition does not
 * have. */
void leak_watch_finish_repetition(struct leak_watch *w, uint64_t ts_ns);

/* Returns a copy of TEXT that lives as long as L; NULL = no memory. */
const char *leaks_keep_text(struct leaks *l, const char *text);

/* Finds or adds the process PID. Returns NULL if there is no memory. */
struct leak_process *leaks_get_process(struct leaks *l, uint32_t pid);

/* Handle events about processes. Each returns 0 or -ENOMEM. */
int leaks_on_task(struct leaks *l, const struct event *ev);
int leaks_on_rename(struct leaks *l, const struct event *ev);
int leaks_on_exec(struct leaks *l, const struct event *ev);
int leaks_on_fork(struct leaks *l, const struct event *ev);

/*
 * Returns the time of the fork that began the program of W; 0 = it is not in the archive.
 */
uint64_t leaks_fork_of(const struct leaks *l, const struct leak_watch *w);

/* Sets the name of W to the name that its process had when W ended. */
void leaks_name_watch(const struct leaks *l, struct leak_watch *w);

/* Ends W at TS_NS. */
void leak_watch_close(struct leak_watch *w, uint64_t ts_ns);

/* Returns the age of W at TS_NS. */
uint64_t leak_watch_age(const struct leak_watch *w, uint64_t ts_ns);

/* Returns true if RESOURCE is selected. */
static inline bool leaks_want(const struct leaks *l, enum resource resource)
{
	return l->options.resources == 0 || l->options.resources & 1u << resource;
}
