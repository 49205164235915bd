/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The results of a session's worker since the last query. They change the state of the session. The
 * recorder takes the lists.
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
	 * These stay true. `complete`: samples are taken, and processes watched. `quiet`: no
	 * program runs any more. `detached`: all data has been read, too.
	 */
	bool started, complete, quiet, detached, unloaded;
	int error;                        /* the reason why it could not start */
	char *error_text;                 /* a sentence, owned; NULL = none */
	struct collector *collector;      /* borrowed; set with `started` */
	const struct call_targets *calls; /* borrowed; NULL = no calls are recorded */
	const struct moments *moments;    /* likewise */
	uint64_t attach_ns;               /* a time not after the attach of the first program */
	uint64_t start_ns;                /* when all programs were attached */
	uint64_t start_cpu_ns;            /* CPU time of the thread until start_ns */
	uint64_t listed_ns;               /* when the list of tasks was complete */
	uint64_t complete_ns;             /* all requested data is recorded since then */
	struct outbuf
		tasks; /* struct rec_task: the list of all tasks, complete with `started`. Owned */
	struct outbuf looked_up; /* struct rec_task: requested. Owned */
	struct outbuf commands;  /* struct proc_command. Owned */
	struct outbuf cgroups;   /* struct rec_cgroup: the cgroups of `tasks` that were not
				  * passed before. Owned */
	struct outbuf samples;   /* struct rec_counters. Owned */
	struct outbuf mappings;  /* struct rec_mapping: mappings at the start. Owned */
	struct outbuf waiting;   /* struct rec_piece: the stacks of threads that waited when times
				  * off CPU began. Owned */
	uint32_t shed_bits;      /* bits 1 << SHED_*: stopped as ordered, and not resumed */
	unsigned n_failed;       /* parts that could not be resumed */
	/* The number of resumes: after one, the times and lists above are new */
	unsigned n_resumed;
	uint64_t n_snapshots; /* the completed ones */
	int snapshot_error;   /* the reason why the last one is incomplete, or 0 */
	uint64_t n_searches;  /* the completed ones */
	int search_error;     /* the error of the last one, or 0 */
	uint64_t cpu_ns;      /* CPU time of the thread */
};
