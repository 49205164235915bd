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
 * The summary owns the thread states of a reader, and tells them about pauses and about threads
 * that get another id. Other views get the segments by listening to the summary (summary_listen()).
 *
 * The segments of a thread are passed on in the order of their time, without gaps and without
 * overlaps, from its first event on. A segment is passed on when it ends, or slightly later. If a
 * thread is switched in elsewhere before its switch-out, its run is held until the switch-out
 * follows. A state in which records were lost is held until the next event of its thread. Segments
 * of different threads are in no order.
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
	THREAD_END_EVENT, /* the event that begins the next state is known */
	/* The true end is unknown: records were lost, or a synthetic switch begins or ends a run
	 * there. */
	THREAD_END_GAP,
	THREAD_END_OPEN, /* the recording has ended */
	/* The recording has paused. If the state is unknown, the segment is the pause itself. */
	THREAD_END_PAUSE,
};

struct thread_segment {
	uint32_t tid; /* koid; not 0, and not "other" */
	enum thread_state state;
	enum thread_state_end end;
	uint64_t from_ns, to_ns; /* CLOCK_BOOTTIME; from_ns <= to_ns */
	/*
	 * Begin and end as in the records. They differ from the times above only in damaged
	 * archives, where time goes back: then segments can overlap, and until_ns can be less than
	 * since_ns.
	 */
	uint64_t since_ns, until_ns;
	/*
	 * RUNNING: where it ran. RUNNABLE: for which CPU it waited (that of the wakeup, preemption
	 * or migration; a migration begins another part). BLOCKED: where it ran last. Otherwise 0.
	 */
	uint32_t cpu;
	char letter;    /* BLOCKED: as sw.state, also 'S'; 0 = unknown */
	bool throttled; /* RUNNABLE: its cgroup had no CPU time left when it left its CPU */
	bool preempted; /* RUNNABLE: true = preempted; false = woken, or new */
	bool earlier;   /* RUNNING: it ran before from_ns, since an unknown time */
	bool continued; /* the segment before is the first part of this state */
	bool split;     /* the next segment is its second part */
	/*
	 * BLOCKED that a wakeup ended, and RUNNABLE after a wakeup: the waker, as wake.waker_tid.
	 * Valid only if `woken` is set, since 0 is also the idle thread.
	 */
	uint32_t waker_tid;
	bool woken;
	/*
	 * If a run begins at the end of this segment, and serves a wakeup: the time of this wakeup;
	 * otherwise 0. It is before from_ns if the record of the wakeup was late in the file.
	 */
	uint64_t served_ns;
	void *owner; /* the pointer that the owner has set: thread_states_owner() */
};

/* The present state of a thread. */
struct thread_now {
	enum thread_state state;
	uint32_t cpu;       /* where it runs, or ran last */
	uint32_t queue_cpu; /* RUNNABLE: as in a segment */
	uint64_t since_ns;  /* begin of the state */
	uint64_t woken_ns;  /* time of a wakeup that no run has followed yet; 0 = none */
	bool known;         /* no scheduling records were lost since */
};

/* Takes a segment. Returns 0 or -ENOMEM; an error ends the call that passes the segment on. */
typedef int (*thread_states_fn)(void *userdata, const struct thread_segment *segment);

struct thread_states;

/* Creates an empty instance. FN gets all segments. Returns 0 or -ENOMEM. */
int thread_states_new(struct thread_states **ret, thread_states_fn fn, void *userdata);
struct thread_states *thread_states_free(struct thread_states *s);
DEFINE_CLEANUP(struct thread_states *, thread_states_free)

/*
 * Adds an event: a switch, wakeup, migration, loss or damage. Other kinds are ignored. Returns 0,
 * -ENOMEM, or a negative errno of FN.
 */
int thread_states_add(struct thread_states *s, const struct event *ev);

/* Notes, at its end, a pause from FROM_NS to TO_NS. Returns as thread_states_add() does. */
int thread_states_pause(struct thread_states *s, uint64_t from_ns, uint64_t to_ns);

/* A thread gets another id: a thread that is not the first of its process has called exec. */
struct thread_rename {
	uint32_t from_tid, to_tid;
	uint64_t at_ns;
	bool runs; /* the thread is known to run; if not, TO_TID keeps its state */
};

/* Ends FROM_TID, and continues its run as TO_TID. Returns as thread_states_add() does. */
int thread_states_rename(struct thread_states *s, const struct thread_rename *rename);

/*
 * Ends the open segment of thread TID at AT_NS, when its process begins another program, and begins
 * one in the same state. Nothing happens if the segment began later than AT_NS, or if records were
 * lost in it. Returns as thread_states_add() does.
 */
int thread_states_split(struct thread_states *s, uint32_t tid, uint64_t at_ns);

/*
 * Returns the place for the owner's pointer of thread TID (not 0), which is NULL until the owner
 * sets it. All segments of the thread have this pointer. The place is valid until the thread is
 * forgotten. Returns NULL if there is no memory.
 */
void **thread_states_owner(struct thread_states *s, uint32_t tid);

/* Fills *RET with the state of thread TID. Returns false if the thread has had no event. */
bool thread_states_get(const struct thread_states *s, uint32_t tid, struct thread_now *ret);

/* Returns the state of the outgoing thread after EV, a switch. */
enum thread_state thread_states_after(const struct event *ev);

/*
 * Passes all open segments to FN as if they ended at END_NS (THREAD_END_OPEN), and keeps them open.
 * Segments that begin later are left out. Returns 0, or a negative errno of FN.
 */
int thread_states_peek(const struct thread_states *s, uint64_t end_ns, thread_states_fn fn,
		       void *userdata);

/* Passes on all open segments up to END_NS. Must be called once, after the last event. Returns as
 * thread_states_add() does. */
int thread_states_finish(struct thread_states *s, uint64_t end_ns);

/* Forgets thread TID. For recordings in progress. */
void thread_states_forget(struct thread_states *s, uint32_t tid);
