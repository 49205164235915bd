/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread of a session that does what may be slow: it loads, attaches, detaches and unloads the
 * eBPF programs, lists the tasks that live, looks into /proc, samples counters, and lets CPUs that
 * come back be sampled again.
 *
 * Orders are taken in turn; what comes of them is fetched with worker_fetch() when the descriptor
 * is readable. The collector belongs to the worker; the owner may use its rings from `started`
 * until it orders to unload.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "capture/pipeline/budget.h"
#include "capture/pipeline/worker-results.h"
#include "capture/programs/collector.h"
#include "capture/options/options.h"
#include "capture/sandbox/user-counts.h"

struct worker;

/*
 * Starts the thread, with a copy of OPTIONS. If it hangs when it is let go of it counts in
 * LEFT_BEHIND. Returns 0 or a negative errno.
 */
int worker_new(const struct session_options *options, struct left_behind *left_behind,
	       struct worker **ret);

/* Lets go; the thread unloads what is loaded and ends by itself. Returns NULL. */
struct worker *worker_free(struct worker *w);

DEFINE_CLEANUP(struct worker *, worker_free)

/* Orders; none of them waits. */
void worker_order_start(struct worker *w);
void worker_order_detach(struct worker *w);
void worker_order_unload(struct worker *w);

/*
 * Another one, to say what is allocated now (worker_take_memory()). Returns what `n_snapshots` of
 * the news is at least once that is said; one that is ordered and has not begun is the same. None
 * is begun after detaching.
 */
uint64_t worker_order_snapshot(struct worker *w);

/*
 * Another one, to look which blocks of process PID, which stands still, can be reached. Returns
 * what `n_searches` of the news is at least once that is done, or 0 if too many are waiting. None
 * is begun after detaching.
 */
uint64_t worker_order_search(struct worker *w, uint32_t pid);

/*
 * Another one: AWAY, bits 1 << SHED_*, is what is to be gone. With SHED_SESSION nothing is
 * recorded.
 */
void worker_order_away(struct worker *w, uint32_t away);

/* CPU time of the thread, by now. */
uint64_t worker_cpu_ns(struct worker *w);

/*
 * Another order, to look up TID in /proc (of own processes: in the kernel). False if too many are
 * waiting.
 */
bool worker_order_lookup(struct worker *w, uint32_t tid);

/* Another one, to find the path of cgroup ID, which PID is in. False if too many are waiting. */
bool worker_order_cgroup(struct worker *w, uint64_t id, uint32_t pid);

/* Another one, to look at what process PID, which is watched, has mapped. */
void worker_order_look(struct worker *w, uint32_t pid);

/* What was read of what is allocated, the caller's: struct rec_*. There may be more when it is
 * taken. False: nothing. */
bool worker_take_memory(struct worker *w, struct outbuf *ret);

/* Becomes readable when there is news. */
int worker_fd(const struct worker *w);

/* The news since the last time; the buffers are the caller's (worker_results_deinit()). */
void worker_fetch(struct worker *w, struct worker_results *ret);
void worker_results_deinit(struct worker_results *news);
