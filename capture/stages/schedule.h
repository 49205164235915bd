/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the schedule: scheduling records in order of time, the running thread of each CPU, and the
 * changes of words that readers need for a correct trace.
 *
 * Records arrive finished from the kernel, and most are written unchanged. This module knows the
 * running threads at the time of each record, and resolves these cases
 * (docs/architecture/pipeline.md, "Merge by time"):
 *
 * - a wakeup that comes before its thread's switch-out: held, and written right after that switch
 * - a wakeup of a thread on its run queue: dropped, unless the thread has blocked by then, or
 *   blocks in the next record about it
 * - losses: running threads are closed where the loss begins, and opened where it ends
 * - start and end: each CPU's timeline is opened and closed
 * - koids of tids that had another owner before
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "bpf/record.h"
#include "capture/stages/stage.h"

/* The maximum number of words of a wakeup. A wakeup with the interrupted thread has this many. */
enum { SCHEDULE_WAKEUP_WORDS = 8 };

struct schedule_wakeup {
	uint64_t words[SCHEDULE_WAKEUP_WORDS];
	unsigned n_words; /* 0 = no wakeup */
	/* The thread slept; otherwise, the wakeup counts only if the thread blocks. */
	bool certain;
};

struct schedule_cpu {
	uint32_t tid; /* tid of the running thread, as the kernel has it; 0 = idle */
	/* the koid of the running thread, whose tid can already belong to another thread */
	uint64_t koid;
	int32_t prio;
	bool known;        /* false = the running thread is unknown, at the start or after a loss */
	bool has_switched; /* a switch was recorded since the running thread was unknown */
	bool in_loss;      /* a loss on this CPU has begun, and has not ended */
	/* time of the head, or of the last synthetic switch; no record is older */
	uint64_t opened_ns;
	struct schedule_wakeup held; /* a wakeup of `tid` that waits for its switch-out */
};

struct schedule {
	const struct pipeline *pipe; /* borrowed */
	struct schedule_cpu *cpus;
	unsigned n_cpus;
	uint64_t from_ns; /* records before this time, or after the pipeline's end, are dropped */
	/*
	 * After a split, the previous `from_ns`, otherwise 0: records since this time get the time
	 * of the new `from_ns`
	 */
	uint64_t start_ns;
	uint64_t *states; /* two bits for each tid: its last reported state */
	/* Tid -> struct schedule_wakeup, if the thread has blocked directly after this wakeup. */
	struct table asleep;
	uint64_t n_events;     /* number of switches, wakeups and migrations that were written */
	uint64_t lost;         /* sum of all losses so far */
	uint64_t n_dismissed;  /* number of wakeups that were not real */
	uint64_t n_unreported; /* number of switches that the kernel did not report */
};

extern const struct stage schedule_stage;

/* Returns 0 or -ENOMEM. */
int schedule_init(struct schedule *s, const struct pipeline *pipe, unsigned n_cpus);
void schedule_deinit(void *schedule);

/* Opens the timeline of CPU at s->from_ns: TID was already running (0 = idle). */
int schedule_open(struct schedule *s, unsigned cpu, uint32_t tid, int32_t prio);

/* Called when CPU, a number of any size, went offline: its last thread has stopped. */
int schedule_cpu_gone(struct schedule *s, uint32_t cpu, uint64_t ts_ns);

/*
 * Called when the thread that runs on CPU as OLD_TID continues as TID: if a thread that is not the
 * main thread calls exec, it takes the id of its process.
 */
int schedule_renumber(struct schedule *s, unsigned cpu, uint64_t ts_ns, uint32_t old_tid,
		      uint32_t tid);

/*
 * Handles the next record in order of time, from the ring of CPU. decode_ring_words() has checked
 * the record. The words are changed in place. Returns 0 or the archive's error.
 */
int schedule_record(struct schedule *s, unsigned cpu, uint64_t *words, unsigned n_words);

/* Called when a loss on CPU begins, at MARK->first_ns. The schedule is correct until then. */
int schedule_loss_begins(struct schedule *s, unsigned cpu, const struct ring_lost *mark);

/* Called when the loss has ended, at MARK->last_ns. MARK->tid runs at that time. */
int schedule_loss_ends(struct schedule *s, unsigned cpu, const struct ring_lost *mark);

/*
 * Writes the start (BEGINS) or the end of CPU's timeline in a chunk to TO, if the running thread of
 * CPU is known: this thread starts or stops at TS_NS. Changes no state.
 */
int schedule_write(const struct schedule *s, struct fxt_archive *to, unsigned cpu, uint64_t ts_ns,
		   bool begins);

/*
 * Called when a chunk begins at TS_NS, with the state that schedule_write() has written for each
 * CPU. If a CPU is in a loss, its timeline begins earlier, at OPENED_NS, when the loss began.
 */
void schedule_split(struct schedule *s, uint64_t ts_ns);
void schedule_opened(struct schedule *s, unsigned cpu, uint64_t opened_ns);

/* Closes all timelines at the pipeline's end. */
int schedule_close(void *schedule);
