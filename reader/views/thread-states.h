/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of each thread over time, from scheduling events: consecutive segments, each in one
 * state. The summary, the latencies and `kymo why` take their times from here, so that they agree.
 *
 * Events come in file order. The rules for late records, losses and pauses are those of summary.h:
 *
 *	- a switch-out that arrives after the thread has been switched in elsewhere ends the earlier
 *	  run; the time between is a segment of its own
 *	- a wakeup of a thread that runs, or is runnable, changes nothing
 *	- a loss of scheduling records makes the state of each thread unknown, until its next event
 *	- the state is unknown in a pause, before the first event of a thread, and after a synthetic
 *	  switch-out
 *
 * The summary owns the only instance of a view, and tells it about pauses and about threads that
 * get another id. Other views listen to the summary (summary_listen(), which comes with this
 * module).
 *
 * The segments of a thread are passed on in the order of their time, without gaps and without
 * overlaps, from its first event on. Each is passed on when it ends, or slightly later: a run waits
 * for its end if the thread was switched in elsewhere meanwhile, and a state that a loss has ended
 * waits for the next event of its thread. Segments of different threads are in no order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/event.h"

enum thread_state {
	THREAD_UNKNOWN,
	THREAD_RUNNING,
	THREAD_RUNNABLE, /* woken, new or preempted; waits for a CPU */
	THREAD_BLOCKED,
	THREAD_DEAD,
	THREAD_STATES,
};

/* The reason why a segment ends. */
enum thread_state_end {
	THREAD_END_EVENT, /* the next state is known to begin then */
	/* Records were lost, or the archive begins or ends a slice there: the true end is unknown.
	 */
	THREAD_END_GAP,
	THREAD_END_OPEN, /* the recording has ended */
	/* The recording has paused. An unknown segment with this end is the pause itself. */
	THREAD_END_PAUSE,
};

struct thread_segment {
	uint32_t tid; /* koid; not 0, and not "other" */
	enum thread_state state;
	enum thread_state_end end;
	uint64_t from_ns, to_ns; /* CLOCK_BOOTTIME; from_ns <= to_ns */
	/*
	 * The same as the records have them. Only in damaged archives, where time goes back, they
	 * differ: segments can then overlap, and until_ns can be less than since_ns.
	 */
	uint64_t since_ns, until_ns;
	/*
	 * RUNNING: where it ran. RUNNABLE: the CPU in whose queue it was: that of the wakeup or the
	 * preemption; a migration begins another part. BLOCKED: where it ran last. Otherwise 0.
	 */
	uint32_t cpu;
	char letter;    /* BLOCKED: as sw.state, also 'S'; 0 = unknown */
	bool throttled; /* RUNNABLE: its cgroup had used up its CPU time when it left its CPU */
	bool preempted; /* RUNNABLE: it has lost its CPU; false: it was woken, or is new */
	bool earlier;   /* RUNNING: it was running before, and it is unknown since when */
	bool continued; /* the segment before was its first part: an exec, or a migration */
	bool split;     /* the next segment is its second part */
	/*
	 * BLOCKED, ended by a wakeup, and RUNNABLE after one: the waker, as wake.waker_tid. It is
	 * valid only if `woken` is set, since 0 is also the idle thread.
	 */
	uint32_t waker_tid;
	bool woken;
	/*
	 * The time of the wakeup, if the thread runs from the end of this segment on because of it;
	 * otherwise 0. It is before from_ns if the wakeup was late in the file.
	 */
	uint64_t served_ns;
	void *owner; /* for the owner of the thread states: thread_states_owner() */
};

/* The present state of a thread. */
struct thread_now {
	enum thread_state state;
	uint32_t cpu;       /* where it runs, or ran last */
	uint32_t queue_cpu; /* RUNNABLE: as in a segment */
	uint64_t since_ns;  /* begin of the state */
	uint64_t woken_ns;  /* its wakeup, which no run has followed yet; 0 = none */
	bool known;         /* no scheduling records were lost since */
};

/* Takes a segment. Returns 0 or -ENOMEM, which ends the call that has passed it on. */
typedef int (*thread_states_fn)(void *userdata, const struct thread_segment *segment);

struct thread_states;

/* FN gets all segments. Returns 0 or -ENOMEM. */
int thread_states_new(struct thread_states **ret, thread_states_fn fn, void *userdata);
struct thread_states *thread_states_free(struct thread_states *s);
DEFINE_CLEANUP(struct thread_states *, thread_states_free)

/*
 * Takes one event in: switches, wakeups, migrations, losses and damage. Other kinds are ignored.
 * Returns 0 or a negative errno of FN, or -ENOMEM.
 */
int thread_states_add(struct thread_states *s, const struct event *ev);

/* Nothing is recorded from FROM_NS to TO_NS. Call it at the end of the pause. Returns as above. */
int thread_states_pause(struct thread_states *s, uint64_t from_ns, uint64_t to_ns);

/* A thread that gets another id: an exec of a thread that is not the first of its process. */
struct thread_rename {
	uint32_t from_tid, to_tid;
	uint64_t at_ns;
	bool runs; /* the thread is known to run; otherwise the state of TO_TID does not change */
};

/* Ends FROM_TID, and continues its run as TO_TID. Returns as above. */
int thread_states_rename(struct thread_states *s, const struct thread_rename *rename);

/*
 * Ends the open segment of thread TID at AT_NS, and begins one in the same state: its process has
 * begun another program. Nothing happens if the segment has begun later, or if records were lost in
 * it. Returns as above.
 */
int thread_states_split(struct thread_states *s, uint32_t tid, uint64_t at_ns);

/*
 * The owner's pointer for thread TID (not 0): NULL until the owner sets it. All segments of the
 * thread have it. Returns NULL without memory. It is valid until the thread is forgotten.
 */
void **thread_states_owner(struct thread_states *s, uint32_t tid);

/* Fills *RET with the state of thread TID. Returns false if it has had no event. */
bool thread_states_get(const struct thread_states *s, uint32_t tid, struct thread_now *ret);

/* The state of the outgoing thread after EV, a switch. */
enum thread_state thread_states_after(const struct event *ev);

/*
 * Passes all open segments to FN as if they ended at END_NS (THREAD_END_OPEN), and keeps them open.
 * Segments that begin later are left out. Returns 0, or a negative errno of FN.
 */
int thread_states_peek(const struct thread_states *s, uint64_t end_ns, thread_states_fn fn,
		       void *userdata);

/* Passes on all open segments up to END_NS. Once, after the last event. Returns as above. */
int thread_states_finish(struct thread_states *s, uint64_t end_ns);

/* Forgets thread TID. For recordings in progress. */
void thread_states_forget(struct thread_states *s, uint32_t tid);
