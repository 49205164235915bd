/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of leaks share. Internal to leaks*.c.
 *
 *	leaks.c           events: watches, blocks that live, groups, sums
 *	leaks-names.c     what processes are called, and when
 *	leaks-finish.c    what is left at the end, and what to think of it
 */
#pragma once

#include "reader/views/leaks.h"

/* More names of a process are not remembered: the oldest is forgotten. */
enum { NAMES_MAX = 32 };

/* What is known of a process, and who watches it. Texts are of the leaks. */
struct leak_process {
	uint32_t real_pid;
	unsigned n_watches;
	const char *task;         /* as its kernel object calls it; that has no time */
	struct leak_watch *watch; /* the one that begins last; NULL = none */
	struct leak_process_name {
		uint64_t ts_ns; /* from then on */
		const char *name, *program;
	} names[NAMES_MAX]; /* in the order of the archive */
	size_t n_names;
};

/* What lives, of a watch whose begin was written again, has been written by TS_NS. */
void leak_watch_finish_telling(struct leak_watch *w, uint64_t ts_ns);

/* TEXT as long as the leaks live; NULL without memory. */
const char *leaks_keep_text(struct leaks *l, const char *text);

/* The process PID, made if it is new; NULL without memory. */
struct leak_process *leaks_get_process(struct leaks *l, uint32_t pid);

/* What is said of processes. Each returns 0 or -ENOMEM. */
int leaks_take_task(struct leaks *l, const struct event *ev);
int leaks_take_rename(struct leaks *l, const struct event *ev);
int leaks_take_exec(struct leaks *l, const struct event *ev);
int leaks_take_fork(struct leaks *l, const struct event *ev);

/*
 * What the process of W, which has ended, was called when that ended, before anything that it was
 * called from then on.
 */
void leaks_name_watch(const struct leaks *l, struct leak_watch *w);

/* W ends at TS_NS. */
void leak_watch_close(struct leak_watch *w, uint64_t ts_ns);

/* How long W had been there at TS_NS. */
uint64_t leak_watch_age(const struct leak_watch *w, uint64_t ts_ns);

/* Whether what is of RESOURCE is asked for. */
static inline bool leaks_want(const struct leaks *l, enum resource resource)
{
	return l->options.resources == 0 || l->options.resources & 1u << resource;
}
