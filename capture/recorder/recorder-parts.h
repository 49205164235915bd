/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shared part of the recorder's files. Internal to recorder*.c.
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

#include "capture/recorder/recorder.h"

/* Each writes to TO, as of TS_NS, and returns 0 or a negative errno. */
int recorder_write_start(const struct recorder *r, struct fxt_archive *to,
			 const struct session_options *o, uint64_t ts_ns);
int recorder_write_clock(struct fxt_archive *to, uint64_t ts_ns);
int recorder_write_sampling(const struct recorder *r, struct fxt_archive *to,
			    const struct session_options *o, uint64_t ts_ns);
int recorder_write_stop(const struct recorder *r, struct fxt_archive *to, uint64_t ts_ns,
			const struct recorder_end *end);

/*
 * Data listed before the archive begins: struct rec_task, struct rec_cgroup. Return 0 or a negative
 * errno.
 */
int recorder_learn_tasks(struct recorder *r, const struct outbuf *tasks);
int recorder_learn_cgroups(struct recorder *r, const struct outbuf *cgroups);

/* Closes the open intervals of CPU when they have ended. Returns 0 or a negative errno. */
int recorder_close_cpu(struct recorder *r, unsigned cpu);

/* The known TID had ended by AT_NS, without a report. Returns 0 or a negative errno. */
int recorder_forget_task(struct recorder *r, uint32_t tid, uint64_t at_ns);

/* Malformed records that the archive does not have yet. Their class is unknown. */
uint64_t recorder_unreported_malformed(const struct recorder *r);

/* The recording ends at this moment. Records the losses that continue. */
void recorder_note_losses(struct recorder *r);

/*
 * Returns MARK, of CLASS on CPU. If the loss continues after the end, only records lost before the
 * end count.
 */
struct ring_lost recorder_clip_to_end(const struct recorder *r, enum event_class class,
				      unsigned cpu, const struct ring_lost *mark);

/* Writes the records that recorder_unreported_malformed() counts. Returns 0 or a negative errno. */
int recorder_write_malformed(struct recorder *r);

/*
 * Losses that the programs could not mark, because no record followed; and skipped runs, whose CPU
 * and time are unknown. Returns 0 or a negative errno.
 */
int recorder_write_trailing_loss(struct recorder *r, enum event_class class, unsigned cpu);
int recorder_write_skipped(struct recorder *r, enum event_class class);
