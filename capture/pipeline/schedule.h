/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The schedule as it is being written: scheduling records in the order of time, what runs on each
 * CPU, and what has to be done to the words so that readers show the trace right.
 *
 * Records come finished from the kernel and mostly go out as they are. Here it is known what ran
 * at the moment of each, and so here are settled (docs/architecture/pipeline.md, "Merge by time"):
 *
 *  - a wakeup that overtook its thread's switch-out: held, and written right after that switch;
 *  - a wakeup of a thread that was seen on its run queue: none, unless the thread has blocked by
 *    then, or does so right then, as the next record about it says;
 *  - losses: what ran is closed where the loss begins, and what runs is opened where it ends;
 *  - start and end: each CPU's timeline is opened and closed;
 *  - koids: of tids that had another owner before.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "bpf/record.h"
#include "capture/pipeline/pipeline.h"

/* The most words of a wakeup: with the thread that an interrupt has hit. */
enum { SCHEDULE_WAKEUP_WORDS = 8 };

struct schedule_wakeup {
	uint64_t words[SCHEDULE_WAKEUP_WORDS];
	unsigned n_words; /* 0 = none */
	bool certain;     /* it was asleep; else only if it blocks */
};

struct schedule_cpu {
	uint32_t tid;  /* runs; the kernel's; 0 = idle */
	uint64_t koid; /* of that thread: the next owner of the tid can be there before it is off */
	int32_t prio;
	bool known;         /* false: nothing is known yet, or no more */
	bool in_loss;       /* one has begun here, and not ended */
	uint64_t opened_ns; /* by a head, or by the last switch that was made up: none is older */
	struct schedule_wakeup held; /* of `tid`, for after its switch-out */
};

struct schedule {
	const struct pipeline *pipe; /* borrowed */
	struct schedule_cpu *cpus;
	unsigned n_cpus;
	uint64_t from_ns; /* records before it, or after the pipeline's end, are dropped */
	/* 0; after a split, what from_ns was: records from then on move to the new from_ns */
	uint64_t start_ns;
	uint64_t *states;      /* two bits a tid: what was reported of it last */
	struct table asleep;   /* tid -> struct schedule_wakeup: blocked right after it */
	uint64_t n_events;     /* switches, wakeups and migrations written */
	uint64_t lost;         /* sum of all losses so far */
	uint64_t n_dismissed;  /* wakeups that turned out to be none */
	uint64_t n_unreported; /* switches that the kernel made and did not report */
};

/* Returns 0 or -ENOMEM. */
int schedule_init(struct schedule *s, const struct pipeline *pipe, unsigned n_cpus);
void schedule_deinit(struct schedule *s);

/* Opens CPU's timeline at s->from_ns: TID has been running since before (0: idle). */
int schedule_open(struct schedule *s, unsigned cpu, uint32_t tid, int32_t prio);

/* CPU, a number of any size, was taken off: what ran last on it has stopped. */
int schedule_cpu_gone(struct schedule *s, uint32_t cpu, uint64_t ts_ns);

/*
 * The thread that runs on CPU as OLD_TID goes on as TID (exec by a thread that is not the main one
 * takes over the id of its process).
 */
int schedule_renumber(struct schedule *s, unsigned cpu, uint64_t ts_ns, uint32_t old_tid,
		      uint32_t tid);

/*
 * The next record in the order of time, checked by decode_ring_words(), from the ring of CPU. Its
 * words are patched in place. Returns 0 or the archive's error.
 */
int schedule_record(struct schedule *s, unsigned cpu, uint64_t *words, unsigned n_words);

/* A loss on CPU begins at MARK->first_ns: until then the schedule is right. */
int schedule_loss_begins(struct schedule *s, unsigned cpu, const struct ring_lost *mark);

/* It has ended, at MARK->last_ns, and MARK->tid runs. */
int schedule_loss_ends(struct schedule *s, unsigned cpu, const struct ring_lost *mark);

/*
 * Writes to TO what a part of the recording begins or ends with on CPU, if that is known, and
 * changes nothing: what runs comes on at TS_NS, or goes off.
 */
int schedule_say(const struct schedule *s, struct fxt_archive *to, unsigned cpu, uint64_t ts_ns,
		 bool begins);

/*
 * A chunk begins at TS_NS, each CPU in it with what schedule_say() said; a CPU where a loss had
 * begun by then at OPENED_NS, before it.
 */
void schedule_split(struct schedule *s, uint64_t ts_ns);
void schedule_opened(struct schedule *s, unsigned cpu, uint64_t opened_ns);

/* Closes all timelines at the pipeline's end. */
int schedule_close(struct schedule *s);

/*
 * Likewise, and from then on nothing is known of any thread, until schedule_open(): at s->from_ns,
 * which is set.
 */
int schedule_pause(struct schedule *s);
