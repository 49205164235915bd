/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The critical path of a thread in an interval: at each moment, the thread or source on which its
 * progress depended (docs/architecture/why.md). It is computed from the history and the
 * path_sources alone.
 *
 * Definition. owner(T, t), for a thread T and a moment t:
 *
 *	- T runs, or waits for a CPU:                     (T, that state)
 *	- T is blocked in [b, w), and a thread W, which
 *	  ran at w, woke it:                              owner(W, t)
 *	- T is blocked in [b, w), and a thread S that
 *	  serves softirqs woke it: while S was ready,
 *	  before it ran at w,                             (S, that state)
 *	- T is blocked, its waker is unknown, or it was
 *	  not woken until the end, and O, which is not
 *	  on the way yet, had its lock:                   owner(O, t)
 *	- T is blocked, and nothing leads further:        (T, the source that ended it)
 *	- T did not exist yet, and C has created it:      owner(C, t)
 *	- T is dead:                                      (T, unknown)
 *	- the state of T is unknown:                      (T, unknown)
 *
 * "W ran at w" means that W was running in its segment that contains the moment before w, or ends
 * at w. If W was not, the archive is damaged, or records are late; then the path does not follow W.
 *
 * The path of T over [from, to) is the sequence of owners, with equal neighbours joined. Its steps
 * cover the interval without gaps and overlaps. So the sum of the steps' times is exactly the
 * length of the interval.
 *
 * The computation goes backwards from TO. The path follows the waker of a wait only inside of this
 * wait, and the waker runs at its end. So the waits of deeper levels end earlier. The owner of a
 * lock need not run at the end of the wait, but a thread that is already on the way is not followed
 * as an owner. So the computation terminates. It visits each segment of a thread at most once for
 * each wait that leads to the thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reader/why/cpu-use.h"
#include "reader/why/history.h"
#include "reader/why/idle-time.h"
#include "reader/why/wait-cause.h"
#include "reader/why/why-threads.h"

enum {
	/* Deeper waits are leaves (PATH_TOO_DEEP). */
	WHY_PATH_DEPTH_MAX = 64,
	/* Segments (runs, and times when it was ready) of a thread that serves softirqs, before a
	 * wakeup. */
	WHY_PATH_SOFTIRQ_PARTS = 8,
	/*
	 * Steps of a path. Beyond this number, each step that is shorter than 1/1000 of the
	 * interval becomes a part of the step after it, so that at most 1001 remain. The shares
	 * stay exact.
	 */
	WHY_PATH_STEPS_MAX = 4096,
	/* Shares of a path, and pairs of a ready thread and the holder of its CPU. The time of
	 * further shares is in other_ns. */
	WHY_PATH_SHARES_MAX = 4096,
	/* Segments to visit for one path; beyond this number, the rest of the path is
	 * PATH_FORGOTTEN. */
	WHY_PATH_VISITS_MAX = 1 << 22,
	/* Segments to visit for all paths of an answer; a visit of all takes about a minute. */
	WHY_PATHS_VISITS_MAX = 1 << 25,
};

enum path_kind {
	PATH_RUNNING,
	PATH_RUNNABLE,  /* ready; `holder` had the CPU for a larger part of the step than others */
	PATH_TIMER,     /* a timer has ended the wait */
	PATH_DISK,      /* a block device */
	PATH_MEMORY,    /* likewise, since memory is short: reclaim, swap */
	PATH_NETWORK,   /* a packet that another machine has sent */
	PATH_DEVICE,    /* another device */
	PATH_INTERRUPT, /* an interrupt, whose source is unknown */
	PATH_OPEN,      /* the wait has not ended at the end of the recording */
	PATH_NO_WAKER,  /* woken, but the waker was not recorded */
	PATH_FILTERED,  /* woken by a thread that the filter does not select */
	PATH_UNKNOWN,   /* the state of the thread is unknown: a loss, the first moment */
	PATH_PAUSED,    /* likewise: the recording has paused */
	PATH_FORGOTTEN, /* before the begin of the history, or a limit was reached */
	PATH_TOO_DEEP,
	PATH_KINDS,
};

/* The keys of path kinds in JSON. */
extern const char *const path_kind_keys[PATH_KINDS];

struct path_step {
	uint64_t from_ns, to_ns;
	uint32_t tid; /* the owner's thread, koid */
	enum path_kind kind;
	uint32_t cpu;       /* of the thread if RUNNING or RUNNABLE, otherwise of the interrupt */
	uint32_t holder;    /* RUNNABLE: the thread that had the CPU longest; 0 = idle */
	uint64_t holder_ns; /* its time in the step */
	uint64_t interrupted_ns; /* RUNNING, RUNNABLE: time of interrupts on its CPU in the step */
	uint64_t idle_ns;        /* RUNNABLE: time in the step in which another CPU was idle */
	/* The step is a part of the wait of `tid` that began at this time; 0 = RUNNING, RUNNABLE.
	 * `tid` and wait_ns identify the details of the wait. */
	uint64_t wait_ns;
	/*
	 * The thread from whose wait the path came here: `tid` woke (or created) it at to_ns,
	 * unless has_lock is set. 0 = the path did not change the thread here.
	 */
	uint32_t via;
	uint32_t depth; /* levels (waits, locks, creators) between the path's thread and `tid` */
	/* `via` waited for a lock that `tid` had, and it is not known whether `tid` woke `via`. */
	bool has_lock;
	bool own_softirq; /* no code sets it */
};

/* The way from a step to `via`. */
enum path_link {
	PATH_LINK_NONE,
	PATH_LINK_WAKE, /* the step ends with the wakeup (or creation) of `via` */
	PATH_LINK_LOCK, /* `via` waited for a lock of this thread */
};

static inline enum path_link path_step_link(const struct path_step *s)
{
	return s->via == 0 ? PATH_LINK_NONE : s->has_lock ? PATH_LINK_LOCK : PATH_LINK_WAKE;
}

/* The time of a thread on a path in steps of one kind. */
struct path_share {
	uint32_t tid;
	enum path_kind kind;
	uint64_t ns;
};

/* The time for which HOLDER had the CPU of TID, in the steps in which its share was the largest. */
struct path_held {
	uint32_t tid, holder;
	uint64_t ns;
};

struct path {
	struct path_step *steps; /* owned; in order of time */
	size_t n_steps, room_steps;
	/* Sums of all steps, also of steps that were joined with others; the longest first;
	 * owned */
	struct path_share *shares;
	size_t n_shares;
	struct path_held *held;
	size_t n_held;
	uint64_t other_ns; /* in no share: WHY_PATH_SHARES_MAX */
	uint64_t n_joined; /* number of steps that were joined with others (WHY_PATH_STEPS_MAX) */
	uint64_t n_visits;
	bool cut; /* a limit was reached: a part of the interval is not explained */
};

/* All zeroes is an empty one. */
void path_deinit(struct path *p);

/* Facts that the history lacks: stacks, intervals, owners of locks. A function can be NULL. */
struct path_sources {
	/* Finds the source of the interrupt that ended the wait of TID at WOKEN_NS. */
	enum wait_source (*find)(void *userdata, uint32_t tid, uint64_t woken_ns);
	/* Finds the role of a waker. If NULL, the koids show it, which holds for one machine
	 * only. */
	enum why_role (*role)(void *userdata, uint32_t koid);
	/* Finds the owner of the lock for which TID waited from FROM_NS on; koid; 0 = unknown. */
	uint32_t (*owner)(void *userdata, uint32_t tid, uint64_t from_ns);
	void *userdata;
	const struct idle_time *idle; /* for idle_ns; borrowed; can be NULL */
	struct cpu_budget *budget;    /* of slices; likewise */
	struct cpu_budget *visits;    /* of segments, for all paths; likewise */
};

/*
 * Computes the path of thread TID over [FROM_NS, TO_NS) into RET, which is empty. SOURCES may be
 * NULL. Returns 0 or -ENOMEM.
 */
int path_compute(const struct history *h, const struct path_sources *sources, uint32_t tid,
		 uint64_t from_ns, uint64_t to_ns, struct path *ret);
