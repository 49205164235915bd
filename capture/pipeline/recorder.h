/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From rings to archive: all that turns records into bytes, without threads, timers or descriptors.
 *
 * The recorder is a pipeline: a context (pipeline.h), and stages in a declared order
 * (recorder-stages.h). It owns the tables and the archive's state and borrows the collector. It
 * writes into the buffer that is set (recorder_set_buffer()), whole records only; its owner decides
 * when it runs and takes the buffers away.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "capture/pipeline/activity.h"
#include "capture/pipeline/allocations.h"
#include "capture/pipeline/budget.h"
#include "capture/pipeline/calls.h"
#include "capture/programs/collector.h"
#include "capture/pipeline/lifecycle.h"
#include "capture/pipeline/merge.h"
#include "capture/options/options.h"
#include "capture/pipeline/pipeline.h"
#include "capture/pipeline/profiler.h"
#include "capture/pipeline/schedule.h"
#include "capture/pipeline/tasks.h"
#include "capture/pipeline/triggers.h"
#include "capture/pipeline/worker-results.h"
#include "writer/fxt/fxt-archive.h"

/* What session_stop counts. */
struct recorder_sums {
	uint64_t events, lost, dismissed, unreported;
	uint64_t walks[WALK_ENDS_MAX];
	struct stack_tables tables;
};

enum {
	RECORDER_STAGES = 11,
	RECORDER_KINDS = 32, /* of records: more than bpf/record.h has */
};
_Static_assert(REC_CALL_END < RECORDER_KINDS, "a bit each");

/* The stages that take a kind of record, in their order. */
struct recorder_way {
	uint8_t n, stages[RECORDER_STAGES];
};

struct recorder {
	struct pipeline
		pipe; /* what the stages share: of the members below, where they are pointers */
	struct fxt_archive archive;
	struct tasks tasks;
	struct recorder_way ways[RECORDER_KINDS], news_ways[RECORDER_KINDS];
	/* The state of the stages. */
	struct outbuf memory; /* news: struct rec_*, what the worker read, not written yet */
	size_t memory_at;
	struct triggers *triggers; /* NULL = none are asked for */
	struct outbuf mappings;    /* selection: struct rec_mapping, listed, not written yet */
	size_t mappings_at;
	uint64_t own_lost; /* selection: of the records that say whose they are */
	struct lifecycle lifecycle;
	struct schedule schedule;
	/* timelines: per CPU, as listed: tid in the low half, prio in the high one */
	uint64_t *running;
	struct profiler profiler;
	struct activity activity;
	uint64_t n_marks;
	struct fxt_holds
		*holds; /* marks: what the head of a chunk says again; NULL = it is not split */
	struct allocations allocations;
	struct calls calls;
	/* What feeds them. */
	struct merge *merge;
	struct collector *collector; /* borrowed; NULL before and after the recording */
	unsigned n_cpus;
	bool opened, closed;           /* head and end of the archive are written */
	bool pauses, paused;           /* a pause has been ordered; and it has been written */
	uint64_t end_ns;               /* once it is set */
	uint64_t start_ns, listed_ns;  /* since when it is recorded: after a pause, since then */
	uint32_t chunk;                /* the number of this one, from 1; 0 if it is not split */
	uint64_t chunk_ns;             /* when that began */
	uint64_t walks[WALK_ENDS_MAX]; /* of stacks of programs, by how they have ended */
	struct recorder_sums base;     /* of the chunks before */
	uint64_t n_malformed; /* malformed records, from the collector, that the archive reports */
	struct collector_lost
		*at_end; /* per class and CPU: losses that had begun when the end was set */
};

/* What the archive says about itself at its end, beyond what the recorder knows. */
struct recorder_end {
	const char *reason;
	const struct recorder_sums
		*since; /* counted from there on; NULL = from where the chunk begins */
	uint64_t bytes, daemon_cpu_ns, bpf_cpu_ns;
	uint64_t dropped_bytes; /* that there was no room for, since the beginning */
};

/* OWNER is copied. Returns 0 or -ENOMEM. */
int recorder_init(struct recorder *r, const struct pipeline_owner *owner);
void recorder_deinit(struct recorder *r);

/* The programs run: takes in what the worker found. Returns 0 or a negative errno. */
int recorder_begin(struct recorder *r, const struct worker_results *news,
		   const struct session_options *options);

/* The rings are about to go. */
void recorder_let_go(struct recorder *r);

void recorder_set_buffer(struct recorder *r, struct outbuf *b);

/* The recording ends here: records younger than this are not for the archive. Once. */
void recorder_set_end(struct recorder *r, uint64_t end_ns);

/* Writes the head of the archive (or of its first chunk), up to what runs on each CPU. */
int recorder_open(struct recorder *r, const struct session_options *options);

/* Writes what is not younger than HORIZON_NS. Returns 0 when that is done, a positive number if
 * after_record() ended the round, or a negative errno. */
int recorder_round(struct recorder *r, uint64_t horizon_ns);

/* Writes the end of the archive: after a round up to MERGE_ALL, with all programs detached. */
int recorder_close(struct recorder *r, const struct recorder_end *end);

/*
 * Chunks (docs/architecture/chunks.md), of a session with session_options_splits(). AT_NS is the
 * horizon of a round that has returned 0. What is written to TAIL and HEAD is whole parts by
 * itself, as STORE_TAIL and STORE_HEAD.
 */

/*
 * Whether it can be split now: not while what was mapped at the start is being written, nor, unless
 * one has been WAITING for it for long, in the middle of a snapshot of what is allocated.
 */
bool recorder_can_split(const struct recorder *r, bool waiting);

/*
 * Ends a chunk and begins the next: writes what is still to come of the body into the buffer that
 * is set, the end of the one to TAIL and the beginning of the other to HEAD. Returns 0 or a
 * negative errno, after which no more can be written.
 */
int recorder_split(struct recorder *r, uint64_t at_ns, const struct session_options *options,
		   const struct recorder_end *end, struct outbuf *tail, struct outbuf *head);

/*
 * What would stand behind the body if the archive ended at AT_NS; it goes on. Returns 0 or a
 * negative errno.
 */
int recorder_tail(const struct recorder *r, uint64_t at_ns, const struct recorder_end *end,
		  struct outbuf *tail);

/* What the worker learned: tasks that were asked for, command lines. What is news is written if
 * WRITE, else before the next record about it. Returns 0 or a negative errno. */
int recorder_learn(struct recorder *r, const struct worker_results *news, bool write);

/* Takes in what was mapped at the start, for the next round. Returns 0 or -ENOMEM. */
int recorder_add_mappings(struct recorder *r, const struct worker_results *news);

/* Takes in samples of counters, for the next rounds. Returns 0 or a negative errno. */
int recorder_add_samples(struct recorder *r, const struct worker_results *news);

/*
 * Writes the triggers that have been added up so far, at HORIZON_NS (triggers.h). Returns 0 or a
 * negative errno.
 */
int recorder_settle_triggers(struct recorder *r, uint64_t horizon_ns);

/* A mark at this moment; TEXT is cleaned, and cut to 256 bytes. */
int recorder_mark(struct recorder *r, const char *text);

/* From EV on, an EVENT_SHED, something is not recorded any more, or is again. */
int recorder_shed(struct recorder *r, const struct event *ev);

/*
 * A pause begins: records younger than AT_NS are not for the archive. Then, with all programs
 * detached and after a round up to MERGE_ALL, recorder_pause() closes what is open. Until
 * recorder_resume() has returned there is nothing in the rings to be drained; what there was before
 * is known no more. Return 0 or a negative errno.
 */
void recorder_set_pause(struct recorder *r, uint64_t at_ns);
int recorder_pause(struct recorder *r);

/*
 * The programs run again, and what has happened since NEWS' time of start is for the archive: that
 * comes first.
 */
void recorder_set_resumed(struct recorder *r, const struct worker_results *news);

/* And then what NEWS has listed is written, as for the start. */
int recorder_resume(struct recorder *r, const struct worker_results *news);

/* How many triggers have fired, those that were passed over, too. */
uint64_t recorder_n_triggers(const struct recorder *r);

/*
 * Writes that the context NAME, BIT, begins or ends now; OPEN are the bits of all that are open
 * then. Returns 0 or a negative errno.
 */
int recorder_context(struct recorder *r, const char *name, uint32_t bit, uint32_t open);

uint64_t recorder_n_events(const struct recorder *r);

/* What was counted so far, what has not been written left out. */
struct recorder_sums recorder_sums(const struct recorder *r);

/* Counted by the programs, marked in the archive or not yet. */
uint64_t recorder_lost(const struct recorder *r, enum event_class class);
