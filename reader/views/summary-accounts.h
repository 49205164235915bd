/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The same switches are counted twice. The CPU's account has the running threads: the records of
 * one CPU are in order, so it is exact. The thread's account covers the time between its runs, from
 * switch-outs, wakeups and switch-ins of different CPUs, some of which can be slightly late. It is
 * the sum of the segments of thread-states.h.
 */
#pragma once

#include "reader/views/summary-state.h"

/* Handle EVENT_SWITCH and EVENT_WAKE. Return 0 or -ENOMEM. */
int summary_account_switch(struct summary *s, const struct event *ev);
int summary_account_wake(struct summary *s, const struct event *ev);

/* Renames the running thread OLD_TID to TID from TS_NS on. Returns 0 or -ENOMEM. */
int summary_account_new_tid(struct summary *s, uint32_t old_tid, uint32_t tid, uint64_t ts_ns);

/* Books the time of T up to TS_NS, in both accounts. Returns 0 or -ENOMEM. */
int summary_account_until(struct summary *s, struct summary_thread *t, uint64_t ts_ns);

/*
 * Closes both accounts at the begin of a pause. All earlier states are unknown from its end on.
 * Returns 0 or -ENOMEM.
 */
int summary_account_pause(struct summary *s, uint64_t from_ns, uint64_t to_ns);

/*
 * Close both accounts at END_NS, the end of the part, whose duration is known. After the last one,
 * the listeners get the segments that are still open. Returns 0, or -ENOMEM of a listener.
 */
void summary_account_end(struct summary *s, uint64_t end_ns);
int summary_account_finish(struct summary *s, uint64_t end_ns);

/* Adds a segment of the thread states, and passes it on to the listeners. USERDATA is the summary.
 */
int summary_account_segment(void *userdata, const struct thread_segment *segment);

/*
 * For callers that need each wakeup latency: whether EV, a switch that is not processed yet, serves
 * a wakeup; *RET_NS is the latency.
 */
bool summary_wakeup_latency(const struct summary *s, const struct event *ev, uint64_t *ret_ns);
