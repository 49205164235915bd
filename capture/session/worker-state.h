/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shared part of the worker's files: its state, and their functions for each other. All
 * functions run in the worker's thread, without the lock, except where noted.
 */
#pragma once

#include <pthread.h>

#include "capture/calls/call-probes.h"
#include "capture/moments/moments.h"
#include "capture/heap/heap-targets.h"
#include "capture/proc/counters.h"
#include "capture/session/worker.h"

enum {
	LOOKUPS_MAX = 1024,
	PENDING_CHECKS_MAX = 256,
	SEARCHES_MAX = 64,
};

struct worker {
	struct session_options options; /* a copy, since the owner may be freed first */
	int event_fd;
	pthread_mutex_t lock;    /* guards all below */
	pthread_cond_t not_full; /* results have been taken, so there is room for more */
	int order_fd;            /* an eventfd: there are orders */
	bool want_start, want_detach, want_unload, want_snapshot, abandoned;
	uint32_t want_shed; /* bits 1 << SHED_* */
	bool has_clock;     /* the thread runs, and this clock measures its CPU time: */
	clockid_t clock;
	uint64_t helper_cpu_ns; /* CPU time of helper processes; atomic */
	uint64_t n_snapshots;   /* begun */
	uint32_t lookups[LOOKUPS_MAX];
	unsigned n_lookups;
	struct pending_check {
		uint32_t pid;
		uint64_t mapped_ns; /* the first new mapping: CLOCK_BOOTTIME */
	} pending_checks[PENDING_CHECKS_MAX];
	unsigned n_pending_checks;
	uint64_t check_all_ns; /* there were too many: the first new mapping of others; 0 = none */
	uint32_t searches[SEARCHES_MAX]; /* processes that wait for a search */
	unsigned n_searches;
	struct outbuf memory; /* struct rec_*, to be taken */
	unsigned n_holders;   /* 2: owner and thread */
	bool busy;            /* the thread is working, and may hang */
	bool counted;         /* counted in: */
	struct abandoned_threads *abandoned_threads;
	struct worker_results results;

	/* the thread's own */
	struct collector *collector;
	struct call_targets *calls;      /* NULL = no calls are recorded */
	struct moments *moments;         /* likewise */
	struct call_probes *call_probes; /* NULL = not attached */
	struct heap_targets *watching;   /* NULL = no process is watched, or not any more */
	bool failed;                     /* watching failed, and this was reported */
	struct counters *counters;       /* NULL = no counters are sampled, or not any more */
	uint64_t next_sample_ns;         /* CLOCK_MONOTONIC */
	uint64_t next_cpus_ns;           /* time of the next check for new CPUs; 0 = none */
	uint64_t next_own_list_ns; /* time of the next check of selected processes; 0 = none */
	bool paused;               /* nothing is recorded, not even counters */
};

/* Releases it, for the owner or the thread; the last one frees it. */
void worker_release(struct worker *w);

/* ---- worker-loop ---- */

/* The thread; USERDATA is the worker. */
void *worker_run(void *userdata);

/* CPU time of helper processes. With or without the lock. */
uint64_t worker_helper_cpu_ns(struct worker *w);

/* CPU time of the calling thread, which is the worker's, and of its helpers. */
uint64_t worker_cpu_now_ns(struct worker *w);

/* Notifies the owner of results. The lock is held. */
void worker_notify_owner(struct worker *w);

/* Whether long work should be cut short, because an order to end waits for the thread. USERDATA
 * is the worker. */
bool worker_called_off(void *userdata);

/* Work that is due or urgent, to be done between the steps of long work. */
void worker_do_due_work(struct worker *w);

/* From now on, the checks for CPUs and selected processes are due. */
void worker_start_checks(struct worker *w);

/* ---- worker-steps: orders ---- */

void worker_begin(struct worker *w);
void worker_adjust(struct worker *w);
void worker_detach(struct worker *w);
void worker_unload(struct worker *w);

/* ---- worker-proc ---- */

/* Confirms that the user's own processes still are the user's: at once, or when it is due. */
void worker_list_own(struct worker *w);
void worker_list_own_if_due(struct worker *w);

/* Passes on the data in /proc for TASKS (struct rec_task), which were listed before. */
void worker_read_commands(struct worker *w, const struct outbuf *tasks);
void worker_read_mappings(struct worker *w, const struct outbuf *tasks);

/* An order: look up TID. */
void worker_identify(struct worker *w, uint32_t tid);

/* ---- worker-watch ---- */

/*
 * Passes REC to the owner, and waits while the owner takes none. Returns -ECANCELED if the owner
 * never will.
 */
int worker_pass_on(const struct rec_head *rec, void *userdata);

/* Watches processes from now on, first those in TASKS. Reports failures. */
void worker_start_watching(struct worker *w, const struct outbuf *tasks);
void worker_watch_if_due(struct worker *w);

/*
 * Reports the content of the tables at the end: of everything or, unless FOR_GOOD, of this part of
 * the recording.
 */
void worker_finish_watching(struct worker *w, bool for_good);

/* Orders. */
void worker_take_snapshot(struct worker *w);
void worker_search(struct worker *w);
void worker_check_files(struct worker *w);
