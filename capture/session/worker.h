/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread of a session for slow work. This thread loads, attaches, detaches and unloads the eBPF
 * programs, lists live tasks, reads /proc, samples counters, and resumes sampling on CPUs that come
 * back online.
 *
 * Orders are processed in turn. worker_fetch() returns their results when the descriptor is
 * readable. The collector belongs to the worker. The owner may use the collector's rings from
 * `started` until the owner orders to unload.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "capture/recorder/budget.h"
#include "capture/recorder/worker-results.h"
#include "capture/programs/collector.h"
#include "capture/options/options.h"
#include "capture/sandbox/user-counts.h"

struct rec_mapping;
struct worker;

/*
 * Starts the thread, with a copy of OPTIONS. If the thread hangs when it is released, it is counted
 * in ABANDONED_THREADS. Returns 0 or a negative errno.
 */
int worker_new(const struct session_options *options, struct abandoned_threads *abandoned_threads,
	       struct worker **ret);

/* Releases the worker. The thread unloads the eBPF programs and ends by itself. Returns NULL. */
struct worker *worker_free(struct worker *w);

DEFINE_CLEANUP(struct worker *, worker_free)

/* The functions below give orders, and do not wait. */
void worker_order_start(struct worker *w);
void worker_order_detach(struct worker *w);
void worker_order_unload(struct worker *w);

/*
 * Orders a report of the current allocations (worker_fetch_memory()). The report is complete when
 * `n_snapshots` of the results is at least the returned number. If an earlier order still waits,
 * one report serves both orders. No report begins after detaching.
 */
uint64_t worker_order_snapshot(struct worker *w);

/*
 * Orders a search for reachable blocks of process PID, which must be stopped. The search is
 * complete when `n_searches` of the results is at least the returned number. Returns 0 if too many
 * searches wait. No search begins after detaching.
 */
uint64_t worker_order_search(struct worker *w, uint32_t pid);

/*
 * Orders which parts are stopped: SHED_BITS, bits 1 << SHED_*. With SHED_SESSION, nothing is
 * recorded.
 */
void worker_order_shed(struct worker *w, uint32_t shed_bits);

/* Returns the CPU time of the thread and its helpers so far. */
uint64_t worker_cpu_ns(struct worker *w);

/*
 * Orders a lookup of TID in /proc (for own processes: in the kernel). Returns false if too many
 * look-ups wait.
 */
bool worker_order_lookup(struct worker *w, uint32_t tid);

/*
 * Orders a reading of the mappings of the watched process PID, which has had a new mapping since
 * TS_NS.
 */
void worker_order_mappings(struct worker *w, uint32_t pid, uint64_t ts_ns);

/*
 * Orders an examination of the file of REC, whose process has ended. The result is in `examined`.
 * Returns false if too many examinations wait.
 */
bool worker_order_examination(struct worker *w, const struct rec_mapping *rec);

/*
 * Sets *RET, which the caller then owns, to data about allocations: struct rec_*. More data can be
 * available afterwards. Returns false if there is no data.
 */
bool worker_fetch_memory(struct worker *w, struct outbuf *ret);

/* Returns a descriptor that becomes readable when there are results. */
int worker_fd(const struct worker *w);

/*
 * Sets *RET to the results since the last call. The caller owns the buffers
 * (worker_results_deinit()).
 */
void worker_fetch(struct worker *w, struct worker_results *ret);
void worker_results_deinit(struct worker_results *results);
