/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why threads were slow: the split of their time by cause, the worst instances with their critical
 * path, and a sentence about each (docs/architecture/why.md). Computed from events in one pass, in
 * file order.
 *
 * An instance is an interval of one thread: a wait, a call of a function, a span between two marks,
 * or the whole window. Its critical path is computed when it has ended and no late event can change
 * it (WHY_LATE_NS), or at the end.
 *
 * For each thread, running + runnable + blocked + unknown is exactly the window. The causes of
 * blocked_ns are disjoint. Sums of several threads are sums of thread time, not of elapsed time.
 *
 * Memory: the history (history.h) and, for each wait with details, a struct why_wait, at most
 * WHY_WAITS_MAX. If the history is full, instances that have ended are computed, and the older half
 * is forgotten. Longer instances then have a step PATH_FORGOTTEN. With the profile, this is at most
 * 2.5 GiB.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/event.h"
#include "reader/views/profile-names.h"
#include "reader/views/summary.h"
#include "reader/why/wait-cause.h"
#include "reader/why/why-path.h"

enum {
	WHY_WAITS_MAX = 1 << 20,     /* waits with details; of more, the shortest are dropped */
	WHY_INSTANCES_MAX = 1 << 20, /* calls or spans; further ones are only counted */
	WHY_HOLDERS = 8,             /* of a thread; the rest is one sum */
	WHY_WORST_MAX = 1000,
};

/* An event can be late by this time (docs/FXT-MAPPING.md, "Order of records"). */
#define WHY_LATE_NS UINT64_C(1000000000)

enum why_what {
	WHY_WAITS,  /* the waits of the selected threads */
	WHY_CALLS,  /* each call of `function` */
	WHY_SPANS,  /* from each mark `from_mark` to the next `to_mark` */
	WHY_WINDOW, /* the window itself, for each selected thread */
};

struct why_options {
	enum why_what what;
	/* Selects threads at the end, when all names are known. NULL = all */
	bool (*wants)(void *userdata, uint32_t tid);
	void *userdata;
	/* With WHY_CALLS: whether calls of FUNCTION are instances */
	bool (*wants_function)(void *userdata, const char *function);
	const char *from_mark, *to_mark; /* with WHY_SPANS; borrowed */
	uint64_t from_ns, to_ns;         /* [from, to); UINT64_MAX = without an end */
	bool absolute;                   /* times of the archive; otherwise since its beginning */
	uint64_t min_ns;                 /* shorter instances are counted, but are not shown */
	size_t n_worst;                  /* at most WHY_WORST_MAX */
	/*
	 * Threads were selected by name: waits for work (WAIT_IS_IDLE) are instances, too.
	 */
	bool with_idle;
	const struct profile_names *names; /* borrowed */
};

/* A thread that had a CPU for which others waited. */
struct why_holder {
	uint32_t tid; /* koid; 0 = idle; a pseudo-thread of interrupts; "other" */
	uint64_t ns;
};

/* The split of an interval of one thread. */
struct why_times {
	uint64_t total_ns;
	uint64_t running_ns;
	uint64_t interrupted_ns; /* of running_ns: interrupts; 0 if they were not recorded */
	uint64_t runnable_ns;
	uint64_t woken_ns;     /* of runnable_ns: after a wakeup; the rest after a preemption */
	uint64_t throttled_ns; /* of runnable_ns: its cgroup had no CPU time left */
	uint64_t idle_ns;      /* of runnable_ns: another CPU was idle */
	uint32_t idle_cpu;     /* the CPU that was idle for most of it */
	uint64_t blocked_ns[WAIT_CAUSES];
	uint64_t unknown_ns;                    /* losses, pauses, before its first event */
	uint64_t absent_ns;                     /* it did not exist */
	struct why_holder holders[WHY_HOLDERS]; /* while it was runnable; the longest first */
	size_t n_holders;
	uint64_t other_holders_ns;
};

/* A wait of a thread. */
struct why_wait {
	uint32_t tid;
	uint64_t from_ns, woken_ns, to_ns; /* left its CPU; was woken, 0 = not known; ran again */
	bool open;    /* it still waits at the end: woken_ns is 0, to_ns the end */
	bool earlier; /* it waited before from_ns */
	struct wait_verdict verdict;
	uint32_t waker; /* koid, 0 = unknown or idle; a pseudo-thread of interrupts */
	bool waker_known;
	uint32_t node;       /* of the profile: the stack with which it left its CPU; 0 = none */
	uint32_t waker_node; /* the same: the waker's at the wakeup; 0 = none */
	const char *syscall; /* of the view, as are the following; NULL = unknown */
	const char *file;    /* a path, or the kind of the object */
	const char *peer;    /* address and port */
	uint32_t owner;      /* of the lock at the begin of the wait; koid; 0 = unknown */
	uint32_t peer_pid;   /* the process at the other end; koid; 0 = unknown */
	uint64_t address;    /* of the futex; 0 = none */
};

/* The kinds of verdicts. Each has one sentence and one remedy (why-verdict.c). */
enum why_verdict_kind {
	WHY_NOTHING,    /* nothing dominates */
	WHY_RUNS,       /* it used its CPU */
	WHY_CPU_TAKEN,  /* others had the CPU */
	WHY_CPU_IDLE,   /* a CPU was idle meanwhile */
	WHY_INTERRUPTS, /* interrupts had the CPU */
	WHY_CPU_STOLEN, /* its CPU ran nothing, and no interrupt is known */
	WHY_QUOTA,      /* throttled */
	WHY_LOCK_HELD,  /* the lock's owner worked */
	WHY_INVERSION,  /* the owner was ready, and another thread had its CPU */
	WHY_DEADLOCK,   /* threads wait for each other */
	WHY_LOCK_OPEN,  /* a wait for a lock that nobody has released; the owner is unknown */
	WHY_SLOW_DISK,
	WHY_JOURNAL, /* fsync() and similar */
	WHY_FAULTS,
	WHY_MEMORY_LIMIT,
	WHY_REMOTE,  /* another machine answered late */
	WHY_PROGRAM, /* another program of this machine answered late */
	WHY_CHILD,
	WHY_SLEEP,     /* it chose to wait */
	WHY_HELD_BACK, /* stopped, frozen, traced */
	WHY_KERNEL_LOCK,
	WHY_IDLE,       /* it had no work */
	WHY_TOO_LITTLE, /* the archive has too little: the sentence says what to record */
	WHY_VERDICTS,
};

extern const char *const why_verdict_keys[WHY_VERDICTS];

enum why_certainty {
	WHY_CERTAIN,  /* facts of the kernel */
	WHY_PROBABLE, /* a part of the evidence is indirect, or up to 10 % of the time is unknown */
	WHY_POSSIBLE, /* more is unknown */
};

struct why_verdict {
	enum why_verdict_kind kind;
	enum why_certainty certainty;
	uint64_t ns;      /* of the instance that it explains */
	uint32_t culprit; /* the thread to look at; koid; 0 = none */
	uint32_t victim;  /* the thread that suffers: the instance's */
	char *text;       /* owned: one sentence */
	char *remedy;     /* owned: one sentence in the imperative; NULL = none */
};

struct why_instance {
	enum why_what what;
	uint32_t tid;
	uint64_t from_ns, to_ns;
	bool open;        /* it has not ended */
	const char *name; /* of the function or the mark; of the view; NULL = a wait, the window */
	struct why_times times;
	struct path path;
	/*
	 * The sums of the path: for each thread on it, its time by kind. Owned; the longest first.
	 */
	struct why_share {
		uint32_t tid;
		enum path_kind kind;
		uint64_t ns;
	} * shares;
	size_t n_shares;
	struct why_verdict verdict;
};

/* The sums of a selected thread. */
struct why_thread {
	uint32_t tid, pid;
	struct why_times times;
	uint64_t n_waits;
	uint64_t longest_ns; /* of its waits that are no wait for work, also an open one */
	bool waits;          /* blocked at the end of the window */
};

/* Parts of the archive on which the answer depends. */
struct why_sources {
	bool schedule;        /* scheduling records; without them, there is no answer */
	bool waits;           /* `offcpu`: stacks of waits */
	uint64_t min_wait_ns; /* its threshold */
	bool kernel_names;    /* the frames of the kernel have names */
	bool syscalls;        /* the system calls of waits */
	bool waker_stacks;
	bool interrupts; /* irq and softirq */
	bool throttle;   /* it was recorded whether threads were throttled */
	bool filtered;   /* other threads are not recorded */
	bool no_wakeups; /* wakeups were shed in a part of the window */
	uint64_t lost;   /* scheduling records */
	uint64_t paused_ns;
};

struct why {
	/* Results; valid after why_finish(), owned */
	uint64_t from_ns, to_ns;    /* the window, in the time of the archive */
	struct why_thread *threads; /* selected ones, those that lost most time first */
	size_t n_threads;
	struct why_times total;     /* of them; `holders` are those of all */
	struct why_instance *worst; /* the longest first */
	size_t n_worst;
	uint64_t n_instances;  /* also those that are not in `worst` */
	uint64_t instances_ns; /* their sum */
	uint64_t n_waits_dropped, n_instances_dropped;
	uint64_t forgotten_ns;      /* the part of the window before history_begin_ns() */
	struct why_verdict verdict; /* of all of it */
	struct why_sources sources;

	struct why_state *state; /* of why.c */
};

/*
 * SUMMARY and PROFILE get each event before the view does. They are borrowed, and so are the
 * pointers of OPTIONS. The summary passes segments to the view, its only listener. The profile need
 * not count anything: the view adds the stacks of waits (profile_keep_stack()). Returns 0 or
 * -ENOMEM.
 */
int why_new(struct why **ret, const struct why_options *options, struct summary *summary,
	    struct profile *profile);
struct why *why_free(struct why *w);
DEFINE_CLEANUP(struct why *, why_free)

/* Takes one event in. Returns 0 or -ENOMEM. */
int why_add(struct why *w, const struct event *ev);

/*
 * Computes all results. Once, after the last event and summary_finish(). Returns 0, -ENODATA if the
 * archive has no scheduling records (then `sources` is valid, and nothing else), or -ENOMEM.
 */
int why_finish(struct why *w);

/* The details of the wait of TID that began at FROM_NS; NULL = none. It belongs to W. */
const struct why_wait *why_find_wait(const struct why *w, uint32_t tid, uint64_t from_ns);

/*
 * The waits of selected threads that were still open at the end, the longest first, into a new
 * array (free() it) of pointers into W. Returns 0 or -ENOMEM.
 */
int why_open_waits(const struct why *w, const struct why_wait ***ret, size_t *ret_n);

/*
 * A cycle of owners among the open waits: threads that wait for each other. Writes the koids of its
 * threads, in the order of waiting, into a new array (free() it). Returns 1, 0 if there is none, or
 * -ENOMEM.
 */
int why_find_deadlock(const struct why *w, uint32_t **ret, size_t *ret_n);

/* The name of a thread for people: "redis-server (4242)". TO has room for all names. */
enum { WHY_NAME_MAX = 320 };
const char *why_thread_name(const struct why *w, uint32_t tid, char to[static WHY_NAME_MAX]);
