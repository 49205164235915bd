/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the worker share: its state, and what they ask of each other. All functions
 * run in the worker's thread, without the lock unless they say so.
 */
#pragma once

#include <pthread.h>

#include "capture/calls/call-probes.h"
#include "capture/moments/moments.h"
#include "capture/heap/heap-targets.h"
#include "capture/proc/cgroup-queries.h"
#include "capture/proc/counters.h"
#include "capture/session/worker.h"

enum {
	LOOKUPS_MAX = 1024,
	LOOKS_MAX = 256,
	SEARCHES_MAX = 64,
};

struct worker {
	struct session_options options; /* a copy: the owner may be gone before we are */
	int event_fd;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t taken; /* there is room again for what is read */
	int order_fd;         /* an eventfd: there are orders */
	bool want_start, want_detach, want_unload, want_snapshot, abandoned;
	uint32_t want_away; /* bits 1 << SHED_* */
	bool has_clock;     /* the thread runs, and its CPU time is that of this clock: */
	clockid_t clock;
	uint64_t helper_cpu_ns; /* of processes that help; atomic */
	uint64_t n_snapshots;   /* begun */
	uint32_t lookups[LOOKUPS_MAX];
	unsigned n_lookups;
	uint32_t looks[LOOKS_MAX];
	unsigned n_looks;
	bool look_all;                   /* there were too many */
	uint32_t searches[SEARCHES_MAX]; /* processes that wait for one */
	unsigned n_searches;
	struct cgroup_queries cgroups;
	struct outbuf memory; /* struct rec_*, to be taken */
	unsigned n_holders;   /* 2: owner and thread */
	bool busy;            /* the thread is at work, and may hang */
	bool counted;         /* in: */
	struct left_behind *left_behind;
	struct worker_results news;

	/* the thread's own */
	struct collector *collector;
	struct call_targets *calls;      /* NULL = none are recorded */
	struct moments *moments;         /* likewise */
	struct call_probes *call_probes; /* NULL = not attached */
	struct heap_targets *watching;   /* NULL = no process is watched, or no more */
	bool failed;                     /* to watch: said already */
	struct counters *counters;       /* NULL = none are to be sampled, or no more */
	uint64_t next_sample_ns;         /* CLOCK_MONOTONIC */
	uint64_t next_cpus_ns;  /* likewise, for a look at which CPUs there are; 0 = none */
	uint64_t next_proof_ns; /* likewise, for who is selected still; 0 = none */
	bool paused;            /* nothing is recorded, not even counters */
};

/* Lets go, for the owner or the thread; the last one frees it. */
void worker_release(struct worker *w);

/* ---- worker-loop ---- */

/* The thread; USERDATA is the worker. */
void *worker_run(void *userdata);

/* CPU time of processes that help. With or without the lock. */
uint64_t worker_helper_cpu_ns(struct worker *w);

/* Notifies the owner that there is news. The lock is held. */
void worker_tell(struct worker *w);

/* Whether the end waits for the thread. USERDATA is the worker. */
bool worker_called_off(void *userdata);

/* What is due by the clock, and what cannot wait: between the steps of what takes long. */
void worker_attend(struct worker *w);

/* From now on looks for CPUs and proofs are due. */
void worker_look_from_now_on(struct worker *w);

/* ---- worker-steps: orders ---- */

void worker_begin(struct worker *w);
void worker_adjust(struct worker *w);
void worker_detach(struct worker *w);
void worker_unload(struct worker *w);

/* ---- worker-proc ---- */

/* Says of a user's own processes that they are so still: at once, or when it is due. */
void worker_prove_all(struct worker *w);
void worker_prove_if_due(struct worker *w);

/* Delivers what /proc says of TASKS (struct rec_task), which were listed before. */
void worker_read_commands(struct worker *w, const struct outbuf *tasks);
void worker_read_mappings(struct worker *w, const struct outbuf *tasks);

/* An order: who TID is. */
void worker_look_up(struct worker *w, uint32_t tid);

/* ---- worker-watch ---- */

/* REC goes to the owner; while he takes none, this waits. Returns -ECANCELED if he never will. */
int worker_hand_on(const struct rec_head *rec, void *userdata);

/* Watches processes from now on, those of TASKS first. A failure is reported. */
void worker_start_watching(struct worker *w, const struct outbuf *tasks);
void worker_watch_if_due(struct worker *w);

/* What the tables hold at the end, of all or, unless FOR_GOOD, of this part of it. */
void worker_finish_watching(struct worker *w, bool for_good);

/* Orders. */
void worker_take_snapshot(struct worker *w);
void worker_search(struct worker *w);
void worker_look_at_files(struct worker *w);
