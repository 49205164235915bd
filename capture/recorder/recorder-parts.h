/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The declarations that the files of the recorder share. Internal to recorder*.c.
 *
 *   recorder.c          records and rounds
 *   recorder-stages.c   the stages, in their order
 *   recorder-learn.c    identities
 *   recorder-lost.c     losses
 *   recorder-head.c     heads and tails of chunks
 *   recorder-chunk.c    the change from one chunk to the next
 *   recorder-pause.c    pauses
 */
#pragma once

#include <stddef.h>

#include "capture/proc/proc-records.h"
#include "capture/recorder/recorder.h"

/*
 * Each of these functions writes to TO, with the state at TS_NS. They return 0 or a negative errno.
 */
int recorder_write_start(const struct recorder *r, struct fxt_archive *to,
			 const struct session_options *o, uint64_t ts_ns);
int recorder_write_clock(struct fxt_archive *to, uint64_t ts_ns);
int recorder_write_sampling(const struct recorder *r, struct fxt_archive *to,
			    const struct session_options *o, uint64_t ts_ns);
int recorder_write_stop(const struct recorder *r, struct fxt_archive *to, uint64_t ts_ns,
			const struct recorder_end *end);

/*
 * These functions enter the lists of struct rec_task and struct rec_cgroup that were made before
 * the archive begins. They return 0 or a negative errno.
 */
int recorder_learn_tasks(struct recorder *r, const struct outbuf *tasks);
int recorder_learn_cgroups(struct recorder *r, const struct outbuf *cgroups);

/* Closes the open intervals of CPU when they have ended. Returns 0 or a negative errno. */
int recorder_close_cpu(struct recorder *r, unsigned cpu);

/*
 * Removes TID, a known thread that ended by AT_NS without a record. Returns 0 or a negative errno.
 */
int recorder_forget_task(struct recorder *r, uint32_t tid, uint64_t at_ns);

/*
 * Returns the number of malformed records that the archive does not have yet. Their class is
 * unknown.
 */
uint64_t recorder_unreported_malformed(const struct recorder *r);

/* Called when the recording ends: remembers the losses that continue. */
void recorder_note_losses(struct recorder *r);

/*
 * Returns MARK, the mark of a loss of CLASS on CPU. If the loss continues after the end of the
 * recording, the result counts only the records lost before the end.
 */
struct ring_lost recorder_clip_to_end(const struct recorder *r, enum event_class class,
				      unsigned cpu, const struct ring_lost *mark);

/* Counts the N samples of counters in LIST as lost, since they are dropped. */
void recorder_lose_samples(struct recorder *r, const struct rec_counters *list, size_t n);

/*
 * Writes the records that recorder_unreported_malformed() counts, processes without mappings, and
 * dropped samples. Returns 0 or a negative errno.
 */
int recorder_write_dropped(struct recorder *r);

/*
 * The first function writes losses that the eBPF programs could not mark, because no record
 * followed. The second one writes skipped runs, whose CPU and time are unknown. Both return 0 or a
 * negative errno.
 */
int recorder_write_trailing_loss(struct recorder *r, enum event_class class, unsigned cpu);
int recorder_write_skipped(struct recorder *r, enum event_class class);

/*
 * ---- the stages (recorder-stages.c) ----
 *
 * Data passes recorder_stages[] from the first row to the last. A record passes the rows that
 * accept its kind. Other data passes the rows that have a function for it. The first function with
 * a result other than 0 ends the pass. Finished words of the rings do not pass the rows: see
 * recorder_on_words() in recorder.c.
 */

/* A stage, and the place of its state in struct recorder. */
struct recorder_stage {
	const struct stage *ops;
	size_t state;
};

extern const struct recorder_stage recorder_stages[RECORDER_STAGES];

/* Returns the state of stage I. */
static inline void *recorder_state(const struct recorder *r, size_t i)
{
	return (char *)(uintptr_t)r + recorder_stages[i].state;
}

/*
 * Calls FUNCTION of each stage of R that has it. If a stage returns a value other than 0, returns
 * this value without further calls.
 */
#define RECORDER_EACH(r, function, ...)                                                            \
	({                                                                                         \
		int each_ = 0;                                                                     \
		for (size_t i_ = 0; each_ == 0 && i_ < RECORDER_STAGES; i_++)                      \
			if (recorder_stages[i_].ops->function)                                     \
				each_ = recorder_stages[i_].ops->function(                         \
					recorder_state(r, i_) __VA_OPT__(, ) __VA_ARGS__);         \
		each_;                                                                             \
	})

/* Records which stages accept each kind of record, so that a record passes only those. */
void recorder_find_ways(struct recorder *r);

/* Passes a record of the merge to the stages that accept it. Returns 0 or a negative errno. */
int recorder_pass(struct recorder *r, const struct rec_head *rec);

/* Sets the pipeline's links between stages. */
void recorder_link(struct recorder *r);
