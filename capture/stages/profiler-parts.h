/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The declarations that the files of the profiler share. Internal to profiler*.c.
 *
 *   profiler.c           the operations of the stage
 *   profiler-mappings.c  mappings, and which processes need them
 *   profiler-stacks.c    records with a stack
 */
#pragma once

#include "capture/stages/profiler.h"

int profiler_write_event(struct profiler *p, const struct event *ev);

/* ---- profiler-mappings.c ---- */

void profiler_free_processes(struct profiler *p);

/*
 * The first function handles a mapping, the second one the beginning of an exec. Both return 0 or a
 * negative errno.
 */
int profiler_on_mapping(struct profiler *p, const struct rec_mapping *rec);
int profiler_on_new_image(struct profiler *p, const struct rec_head *head);

/*
 * If many processes are known, or if many mappings wait: forgets ended processes, since the end of
 * processes that are not selected is not reported. Returns 0 or a negative errno.
 */
int profiler_forget_ended(struct profiler *p, uint64_t now_ns);

/* From now on, mappings are kept for heads of chunks. Returns 0 or -ENOMEM. */
int profiler_will_split(struct profiler *p);

/*
 * Operations of the stage. After a pause, all mappings are unknown, and mappings that wait are
 * discarded.
 */
int profiler_head(const void *stage, const struct stage_head *h);
int profiler_resume(void *stage);

/*
 * Returns true if PID is in the middle of the exec with which a filter selected it. The mappings of
 * its old program are never written.
 */
bool profiler_is_between_programs(const struct profiler *p, uint32_t pid);

/* ---- profiler-stacks.c ---- */

/*
 * The first function writes the event for a REC_SAMPLE, the second one for a REC_OFFCPU. Both
 * return 0 or the archive's error.
 */
int profiler_on_sample(struct profiler *p, const struct rec_head *head);
int profiler_on_offcpu(struct profiler *p, const struct rec_head *head);

/*
 * Takes PIECE, which belongs to a thread that leaves its CPU and has no other kept piece. PIECE is
 * kept until the time off CPU is written, or until the thread leaves again (short times off CPU are
 * not reported). Returns 0 or a negative errno.
 */
int profiler_on_left(struct profiler *p, const struct rec_piece *piece);
