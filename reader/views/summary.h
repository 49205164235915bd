/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The summary of a recording: the load of each CPU, the time of each thread, processes, and losses.
 * Computed from events in one pass, in file order.
 *
 * The recording lasts from its session_start to its session_stop; without them, from the first to
 * the last time. Per CPU, busy + other + idle is exactly the recorded part of that time. Unknown
 * time (before a CPU's first switch, during losses) counts as idle, as in the archive. "Other" is
 * the pseudo-thread for threads that a filter does not select.
 *
 * Nothing is recorded in a pause, nor between the sessions of joined archives. Such time counts in
 * the duration only: no thread has a state in it, and no CPU is idle. In a merged archive, time is
 * recorded while at least one session records. (In archives of earlier versions, whose events do
 * not name their session, a pause that begins while another session records changes nothing, not
 * even after the end of that session.)
 *
 * A session that was cut off has no session_stop. It ends with its last time if it has switches of
 * all threads, and no event in the second before the next session_start. Otherwise, it could still
 * be recording, and the gap counts as recorded.
 *
 * A thread's time is running (cpu), runnable (woken or preempted, waiting for a CPU), or blocked.
 * The kernel's own account (/proc/PID/schedstat) can count the time after a wakeup as running: a
 * thread that preempts another one, or the idle thread, runs there from its wakeup on. The other
 * thread has been waiting since then. Both times are separate sums, which bound the difference. The
 * time before its first event, and during losses of scheduling records, is in none of the three, so
 * they need not add up to the duration.
 *
 * A thread that calls exec continues in another program. Its sums are also kept by program.
 *
 * Times of a damaged file outside of the recording do not count.
 *
 * A recording in progress is summed in parts: summary_end_part(), read, summary_begin_part().
 *
 * Events can be slightly late in file order (docs/FXT-MAPPING.md, "Order of an archive"). Intervals
 * are then cut so that they do not overlap.
 */
#pragma once

#include "base/cleanup.h"
#include "reader/views/summary-state.h"

int summary_new(struct summary **ret);
struct summary *summary_free(struct summary *s);
DEFINE_CLEANUP(struct summary *, summary_free)

/* Adds an event. Returns 0 or -ENOMEM. */
int summary_add(struct summary *s, const struct event *ev);

/*
 * The segments of threads (thread-states.h) are also passed on to FN, in the call that adds their
 * last event, or by summary_finish(). For at most SUMMARY_LISTENERS_MAX listeners, each before the
 * first event.
 */
void summary_listen(struct summary *s, thread_states_fn fn, void *userdata);

/*
 * Ends everything that is open at the end of the recording. Called once, after the last event.
 * Returns 0, or -ENOMEM of a listener: without one, it cannot fail.
 */
int summary_finish(struct summary *s);

/*
 * Computes the sums up to END_NS. END_NS must not be before the begin of the part. No events may be
 * added until the next part begins.
 */
void summary_end_part(struct summary *s, uint64_t end_ns);

/*
 * Begins a part at START_NS, the end of the previous one. All counts and times are reset; state
 * (running threads, identities) is kept. Tasks that ended before START_NS are discarded. If there
 * would be more than THREADS_MAX threads, all idle ones of the previous part are discarded, too,
 * since the records of the ends of threads can be lost. Returns 0 or -ENOMEM.
 */
int summary_begin_part(struct summary *s, uint64_t start_ns, size_t threads_max);
