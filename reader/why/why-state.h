/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The private state of why.h, shared by the files why*.c.
 */
#pragma once

#include "reader/why/idle-time.h"
#include "reader/why/why-faults.h"
#include "reader/why/why-requests.h"
#include "reader/why/why.h"

struct why_state {
	struct why_options options;
	struct summary *summary; /* borrowed */
	struct history *history;
	struct why_waits waits;
	struct why_requests requests;
	struct why_faults faults;
	struct why_reclaims reclaims;
	struct why_spans spans;
	struct idle_time idle;
	struct cpu_use use;
	struct cpu_budget budget; /* of slices */
	struct cpu_budget visits; /* of segments, for all paths */
	struct table holders;     /* of all selected threads: koid + 1 -> struct cpu_share, owned */
	struct table thread_holders; /* like `holders`, of the thread being computed */
	bool many_threads;           /* several threads are selected */
	size_t n_splits;             /* of calls, and of intervals between marks */
	uint64_t last_ns;            /* the last time in the history */
	size_t room_open_waits;
};

/* Splits the time of TID in [FROM_NS, TO_NS) into RET, which is empty. Returns 0 or -ENOMEM. */
int why_split_thread(struct why *w, uint32_t tid, uint64_t from_ns, uint64_t to_ns,
		     struct why_times *ret);

/* ---- why-instances.c ---- */

/*
 * Finds the instances of T, and keeps the longest of all threads in W->worst. Of calls and marks,
 * sums their times up in T, and their holders in thread_holders. Returns 0 or -ENOMEM.
 */
/* The owner of the lock for which TID waits at the end of the window; koid; 0 = unknown, or no
 * wait. */
uint32_t why_instances_open_owner(struct why *w, uint32_t tid);

/*
 * The number of threads in the circle with TID in which each waits for a lock of the next at the
 * end of the window; 0 = TID is in no circle.
 */
unsigned why_instances_deadlock(struct why *w, uint32_t tid);

int why_instances_find(struct why *w, struct why_thread *t);

/* Finds the longest wait in I, its cause, and its waker. Returns 0 or -ENOMEM. */
int why_instances_find_wait(struct why *w, struct why_instance *i);

/* The time of T in which the thread did something, or waited for anything but work. */
uint64_t why_instances_busy_ns(const struct why_times *t);

/* Notes the wait of T that is open at the end of the window, if any. Returns 0 or -ENOMEM. */
int why_instances_find_open(struct why *w, const struct why_thread *t);

/* Sorts the open waits, and keeps the first WHY_OPEN_WAITS_MAX. Call it after the last thread. */
void why_instances_finish(struct why *w);

/* True if the instances are those of why-spans.h. */
static inline bool why_has_spans(const struct why *w)
{
	return w->state->options.what == WHY_INSTANCE_CALL ||
	       w->state->options.what == WHY_INSTANCE_BETWEEN;
}

/* Adds the holders of CPUs in the last split to HOLDERS. Returns 0 or -ENOMEM. */
int why_add_holders(struct why_state *s, struct table *holders);
