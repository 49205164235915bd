/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The declarations that the files of the worker share: its state, and the functions that the files
 * have for each other. All functions run in the worker's thread, without the lock, except where
 * noted.
 */
#pragma once

#include <pthread.h>

#include "capture/calls/call-probes.h"
#include "capture/moments/moments.h"
#include "capture/heap/heap-targets.h"
#include "capture/proc/counters.h"
#include "capture/session/worker.h"
#include "capture/tracepoints/tracepoints.h"

enum {
	LOOKUPS_MAX = 1024,
	PENDING_CHECKS_MAX = 256,
	SEARCHES_MAX = 64,
	LATE_FILES_BYTES_MAX = 256 << 10,
};

struct worker {
	struct session_options options; /* a copy, since the owner may be freed first */
	int event_fd;
	pthread_mutex_t lock;    /* guards all members below */
	pthread_cond_t not_full; /* results have been taken, so there is room for more */
	int order_fd;            /* an eventfd that is readable if there are orders */
	bool want_start, want_detach, want_unload, want_snapshot, abandoned;
	uint32_t want_shed; /* parts that shall be stopped: bits 1 << SHED_* */
	bool has_clock;     /* the thread runs, and `clock` measures its CPU time */
	clockid_t clock;
	uint64_t helper_cpu_ns; /* CPU time of helper processes; read and written atomically */
	uint64_t n_snapshots;   /* number of snapshots that have begun */
	uint32_t lookups[LOOKUPS_MAX];
	unsigned n_lookups;
	struct pending_check {
		uint32_t pid;
		uint64_t mapped_ns; /* CLOCK_BOOTTIME of the first new mapping */
	} pending_checks[PENDING_CHECKS_MAX];
	unsigned n_pending_checks;
	/*
	 * Time of the first new mapping of the processes for which there was no room; 0 = there was
	 * room for all.
	 */
	uint64_t check_all_ns;
	uint32_t searches[SEARCHES_MAX]; /* processes that wait for a search */
	unsigned n_searches;
	struct outbuf late_files; /* struct rec_mapping: files that wait for an examination */
	struct outbuf memory;     /* struct rec_* that the owner takes */
	unsigned n_holders;       /* 2 = owner and thread */
	bool busy;                /* the thread is working, and may hang */
	bool counted;             /* the worker is counted in `abandoned_threads` */
	struct abandoned_threads *abandoned_threads;
	struct worker_results results;

	/* The members below are only for the thread. */
	struct collector *collector;
	struct call_targets *calls;         /* NULL = no calls are recorded */
	struct moments *moments;            /* NULL = no moments are recorded */
	struct tracepoints *tracepoints;    /* NULL = no tracepoints are recorded */
	struct probed_inodes *probed;       /* NULL = neither calls nor moments are recorded */
	struct call_probes *call_probes;    /* NULL = not attached */
	struct heap_targets *watching;      /* NULL = no process is watched, or no longer */
	struct allocator_cache *late_cache; /* for `late_files`; NULL = none was examined */
	bool failed;                        /* watching failed, and this was reported */
	struct counters *counters;          /* NULL = no counters are sampled, or no longer */
	uint64_t next_sample_ns;            /* CLOCK_MONOTONIC */
	uint64_t next_cpus_ns;              /* time of the next check for new CPUs; 0 = no check */
	uint64_t next_own_list_ns; /* time of the next check of selected processes; 0 = no check */
	bool paused;               /* nothing is recorded, not even counters */
};

/* Releases the worker, for the owner or the thread. The last of the two frees it. */
void worker_release(struct worker *w);

/* ---- worker-loop ---- */

/* Runs the thread. USERDATA is the worker. */
void *worker_run(void *userdata);

/* Returns the CPU time of helper processes. The caller may hold the lock. */
uint64_t worker_helper_cpu_ns(struct worker *w);

/* Returns the CPU time of the worker's thread, which calls this, and of its helper processes. */
uint64_t worker_cpu_now_ns(struct worker *w);

/* Notifies the owner of results. The lock is held. */
void worker_notify_owner(struct worker *w);

/*
 * Returns true if long work should be cut short, because an order to end waits for the thread.
 * USERDATA is the worker.
 */
bool worker_called_off(void *userdata);

/* Does work that is due or urgent. To be called between the steps of long work. */
void worker_do_due_work(struct worker *w);

/* From now on, the checks for CPUs and selected processes are due. */
void worker_start_checks(struct worker *w);

/* ---- worker-steps: orders ---- */

void worker_begin(struct worker *w);
void worker_adjust(struct worker *w);
void worker_detach(struct worker *w);
void worker_unload(struct worker *w);

/* ---- worker-proc ---- */

/*
 * The first function confirms that the user's own processes still belong to the user. The second
 * one does this only if the next confirmation is due.
 */
void worker_list_own(struct worker *w);
void worker_list_own_if_due(struct worker *w);

/*
 * Passes to the owner the data that /proc has about TASKS (struct rec_task), which were listed
 * before.
 */
void worker_read_commands(struct worker *w, const struct outbuf *tasks);
void worker_read_mappings(struct worker *w, const struct outbuf *tasks);

/* Carries out an order: looks up TID. */
void worker_identify(struct worker *w, uint32_t tid);

/* ---- worker-watch ---- */

/*
 * Passes REC to the owner, and waits while the owner takes no data. Returns -ECANCELED if the owner
 * will take no more.
 */
int worker_pass_on(const struct rec_head *rec, void *userdata);

/* From now on, watches processes, first the processes in TASKS. Reports failures. */
void worker_start_watching(struct worker *w, const struct outbuf *tasks);
void worker_watch_if_due(struct worker *w);

/* Reports the content of the tables. FOR_GOOD: true = the recording ends, false = it pauses. */
void worker_finish_watching(struct worker *w, bool for_good);

/* The functions below carry out orders. */
void worker_take_snapshot(struct worker *w);
void worker_search(struct worker *w);
void worker_check_files(struct worker *w);
void worker_examine_file(struct worker *w);
