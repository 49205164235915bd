/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the recorder share. Internal to recorder*.c.
 *
 *	recorder.c           what goes through the pipeline as a whole
 *	recorder-stages.c    the stages, in their order
 *	recorder-triggers.c  what triggers see
 *	recorder-learn.c     who is who
 *	recorder-lost.c      what was lost
 *	recorder-head.c      what the heads of all chunks have, and their tails
 *	recorder-chunk.c     where one chunk ends and the next begins
 *	recorder-pause.c     where it pauses and goes on
 */
#pragma once

#include "capture/pipeline/recorder.h"

/* Each writes to TO, as of TS_NS, and returns 0 or a negative errno. */
int recorder_write_start(const struct recorder *r, struct fxt_archive *to,
			 const struct session_options *o, uint64_t ts_ns);
int recorder_write_clock(struct fxt_archive *to, uint64_t ts_ns);
int recorder_write_sampling(const struct recorder *r, struct fxt_archive *to,
			    const struct session_options *o, uint64_t ts_ns);
int recorder_write_stop(const struct recorder *r, struct fxt_archive *to, uint64_t ts_ns,
			const struct recorder_end *end);

/*
 * What is listed, before the archive begins: struct rec_task, struct proc_cgroup. Return 0 or a
 * negative errno.
 */
int recorder_learn_tasks(struct recorder *r, const struct outbuf *tasks);
int recorder_learn_cgroups(struct recorder *r, const struct outbuf *cgroups);

/*
 * What runs on CPU when the programs have begun; and what it is in the middle of when they have
 * ended.
 */
int recorder_open_cpu(struct recorder *r, unsigned cpu);
int recorder_close_cpu(struct recorder *r, unsigned cpu);
int recorder_open_cpus(struct recorder *r);

/* Which thread runs on which CPU is not known: with a filter, it counts as "other". */
void recorder_forget_running(struct recorder *r);

/* Names all tasks that the archive does not have. Returns 0 or a negative errno. */
int recorder_announce_all(struct recorder *r);

/*
 * TID, which is known, had ended by AT_NS, which was not reported. Returns 0 or a negative errno.
 */
int recorder_forget_task(struct recorder *r, uint32_t tid, uint64_t at_ns);

/* Malformed records that the archive does not report yet; their class is unknown. */
uint64_t recorder_unsaid_malformed(const struct recorder *r);

/* The recording ends at this moment: takes note of the losses that go on. */
void recorder_note_losses(struct recorder *r);

/*
 * MARK, of CLASS on CPU: of a loss that goes on after the end, only what was lost by then counts.
 */
struct ring_lost recorder_clip_to_end(const struct recorder *r, enum event_class class,
				      unsigned cpu, const struct ring_lost *mark);

/*
 * A loss of something that has no state that would have to be closed and opened. Returns 0 or a
 * negative errno.
 */
int recorder_write_loss(struct recorder *r, enum event_class class, unsigned cpu,
			const struct ring_lost *mark);

/*
 * *N records of CLASS could not be used: writes that, as of now (at the latest as of the end), and
 * sets *N to 0. Likewise.
 */
int recorder_write_shortage(struct recorder *r, enum event_class class, uint64_t *n);

/* Likewise, those that recorder_unsaid_malformed() counts. */
int recorder_write_malformed(struct recorder *r);

/*
 * What the programs counted and could not mark any more, since nothing followed; and what the
 * kernel did not let them see, on which CPU and when is not known. Likewise.
 */
int recorder_write_trailing_loss(struct recorder *r, enum event_class class, unsigned cpu);
int recorder_write_skipped(struct recorder *r, enum event_class class);
