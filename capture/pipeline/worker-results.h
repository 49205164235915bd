/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the worker of a session has found out since it was asked last. The session goes by it from
 * state to state; the recorder takes in what it lists.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "capture/proc/proc-answers.h"

struct call_targets;
struct collector;

struct worker_results {
	/*
	 * Since when it does not matter: they stay true. `complete`: samples are taken, too, and
	 * processes watched. `quiet`: no program runs any more; `detached`: and all has been read.
	 */
	bool started, complete, quiet, detached, unloaded;
	int error;                        /* why it could not start */
	char *error_text;                 /* a sentence, owned; NULL = none */
	struct collector *collector;      /* borrowed; set with `started` */
	const struct call_targets *calls; /* likewise; NULL = none are recorded */
	const struct moments *moments;    /* likewise */
	uint64_t attach_ns;               /* the first program was attached then, or later */
	uint64_t start_ns;                /* all programs were attached by then */
	uint64_t listed_ns;               /* the list of tasks was complete by then */
	struct outbuf tasks;     /* struct rec_task: listed, all of them with `started`. Owned */
	struct outbuf looked_up; /* struct rec_task: asked for. Owned */
	struct outbuf commands;  /* struct proc_command. Owned */
	struct outbuf
		cgroups;    /* struct proc_cgroup: first with `started`, then as asked for. Owned */
	bool cgroups_asked; /* there is room for more questions, since the last time */
	struct outbuf samples;  /* struct rec_counters. Owned */
	struct outbuf mappings; /* struct rec_mapping, of what was there at the start. Owned */
	uint32_t away;          /* bits 1 << SHED_*: has gone, as was ordered, and is not back */
	unsigned n_failed;      /* of those that were to come back, how many could not */
	unsigned
		/* how often all has begun again: then the times and lists above are new */
		n_resumed;
	uint64_t n_snapshots; /* said, of those that were ordered */
	int snapshot_error;   /* why the last of them is not whole, or 0 */
	uint64_t n_searches;  /* done, of those that were ordered */
	int search_error;     /* why the last of them found nothing out, or 0 */
	uint64_t cpu_ns;      /* CPU time of the thread */
};
