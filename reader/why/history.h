/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The schedule of a recording in memory, for questions about the past: the state of a thread at a
 * time, its waker, and the thread on a CPU. Made from the segments of thread-states.h.
 *
 * A segment takes 16 bytes and ends where the next one of its thread begins. A slice of a CPU takes
 * 16 bytes, too. Segments without a length are not kept. A recording with 200,000 switches per
 * second needs about 13 MB per second.
 *
 * Memory is bounded. At HISTORY_SEGMENTS_MAX segments (512 MiB), HISTORY_SLICES_MAX slices (256
 * MiB) or HISTORY_INTERRUPTS_MAX interrupts (256 MiB), the owner must forget the older part
 * (history_is_full(), history_forget()). Before history_begin_ns(), everything is unknown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "reader/views/thread-states.h"

enum {
	HISTORY_SEGMENTS_MAX = 1 << 25,
	HISTORY_SLICES_MAX = 1 << 24,
	HISTORY_INTERRUPTS_MAX = 1 << 23,
};

/* A segment as history_find() returns it. */
struct history_span {
	struct thread_segment segment;
	/* The thread did not exist before: its first segment. 0 = not known, or it did. */
	uint32_t creator_tid;
};

/* A part of the time of a CPU. */
struct history_slice {
	uint64_t from_ns, to_ns;
	uint32_t tid; /* koid; 0 = idle; "other" = not selected by the filter */
	bool known;   /* false: before its first switch, in a loss, in a pause */
};

/* Smaller limits, for tests; 0 = the constants. */
struct history_limits {
	size_t segments, slices, interrupts;
};

struct history;

/* LIMITS can be NULL. Returns 0 or -ENOMEM. */
int history_new(struct history **ret, const struct history_limits *limits);
struct history *history_free(struct history *h);
DEFINE_CLEANUP(struct history *, history_free)

/*
 * A thread_states_fn; USERDATA is the struct history. Returns 0, -ENOMEM, or -ENOBUFS if the
 * history is full; then nothing was added.
 */
int history_add_segment(void *userdata, const struct thread_segment *segment);

/*
 * Takes in the slices of CPUs from switches, the creation of threads from forks, and intervals of
 * interrupts. Other events are ignored. Returns as above.
 */
int history_add(struct history *h, const struct event *ev);

/*
 * Nothing follows: ends open slices at END_NS. (The owner has finished the thread states before.)
 */
void history_finish(struct history *h, uint64_t end_ns);

/* A wait that began before the first segment of its thread. */
struct history_earlier {
	uint32_t tid;
	uint64_t from_ns;
	uint64_t to_ns; /* the thread ran again; UINT64_MAX = not until the end */
	char letter;    /* its state */
};

/*
 * Adds a wait. It lasts until the first segment of the thread, but not longer than it says: the
 * state is unknown in between. Once for each thread, after history_finish(). Takes time
 * proportional to the segments of the thread. The limits do not apply. Returns 0 or -ENOMEM.
 */
int history_add_earlier(struct history *h, const struct history_earlier *wait);

/* A time off CPU whose details are known from other records than those of the schedule. */
struct history_wakeup {
	uint32_t tid;
	uint32_t waker_tid; /* koid; 0 = an interrupt, or unknown */
	uint64_t from_ns;   /* it left its CPU */
	uint64_t woken_ns;  /* it was woken: from_ns < woken_ns <= to_ns */
	uint64_t to_ns;     /* it ran again */
	bool used;          /* out */
};

/*
 * Whether the history lacks the record of the wakeup W: it has the wait, but the wait ends without
 * a wakeup, or scheduling records were lost in it.
 */
bool history_lacks_wakeup(const struct history *h, const struct history_wakeup *w);

/*
 * Divides each wait of LIST, which the history lacks, at its wakeup: the thread was blocked until
 * then, and ready from then on. Where records were lost, this replaces the unknown state until
 * to_ns. LIST has N elements, in order of threads, and then of time. The limits do not apply.
 * Returns 0 or -ENOMEM.
 */
int history_add_wakeups(struct history *h, struct history_wakeup *list, size_t n);

/*
 * The thread TID, which left its CPU at FROM_NS and could continue, was throttled. Its time until
 * it ran again counts as such.
 */
void history_set_throttled(struct history *h, uint32_t tid, uint64_t from_ns);

/*
 * Whether less than a hundredth of the room is left. The owner then forgets a part before the next
 * event.
 */
bool history_is_full(const struct history *h);

/* Forgets what ended before BEFORE_NS, and returns its memory. */
void history_forget(struct history *h, uint64_t before_ns);

/* The time before which everything was forgotten; 0 = nothing was. */
uint64_t history_begin_ns(const struct history *h);

/*
 * The segment of thread TID that contains the moment just before AT_NS: from < AT_NS <= to. Returns
 * false if there is none; then the state is unknown, and RET is unchanged. Takes time logarithmic
 * in the number of segments of the thread.
 */
bool history_find(const struct history *h, uint32_t tid, uint64_t at_ns, struct history_span *ret);

/*
 * The segments of TID in order: *POS is the state of the walk, 0 at its begin. Returns false after
 * the last one.
 */
bool history_next(const struct history *h, uint32_t tid, size_t *pos, struct history_span *ret);

/* The position of the walk at the segment that contains the moment after AT_NS, or behind it. */
size_t history_seek(const struct history *h, uint32_t tid, uint64_t at_ns);

/*
 * The same as history_next() for the slices of CPU that end after FROM_NS. The first call has
 * *POS = 0.
 */
bool history_next_slice(const struct history *h, uint32_t cpu, uint64_t from_ns, size_t *pos,
			struct history_slice *ret);

/* The number of CPUs: all seen ones are below it. */
uint32_t history_n_cpus(const struct history *h);

/* The end of the last segment of TID; 0 = it has none. */
uint64_t history_end_ns(const struct history *h, uint32_t tid);

/*
 * The koids of all threads that have segments or were created, ascending. They belong to H, and are
 * valid until it changes.
 */
const uint32_t *history_threads(const struct history *h, size_t *ret_n);

/* A handler of an interrupt, or a softirq, in the recording's categories irq and softirq. */
struct history_interrupt {
	uint64_t from_ns, to_ns;
	enum interval_kind kind; /* INTERVAL_IRQ or INTERVAL_SOFTIRQ */
	const char *name;        /* of H */
};

/*
 * The innermost interrupt on CPU at AT_NS. Returns 1, 0 if there was none, or -ENODATA if no
 * interrupts were recorded.
 */
int history_find_interrupt(const struct history *h, uint32_t cpu, uint64_t at_ns,
			   struct history_interrupt *ret);

/* The time of interrupts on CPU from FROM_NS to TO_NS; nested ones count once. 0 = not recorded. */
uint64_t history_interrupted_ns(const struct history *h, uint32_t cpu, uint64_t from_ns,
				uint64_t to_ns);
