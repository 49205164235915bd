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
 * Nothing is recorded in a pause, nor between the sessions of joined archives. This time counts in
 * the duration only: no thread has a state then, and no CPU counts as idle. In a merged archive,
 * time is recorded while at least one session records. (In archives of earlier versions, whose
 * events do not name their session, a pause that begins while another session records changes
 * nothing, not even after the end of that session.)
 *
 * A session that was cut off has no session_stop. Its end is its last time if it has switches of
 * all threads, and no event in the second before the next session_start. Otherwise, the session
 * could have gone on, so the time up to the next session_start counts as recorded.
 *
 * A thread's time is running (cpu), runnable (woken or preempted, waiting for a CPU), or blocked.
 * The kernel's own account (/proc/PID/schedstat) can count the time after a wakeup as running: if a
 * thread preempts another thread or the idle thread, it counts as running from its wakeup on, and
 * the other thread as waiting from then on. Separate sums of these times (after_wakeup_ns,
 * until_preempted_ns) bound the difference. The time before a thread's first event, and during
 * losses of scheduling records, counts in none of the three, so they need not add up to the
 * duration.
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
 * Adds a listener: FN also gets the segments of threads (thread-states.h), in the call that adds
 * their last event, or in summary_finish(). Must be called before the first event, for at most
 * SUMMARY_LISTENERS_MAX listeners.
 */
void summary_listen(struct summary *s, thread_states_fn fn, void *userdata);

/*
 * Ends everything that is open at the end of the recording. Must be called once, after the last
 * event. Returns 0, or -ENOMEM of a listener; without listeners, it cannot fail.
 */
int summary_finish(struct summary *s);

/*
 * Computes the sums up to END_NS, which must not be before the begin of the part. The caller must
 * begin the next part before it adds further events.
 */
void summary_end_part(struct summary *s, uint64_t end_ns);

/*
 * Begins a part at START_NS, the end of the previous one. All counts and times are reset; state
 * (running threads, identities) is kept. Tasks that ended before START_NS are discarded. If more
 * than THREADS_MAX threads remain, all threads that were idle in the previous part are discarded,
 * too: they can have ended, since the records of their ends can be lost. Returns 0 or -ENOMEM.
 */
int summary_begin_part(struct summary *s, uint64_t start_ns, size_t threads_max);
