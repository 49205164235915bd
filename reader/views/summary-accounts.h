/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each switch counts in two accounts. The account of its CPU has the time in which threads ran. It
 * is exact, since the records of one CPU are in order. The account of its thread has the time
 * between runs, from switches and wakeups on different CPUs, some of which can be slightly late. It
 * is the sum of the segments of thread-states.h.
 */
#pragma once

#include "reader/views/summary-state.h"

/* Handle EVENT_SWITCH and EVENT_WAKE. Return 0 or -ENOMEM. */
int summary_account_switch(struct summary *s, const struct event *ev);
int summary_account_wake(struct summary *s, const struct event *ev);

/* From TS_NS on, the running thread OLD_TID has the id TID. Returns 0 or -ENOMEM. */
int summary_account_new_tid(struct summary *s, uint32_t old_tid, uint32_t tid, uint64_t ts_ns);

/* Adds the time of T up to TS_NS to both accounts. Returns 0 or -ENOMEM. */
int summary_account_until(struct summary *s, struct summary_thread *t, uint64_t ts_ns);

/*
 * Closes both accounts at FROM_NS, the begin of a pause. From TO_NS on, its end, all states are
 * unknown. Returns 0 or -ENOMEM.
 */
int summary_account_pause(struct summary *s, uint64_t from_ns, uint64_t to_ns);

/*
 * Close both accounts at END_NS: at the end of a part, or (finish) after the last part.
 * summary_account_finish() also passes the open segments to the listeners, and returns 0, or
 * -ENOMEM of a listener.
 */
void summary_account_end(struct summary *s, uint64_t end_ns);
int summary_account_finish(struct summary *s, uint64_t end_ns);

/* A thread_states_fn: adds SEGMENT to the account of its thread, and passes it on to the listeners.
 * USERDATA is the summary. */
int summary_account_segment(void *userdata, const struct thread_segment *segment);

/*
 * Returns true if EV, a switch that was not added yet, runs a thread after a wakeup; *RET_NS is the
 * latency. For callers that need each latency.
 */
bool summary_wakeup_latency(const struct summary *s, const struct event *ev, uint64_t *ret_ns);
