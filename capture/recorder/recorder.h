/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From rings to archive: all code that turns records into bytes, without threads, timers or
 * descriptors.
 *
 * The recorder is a pipeline: a context (pipeline.h), and stages in a declared order
 * (recorder-stages.c). It owns the tables and the archive's state, and borrows the collector. It
 * writes whole records into the current buffer (recorder_set_buffer()). Its owner decides when it
 * runs, and takes the buffers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "capture/options/options.h"
#include "capture/programs/collector.h"
#include "capture/recorder/budget.h"
#include "capture/recorder/merge.h"
#include "capture/recorder/worker-results.h"
#include "capture/stages/activity.h"
#include "capture/stages/allocations.h"
#include "capture/stages/calls.h"
#include "capture/stages/lifecycle.h"
#include "capture/stages/marks.h"
#include "capture/stages/moments-stage.h"
#include "capture/stages/news.h"
#include "capture/stages/pipeline.h"
#include "capture/stages/profiler.h"
#include "capture/stages/schedule.h"
#include "capture/stages/selection.h"
#include "capture/stages/tasks.h"
#include "capture/stages/timelines.h"
#include "capture/stages/trigger-input.h"
#include "writer/fxt/fxt-archive.h"

/* Counts for EVENT_STOP. */
struct recorder_sums {
	uint64_t events, lost, dismissed, unreported;
	uint64_t walks[WALK_ENDS_MAX];
	struct stack_tables tables;
};

enum {
	RECORDER_STAGES = 13,
};

/* The stages that accept a kind of record, in their order. */
struct recorder_way {
	uint8_t n, stages[RECORDER_STAGES];
};

struct recorder {
	struct pipeline pipe; /* shared by the stages; its pointers refer to the members below */
	struct fxt_archive archive;
	struct tasks tasks;
	struct recorder_way ways[REC_KINDS], result_ways[REC_KINDS];
	/* The state of the stages. */
	struct news news;
	struct trigger_input trigger_input;
	struct selection selection;
	struct moments_stage moments;
	struct calls calls;
	struct named_stacks named_stacks;
	struct lifecycle lifecycle;
	struct schedule schedule;
	struct profiler profiler;
	struct activity activity;
	struct marks marks;
	struct allocations allocations;
	struct timelines timelines;
	/* The input of the stages. */
	struct merge *merge;
	bool opened, closed;           /* head and end of the archive are written */
	bool pauses, paused;           /* a pause was ordered; and it has been written */
	uint64_t end_ns;               /* once it is known */
	uint64_t begun_ns;             /* begin of the recording */
	uint64_t start_ns, listed_ns;  /* begin of the recording, or of its part since the last
				        * pause */
	uint32_t chunk;                /* the number of this chunk, from 1; 0 without chunks */
	uint64_t n_marks;              /* marks and contexts that the user has written */
	uint64_t walks[WALK_ENDS_MAX]; /* stack walks of programs, by the cause of their end */
	struct recorder_sums base;     /* the sums of earlier chunks */
	uint64_t n_malformed;          /* malformed records that the archive has already */
	struct collector_lost
		*at_end; /* per class and CPU: losses that had begun when the end was set */
};

/* The data in the archive's end that the recorder does not know. */
struct recorder_end {
	const char *reason;
	const char *session;               /* its name */
	const struct recorder_sums *since; /* counts start here; NULL = at the start of the chunk */
	uint64_t bytes, daemon_cpu_ns, bpf_cpu_ns;
	uint64_t dropped_bytes; /* bytes without room, since the beginning */
};

/* OWNER is copied. Returns 0 or -ENOMEM. */
int recorder_init(struct recorder *r, const struct pipeline_owner *owner);
void recorder_deinit(struct recorder *r);

/* The programs run: takes the results of the worker. Returns 0 or a negative errno. */
int recorder_begin(struct recorder *r, const struct worker_results *news,
		   const struct session_options *options);

/* The rings are about to be freed. */
void recorder_release(struct recorder *r);

void recorder_set_buffer(struct recorder *r, struct outbuf *b);

/* The recording ends here: later records are not for the archive. Once. */
void recorder_set_end(struct recorder *r, uint64_t end_ns);

/*
 * Writes the head of the archive (or of its first chunk), including the running thread of each CPU.
 */
int recorder_open(struct recorder *r, const struct session_options *options);

/*
 * Writes records up to HORIZON_NS. Returns 0 when all are written, a positive number if
 * after_record() ended the round, or a negative errno.
 */
int recorder_round(struct recorder *r, uint64_t horizon_ns);

/* Writes the end of the archive: after a round up to MERGE_ALL, with all programs detached. */
int recorder_close(struct recorder *r, const struct recorder_end *end);

/*
 * Chunks (docs/architecture/chunks.md), for a session with session_options_splits(). AT_NS is the
 * horizon of a round that returned 0. TAIL and HEAD receive whole parts, as STORE_TAIL and
 * STORE_HEAD.
 */

/*
 * Whether it can be split now. It cannot while mappings from the start are being written. It cannot
 * in the middle of a snapshot of allocations either, unless the split has been WAITING for long.
 */
bool recorder_can_split(const struct recorder *r, bool waiting);

/*
 * Ends a chunk and begins the next: writes the rest of the body into the current buffer, the tail
 * to TAIL, and the next head to HEAD. Returns 0 or a negative errno, after which nothing more can
 * be written.
 */
int recorder_split(struct recorder *r, uint64_t at_ns, const struct session_options *options,
		   const struct recorder_end *end, struct outbuf *tail, struct outbuf *head);

/*
 * Writes the tail as if the archive ended at AT_NS; recording continues. Returns 0 or a negative
 * errno.
 */
int recorder_tail(const struct recorder *r, uint64_t at_ns, const struct recorder_end *end,
		  struct outbuf *tail);

/*
 * Results of the worker: requested tasks, command lines. They are written at once if WRITE, else
 * before the next record about the task. Returns 0 or a negative errno.
 */
int recorder_learn(struct recorder *r, const struct worker_results *news, bool write);

/* Takes the mappings from the start, for the next round. Returns 0 or -ENOMEM. */
int recorder_add_mappings(struct recorder *r, const struct worker_results *news);

/* Takes the stacks of waiting threads. Returns 0 or -ENOMEM. */
int recorder_add_waiting(struct recorder *r, const struct worker_results *news);

/* Adds samples of counters, for the next rounds. Returns 0 or a negative errno. */
int recorder_add_samples(struct recorder *r, const struct worker_results *news);

/*
 * Writes the triggers that have been summed so far, at HORIZON_NS (triggers.h). Returns 0 or a
 * negative errno.
 */
int recorder_settle_triggers(struct recorder *r, uint64_t horizon_ns);

/* A mark at this moment; TEXT is cleaned, and cut to 256 bytes. */
int recorder_mark(struct recorder *r, const char *text);

/* From EV on, an EVENT_SHED, a part of the recording is stopped or resumed. */
int recorder_shed(struct recorder *r, const struct event *ev);

/*
 * A pause begins: records later than AT_NS are not for the archive. Then, with all programs
 * detached and after a round up to MERGE_ALL, recorder_pause() closes open items. Until
 * recorder_resume() has returned, the rings must not be drained, and earlier state is unknown.
 * Return 0 or a negative errno.
 */
void recorder_set_pause(struct recorder *r, uint64_t at_ns);
int recorder_pause(struct recorder *r);

/*
 * The programs run again. The archive receives everything since the start time in NEWS. To be
 * called first.
 */
void recorder_set_resumed(struct recorder *r, const struct worker_results *news);

/* Then writes the lists in NEWS, as at the start. */
int recorder_resume(struct recorder *r, const struct worker_results *news);

/* The number of triggers that have fired, including suppressed ones. */
uint64_t recorder_n_triggers(const struct recorder *r);

/*
 * Writes that the context NAME, BIT, begins or ends now. OPEN are the bits of all open contexts.
 * Returns 0 or a negative errno.
 */
int recorder_context(struct recorder *r, const char *name, uint32_t bit, uint32_t open);

uint64_t recorder_n_events(const struct recorder *r);

/* Of these, the events of the categories of GROUP. */
uint64_t recorder_n_events_of(const struct recorder *r, enum category_group group);

/* The counts so far, without data that is not written yet. */
struct recorder_sums recorder_sums(const struct recorder *r);

/* Lost events that the programs counted, whether marked in the archive or not yet. */
uint64_t recorder_lost(const struct recorder *r, enum event_class class);
