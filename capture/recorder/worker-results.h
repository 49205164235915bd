/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The results of a session's worker since the last query. The results change the state of the
 * session, and the recorder takes the lists.
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
	 * When these are true, they stay true. `complete`: samples are taken, and processes are
	 * watched. `quiet`: no eBPF program runs any more. `detached`: all data has been read, too.
	 */
	bool started, complete, quiet, detached, unloaded;
	int error;                        /* the reason why recording could not start */
	char *error_text;                 /* that reason as a sentence, owned; NULL = no sentence */
	struct collector *collector;      /* borrowed; set with `started` */
	const struct call_targets *calls; /* borrowed; NULL = no calls are recorded */
	const struct moments *moments;    /* borrowed; NULL = no moments are recorded */
	const struct tracepoints *tracepoints; /* borrowed; NULL = none are recorded */
	const struct probed_inodes *probed;    /* borrowed; NULL = no calls and no moments */
	/* A time not after the first eBPF program was attached. */
	uint64_t attach_ns;
	uint64_t start_ns;     /* when all programs were attached */
	uint64_t start_cpu_ns; /* CPU time of the thread until start_ns */
	uint64_t listed_ns;    /* when all tasks had been listed */
	uint64_t complete_ns;  /* all requested data is recorded since then */
	struct outbuf
		/* Struct rec_task: all tasks; the list is complete when `started` is set. Owned. */
		tasks;
	struct outbuf looked_up; /* struct rec_task: tasks that were requested. Owned */
	struct outbuf commands;  /* struct proc_command: command lines. Owned */
	uint64_t n_unread;       /* number of processes whose command lines could not be read */
	struct outbuf cgroups;   /* struct rec_cgroup: the cgroups of `tasks` that were not
				  * passed before. Owned */
	struct outbuf samples;   /* struct rec_counters: samples of counters. Owned */
	struct outbuf examined;  /* struct late_file: files that were requested. Owned */
	struct outbuf mappings;  /* struct rec_mapping: mappings at the start. Owned */
	uint64_t n_unlisted;     /* number of processes whose mappings are not all listed */
	struct outbuf waiting;   /* struct rec_piece: the stacks of threads that waited when times
				  * off CPU began. Owned */
	/* Parts that were stopped as ordered, and not resumed: bits 1 << SHED_*. */
	uint32_t shed_bits;
	unsigned n_failed; /* number of parts that could not be resumed */
	/* The number of resumes: after one, the times and lists above are new */
	unsigned n_resumed;
	uint64_t n_snapshots; /* number of completed snapshots */
	int snapshot_error;   /* the reason why the last snapshot is incomplete, or 0 */
	uint64_t n_searches;  /* number of completed searches */
	int search_error;     /* the error of the last search, or 0 */
	uint64_t cpu_ns;      /* CPU time of the worker's thread */
};
