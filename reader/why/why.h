/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why threads were slow: the split of their time by cause, the worst instances with their critical
 * path, and a sentence about each (docs/architecture/why.md). Computed from events in one pass, in
 * file order.
 *
 * An instance is an interval of one thread: the time from leaving its CPU until it runs again, the
 * whole window, a call, or the time between two marks. The critical paths of the worst instances
 * are computed at the end.
 *
 * For each thread, running + runnable + blocked + unknown + absent is exactly the window. The
 * causes of blocked_ns are disjoint. Sums of several threads are sums of thread time, not of
 * elapsed time.
 *
 * Memory: the history (history.h), for each wait with details a struct why_wait, at most
 * WHY_WAITS_MAX, and for each call a struct why_span, at most WHY_SPANS_MAX. If the history is
 * full, its older half is forgotten, and the window begins after that half (forgotten_ns). All this
 * and the profile take at most 2.5 GiB.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/event.h"
#include "reader/views/latency.h"
#include "reader/views/profile-names.h"
#include "reader/views/summary.h"
#include "reader/why/why-faults.h"
#include "reader/why/history.h"
#include "reader/why/why-path.h"
#include "reader/why/why-spans.h"
#include "reader/why/why-split.h"
#include "reader/why/why-verdict.h"
#include "reader/why/why-waits.h"

enum {
	WHY_WORST_MAX = 1000,
	/* Waits that are open at the end; those beyond this number are only counted. */
	WHY_OPEN_WAITS_MAX = 1000,
	/* Calls, or intervals between marks, of all threads; those beyond it are only counted. */
	WHY_SPLITS_MAX = 1 << 22,
};

enum why_what {
	WHY_INSTANCE_WAIT,   /* from leaving its CPU until it runs again */
	WHY_INSTANCE_WINDOW, /* the window itself, for each selected thread */
	WHY_INSTANCE_CALL,   /* a call of options.span */
	/* For each thread: from a mark of options.between_from to the next mark of between_to. */
	WHY_INSTANCE_BETWEEN,
	WHY_INSTANCES,
};

extern const char *const why_what_keys[WHY_INSTANCES];

struct why_options {
	enum why_what what;
	/* Selects threads after the last event, when all names are known. NULL = all */
	bool (*wants)(void *userdata, uint32_t tid);
	void *userdata;
	uint64_t from_ns, to_ns; /* [from, to); UINT64_MAX = without an end */
	bool absolute;           /* the times are the archive's, not relative to its begin */
	uint64_t min_ns;         /* shorter instances are counted, but are not shown */
	size_t n_worst;          /* at most WHY_WORST_MAX */
	/*
	 * Threads were selected by name: waits for work (WAIT_IS_IDLE) are instances, too. If
	 * several threads were selected, waits for work that no thread has ended come last.
	 */
	bool with_idle;
	/* Patterns (why-spans.h) for WHY_INSTANCE_CALL and WHY_INSTANCE_BETWEEN; borrowed. */
	const char *span, *between_from, *between_to;
	const struct profile_names *names; /* borrowed; can be NULL */
	/* Limits for tests; NULL or 0 = the usual ones */
	const struct history_limits *limits;
	uint64_t max_slices, max_visits;
	size_t max_splits;
};

struct why_instance {
	enum why_what what;
	uint32_t tid;
	uint64_t from_ns, to_ns;
	bool open;        /* it has not ended */
	bool deadlocked;  /* ... and waits for itself, by way of other threads' locks */
	bool partial;     /* the begin or end is unknown, or outside of the window */
	bool for_work;    /* it comes behind the others: see with_idle */
	const char *name; /* the function, or the marks; borrowed; NULL = none */
	struct wait_verdict verdict_of_wait; /* of its longest wait; WAIT_UNKNOWN = no wait */
	uint64_t wait_ns;                    /* begin of this wait; 0 = none */
	bool wait_open;                      /* this wait has not ended */
	uint32_t waker;                      /* the thread that ended it; 0 = none, or no thread */
	/* The other CPU that was idle longest while the thread was ready, and that time; 0 =
	 * none. */
	uint32_t idle_cpu;
	uint64_t idle_cpu_ns;
	const struct why_wait *quota; /* a time for which the thread was throttled; NULL = none */
	bool has_faults;
	/* The major page faults of faults_tid: this thread, or one for which it waited. */
	struct why_faults_sum faults; /* if has_faults */
	uint32_t faults_tid;
	struct why_times times;
	struct path path;
	struct why_verdict verdict;
};

/* The sums of a selected thread. */
struct why_thread {
	uint32_t tid, pid;
	struct why_times times; /* of the window; for calls and marks, of its instances */
	uint64_t n_waits;       /* number of its instances */
	uint64_t waits_ns;      /* their sum */
	uint64_t longest_ns;    /* of them, also an open one */
	bool waits;             /* blocked at the end of the window */
};

/* A wait that is open at the end of the window. */
struct why_open_wait {
	uint32_t tid;
	uint64_t from_ns;
	uint64_t ns;  /* so far */
	bool earlier; /* it began before from_ns */
	/*
	 * The number of threads in a deadlock with this one: each waits for a lock of the next one,
	 * the last for a lock of the first. 0 = no deadlock.
	 */
	unsigned n_deadlocked;
	struct wait_verdict verdict;
};

/* The records in the archive on which the answer depends. */
struct why_sources {
	bool schedule;        /* there are scheduling records; without them, there is no answer */
	bool waits;           /* `offcpu`: stacks of waits */
	uint64_t min_wait_ns; /* its threshold */
	bool kernel_frames;   /* stacks have frames of the kernel */
	bool kernel_names;    /* ... and they have names */
	bool interrupts;      /* irq or softirq */
	bool filtered;        /* other threads are not recorded */
	bool no_wakeups;      /* the recorder left out wakeups for a part of the time */
	/*
	 * Wakeups whose scheduling record is missing, but which `woken` of a time off CPU shows.
	 * The summary does not know them: it counts the time from the wakeup to the run as blocked,
	 * or after a loss as unknown.
	 */
	uint64_t filled_wakeups;
	uint64_t lost; /* scheduling records */
	uint64_t paused_ns;
};

struct why {
	/* Results; valid after why_finish(), owned */
	uint64_t from_ns, to_ns;    /* the window, in the time of the archive */
	struct why_thread *threads; /* the selected ones; the one with most lost time is first */
	size_t n_threads;
	struct why_times total;   /* sums of the threads; `holders` are merged from all of them */
	struct latency durations; /* durations of the instances whose begin and end are known */
	uint64_t n_partial;       /* the other instances */
	/*
	 * Deadlocks first, then the longest waits. Waits for work are left out, unless
	 * options.with_idle is set.
	 */
	struct why_open_wait *open_waits;
	size_t n_open_waits;
	uint64_t n_open_waits_all; /* also those beyond WHY_OPEN_WAITS_MAX */
	/* Deadlocks first, then the longest instances; those with for_work are the last ones. */
	struct why_instance *worst;
	size_t n_worst;
	uint64_t n_instances;  /* also those that are not in `worst` */
	uint64_t instances_ns; /* their sum */
	uint64_t n_short;      /* of n_instances: shorter than min_ns */
	uint64_t n_waits_dropped;
	uint64_t n_spans_dropped; /* calls, marks or intervals between marks, beyond the limits */
	uint64_t forgotten_ns;    /* the part of the window before history_begin_ns() */
	bool holders_cut;         /* the holders of CPUs are known for a part of the time only */
	bool paths_cut;           /* a limit has cut a path of `worst` */
	bool paths_ended; /* ... the limit of all paths: the shorter instances have no path */
	struct why_sources sources;

	struct why_state *state; /* of why.c */
};

/*
 * The caller gives each event to SUMMARY and PROFILE before the view. Both are borrowed, and so are
 * the pointers of OPTIONS. The view is a listener of the summary. The profile need not count
 * samples: the view adds the stacks of waits itself (profile_keep_stack()). Returns 0 or -ENOMEM.
 */
int why_new(struct why **ret, const struct why_options *options, struct summary *summary,
	    struct profile *profile);
struct why *why_free(struct why *w);
DEFINE_CLEANUP(struct why *, why_free)

/* Adds an event. Returns 0 or -ENOMEM. */
int why_add(struct why *w, const struct event *ev);

/*
 * Computes all results. Call it once, after the last event and summary_finish(). Returns 0,
 * -ENOMEM, or -ENODATA if the archive has no scheduling records (then only `sources` is valid).
 */
int why_finish(struct why *w);

/* The details of the wait of TID that began at FROM_NS; NULL = none. It belongs to W. */
const struct why_wait *why_find_wait(const struct why *w, uint32_t tid, uint64_t from_ns);

/*
 * Writes at most MAX functions of the stack at NODE, of a wait or its waker, to TO, which has ROOM
 * bytes (profile_names_stack()). Returns TO.
 */
const char *why_stack_text(char *to, size_t room, const struct why *w, uint32_t node, unsigned max);

/* The calls or marks, for messages; the list is valid after why_finish(). They belong to W. */
const struct why_spans *why_get_spans(const struct why *w);

/* The times of reclaim, for messages. They belong to W. */
const struct why_reclaims *why_get_reclaims(const struct why *w);

/* The cause of the wait of TID that began at FROM_NS. Returns 0 or -ENOMEM. */
int why_find_cause(const struct why *w, uint32_t tid, uint64_t from_ns, struct wait_verdict *ret);
