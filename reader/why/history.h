/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The schedule of a recording in memory, for questions about the past: the state of a thread at a
 * time, its waker, and the thread on a CPU. It is made from the segments of thread-states.h and
 * from events.
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
	/* The thread that created this one, if this is its first segment; 0 = unknown, or a later
	 * segment. */
	uint32_t creator_tid;
};

/* A part of a CPU's time with one thread. */
struct history_slice {
	uint64_t from_ns, to_ns;
	uint32_t tid; /* koid; 0 = idle; "other cpu N" = not selected by the filter */
	bool known;   /* false: before the CPU's first switch, in a loss, in a pause */
};

/* Smaller limits, for tests; 0 = the constant HISTORY_..._MAX. */
struct history_limits {
	size_t segments, slices, interrupts;
};

struct history;

/* LIMITS can be NULL. Returns 0 or -ENOMEM. */
int history_new(struct history **ret, const struct history_limits *limits);
struct history *history_free(struct history *h);
DEFINE_CLEANUP(struct history *, history_free)

/*
 * Adds SEGMENT. A thread_states_fn: USERDATA is the struct history. Returns 0, -ENOMEM, or -ENOBUFS
 * if the history is full; then nothing was added.
 */
int history_add_segment(void *userdata, const struct thread_segment *segment);

/*
 * Adds slices of CPUs from switches, the creators of threads from forks, and interrupts from
 * intervals. Other events are ignored. Returns as history_add_segment() does.
 */
int history_add(struct history *h, const struct event *ev);

/*
 * Ends the open slices at END_NS. Call it after the last event, and after the thread states are
 * finished.
 */
void history_finish(struct history *h, uint64_t end_ns);

/* A wait that began before the first segment of its thread. */
struct history_earlier {
	uint32_t tid;
	uint64_t from_ns;
	uint64_t to_ns; /* when the thread ran again; UINT64_MAX = it did not until the end */
	char letter;    /* its state */
};

/*
 * Adds WAIT before the first segment of its thread. It ends where that segment begins, or before,
 * at wait->to_ns; then the state in between is unknown. Call it once for each thread, after
 * history_finish(). Takes time proportional to the thread's segments. Ignores the limits. Returns 0
 * or -ENOMEM.
 */
int history_add_earlier(struct history *h, const struct history_earlier *wait);

/* A time off CPU with its wakeup, from an `offcpu` record, not from the scheduling records. */
struct history_wakeup {
	uint32_t tid;
	uint32_t waker_tid; /* koid; 0 = an interrupt, or unknown */
	uint64_t from_ns;   /* it left its CPU */
	uint64_t woken_ns;  /* when it was woken: from_ns < woken_ns <= to_ns */
	uint64_t to_ns;     /* it ran again */
	bool used;          /* out */
};

/*
 * True if the history has the wait of W, but not the record of its wakeup: the wait ends with a
 * run, without a wakeup, or in a loss of scheduling records.
 */
bool history_lacks_wakeup(const struct history *h, const struct history_wakeup *w);

/*
 * Divides the waits of LIST, for which history_lacks_wakeup() is true, at their wakeups: before,
 * the thread is blocked, and from then on, ready. Where records were lost, this replaces the
 * unknown state until to_ns. LIST has N elements, sorted by thread, then by time. Ignores the
 * limits. Returns 0 or -ENOMEM.
 */
int history_add_wakeups(struct history *h, struct history_wakeup *list, size_t n);

/*
 * Marks the time from FROM_NS, when TID left its CPU ready to run, until TID ran again as
 * throttled.
 */
void history_set_throttled(struct history *h, uint32_t tid, uint64_t from_ns);

/*
 * True if less than a hundredth of a limit is left. The owner must then call history_forget()
 * before the next event.
 */
bool history_is_full(const struct history *h);

/* Forgets the segments, slices and interrupts that ended before BEFORE_NS, and frees their
 * memory. */
void history_forget(struct history *h, uint64_t before_ns);

/* Everything before this time was forgotten; 0 = nothing was forgotten. */
uint64_t history_begin_ns(const struct history *h);

/*
 * Finds the segment of thread TID that contains the moment just before AT_NS: from < AT_NS <= to.
 * Returns false if there is none: the state is unknown then, and RET is unchanged. Takes time
 * logarithmic in the number of segments of the thread.
 */
bool history_find(const struct history *h, uint32_t tid, uint64_t at_ns, struct history_span *ret);

/*
 * Walks over the segments of TID in order. *POS is the position, 0 at the begin. Returns false
 * after the last segment.
 */
bool history_next(const struct history *h, uint32_t tid, size_t *pos, struct history_span *ret);

/* The *POS for history_next() whose next segment is the last one of TID that begins at AT_NS or
 * before; 0 = none begins so early. */
size_t history_seek(const struct history *h, uint32_t tid, uint64_t at_ns);

/*
 * Walks over the slices of CPU that end after FROM_NS, in order. *POS is the position; it must be 0
 * for the first call. Returns false after the last slice.
 */
bool history_next_slice(const struct history *h, uint32_t cpu, uint64_t from_ns, size_t *pos,
			struct history_slice *ret);

/* One more than the highest number of a CPU that was seen. */
uint32_t history_n_cpus(const struct history *h);

/* The end of the last segment of TID; 0 = TID has no segment. */
uint64_t history_end_ns(const struct history *h, uint32_t tid);

/*
 * The koids of all threads that have segments or were created, ascending. The array belongs to H,
 * and is valid until H changes.
 */
const uint32_t *history_threads(const struct history *h, size_t *ret_n);

/* A run of an interrupt handler or softirq, from the recording's categories irq and softirq. */
struct history_interrupt {
	uint64_t from_ns, to_ns;
	enum interval_kind kind; /* INTERVAL_IRQ or INTERVAL_SOFTIRQ */
	const char *name;        /* of H */
};

/*
 * Finds the innermost interrupt on CPU at AT_NS. Returns 1; 0 = there was none, -ENODATA = no
 * interrupts were recorded.
 */
int history_find_interrupt(const struct history *h, uint32_t cpu, uint64_t at_ns,
			   struct history_interrupt *ret);

/* The time of interrupts on CPU in [FROM_NS, TO_NS), nested ones once; 0 if not recorded. */
uint64_t history_interrupted_ns(const struct history *h, uint32_t cpu, uint64_t from_ns,
				uint64_t to_ns);
