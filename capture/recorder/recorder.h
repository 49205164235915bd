/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From rings to the archive: all code that turns records into bytes. This code has no threads,
 * timers or descriptors.
 *
 * The recorder is a pipeline: a context (pipeline.h), and stages in a declared order
 * (recorder-stages.c). The recorder owns the tables and the archive's state, and borrows the
 * collector. It writes whole records into the current buffer (recorder_set_buffer()). Its owner
 * decides when it runs, and takes the buffers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "capture/options/options.h"
#include "capture/programs/collector.h"
#include "capture/providers/providers-stage.h"
#include "capture/recorder/budget.h"
#include "capture/recorder/merge.h"
#include "capture/recorder/worker-results.h"
#include "capture/stages/activity.h"
#include "capture/stages/allocations.h"
#include "capture/stages/blocks.h"
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
#include "capture/stages/tracepoints-stage.h"
#include "capture/stages/trigger-input.h"
#include "writer/fxt/fxt-archive.h"

/* Counts that EVENT_STOP contains. */
struct recorder_sums {
	uint64_t events, lost, dismissed, unreported;
	uint64_t walks[WALK_ENDS_MAX];
	struct stack_tables tables;
	uint64_t python[PYTHON_STACKS_MAX];
};

enum {
	RECORDER_STAGES = 16,
};

/* The stages that accept a kind of record, in their order. */
struct recorder_way {
	uint8_t n, stages[RECORDER_STAGES];
};

struct recorder {
	struct pipeline pipe; /* shared by the stages; its pointers lead to the members below */
	struct fxt_archive archive;
	struct tasks tasks;
	struct recorder_way ways[REC_KINDS], result_ways[REC_KINDS];
	/* The state of each stage. */
	struct news news;
	struct trigger_input trigger_input;
	struct selection selection;
	struct moments_stage moments;
	struct tracepoints_stage tracepoints;
	struct blocks blocks;
	struct calls calls;
	struct named_stacks named_stacks;
	struct lifecycle lifecycle;
	struct schedule schedule;
	struct profiler profiler;
	struct activity activity;
	struct providers_stage providers;
	struct marks marks;
	struct allocations allocations;
	struct timelines timelines;
	/* The input of the stages. */
	struct merge *merge;
	bool opened;                   /* the head of the archive has been written */
	bool closed;                   /* the end of the archive has been written */
	bool pauses;                   /* a pause was ordered */
	bool paused;                   /* the pause has been written */
	uint64_t end_ns;               /* end of the recording, if known */
	uint64_t begun_ns;             /* start of the recording */
	uint64_t start_ns;             /* when the recording started or was last resumed */
	uint64_t listed_ns;            /* when all tasks had been listed after that start */
	uint32_t chunk;                /* the number of this chunk, counted from 1; 0 = no chunks */
	uint64_t n_marks;              /* marks and contexts that the user has written */
	uint64_t walks[WALK_ENDS_MAX]; /* walks of user stacks, by the cause of their end */
	struct recorder_sums base;     /* the sums of earlier chunks */
	uint64_t n_malformed;          /* malformed records that the archive already reports */
	/*
	 * Numbers that the archive does not report yet: processes without mappings, and processes
	 * without a command line
	 */
	uint64_t n_unlisted, n_unread;
	/* lost samples of counters that the archive does not report yet */
	struct collector_lost lost_samples;
	/* losses that had begun when the end was set, by class and CPU */
	struct collector_lost *at_end;
};

/* Data from the owner for the end of the archive. */
struct recorder_end {
	const char *reason;
	const char *session; /* the name of the session */
	/* Counts begin with these sums; NULL = counts begin at the start of the chunk. */
	const struct recorder_sums *since;
	uint64_t bytes, daemon_cpu_ns, bpf_cpu_ns;
	uint64_t dropped_bytes; /* bytes that were dropped for lack of room, since the start */
};

/* OWNER is copied. Returns 0 or -ENOMEM. */
int recorder_init(struct recorder *r, const struct pipeline_owner *owner);
void recorder_deinit(struct recorder *r);

/*
 * To be called when the eBPF programs run. Takes the results of the worker. Returns 0 or a negative
 * errno.
 */
int recorder_begin(struct recorder *r, const struct worker_results *news,
		   const struct session_options *options);

/* To be called before the rings are freed. */
void recorder_release(struct recorder *r);

/*
 * From now on, writes records to B (borrowed). The round ends after the record with which B reaches
 * FULL bytes; if FULL is 0, B has no limit.
 */
void recorder_set_buffer(struct recorder *r, struct outbuf *b, size_t full);

/* Ends the recording at END_NS: later records are not written. To be called once. */
void recorder_set_end(struct recorder *r, uint64_t end_ns);

/*
 * Writes the head of the archive (or of its first chunk), including the running thread of each CPU.
 */
int recorder_open(struct recorder *r, const struct session_options *options);

/*
 * Writes records up to HORIZON_NS. Returns 0 when all have been written, a positive number if the
 * buffer is full, or a negative errno. If the buffer is full, the caller sets another one and calls
 * the function again with the same horizon. The function then continues where it ended.
 */
int recorder_round(struct recorder *r, uint64_t horizon_ns);

/*
 * Writes the end of the archive. All eBPF programs must be detached, and a round up to MERGE_ALL
 * must have returned.
 */
int recorder_close(struct recorder *r, const struct recorder_end *end);

/*
 * The functions below are for chunks (docs/architecture/chunks.md), if session_options_splits().
 * AT_NS is the horizon of a round that returned 0. TAIL receives a complete tail (STORE_TAIL), and
 * HEAD a complete head (STORE_HEAD).
 */

/*
 * Returns true if the recording can be split now. A recording cannot be split while mappings from
 * the start are being written. During a snapshot of allocations, it can be split only if WAITING is
 * true: the split has been due for long.
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
 * Takes results of the worker: requested tasks and command lines. If WRITE is true, they are
 * written at once, otherwise before the next record about the task. Returns 0 or a negative errno.
 */
int recorder_learn(struct recorder *r, const struct worker_results *news, bool write);

/* Returns true if answers of the worker are awaited that the archive needs before its end. */
bool recorder_awaits_answers(const struct recorder *r);

/* Takes the mappings from the start, for the next round. Returns 0 or -ENOMEM. */
int recorder_add_mappings(struct recorder *r, const struct worker_results *news);

/* Takes the stacks of waiting threads. Returns 0 or -ENOMEM. */
int recorder_add_waiting(struct recorder *r, const struct worker_results *news);

/* Adds samples of counters, for the next rounds. Returns 0 or a negative errno. */
int recorder_add_samples(struct recorder *r, const struct worker_results *news);

/*
 * Writes the triggers that have been summed for a second at HORIZON_NS (triggers.h). Returns 0 or a
 * negative errno.
 */
int recorder_settle_triggers(struct recorder *r, uint64_t horizon_ns);

/* Writes a mark at the present time. TEXT is cleaned, and cut to 256 bytes. */
int recorder_mark(struct recorder *r, const char *text);

/* Writes EV, an EVENT_SHED: a part of the recording is stopped or resumed. */
int recorder_shed(struct recorder *r, const struct event *ev);

/*
 * For a pause, first call recorder_set_pause(): records later than AT_NS are not written. Then
 * detach all eBPF programs, and run a round up to MERGE_ALL. Then call recorder_pause(), which
 * closes open items. Do not drain the rings until recorder_resume() has returned. State from before
 * the pause is then unknown. recorder_pause() returns 0 or a negative errno.
 */
void recorder_set_pause(struct recorder *r, uint64_t at_ns);
int recorder_pause(struct recorder *r);

/*
 * After a pause, when the eBPF programs run again, call recorder_set_resumed(). The archive then
 * receives all records since the start time in NEWS. Then call recorder_resume().
 */
void recorder_set_resumed(struct recorder *r, const struct worker_results *news);

/* Writes the lists in NEWS, as they are written at the start. Returns 0 or a negative errno. */
int recorder_resume(struct recorder *r, const struct worker_results *news);

/* Returns the number of triggers that have fired, including suppressed triggers. */
uint64_t recorder_n_triggers(const struct recorder *r);

/*
 * Writes that the context NAME with the bit BIT begins or ends now. OPEN has the bits of all open
 * contexts.
 * Returns 0 or a negative errno.
 */
int recorder_context(struct recorder *r, const char *name, uint32_t bit, uint32_t open);

/* Returns the number of events so far. */
uint64_t recorder_n_events(const struct recorder *r);

/* Returns the number of events so far that belong to the categories of GROUP. */
uint64_t recorder_n_events_of(const struct recorder *r, enum category_group group);

/* Returns the counts of all data that has been written. */
struct recorder_sums recorder_sums(const struct recorder *r);

/*
 * Returns the number of lost events, including events whose loss the archive does not report yet.
 */
uint64_t recorder_lost(const struct recorder *r, enum event_class class);
