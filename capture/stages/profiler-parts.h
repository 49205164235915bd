/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shared part of the profiler's files. Internal to profiler*.c.
 *
 *   profiler.c         mappings, and the operations of the stage
 *   profiler-stacks.c  records with a stack
 */
#pragma once

#include "capture/stages/profiler.h"

int profiler_write_event(struct profiler *p, const struct event *ev);

/*
 * Whether PID is in the middle of the exec with which a filter selected it. The mappings of its old
 * program are never written.
 */
bool profiler_is_between_programs(const struct profiler *p, uint32_t pid);

/* Write the events for a REC_SAMPLE and a REC_OFFCPU. Return 0 or the archive's error. */
int profiler_on_sample(struct profiler *p, const struct rec_head *head);
int profiler_on_offcpu(struct profiler *p, const struct rec_head *head);

/*
 * Takes PIECE, of a thread that leaves its CPU and has no other kept piece. PIECE is kept until the
 * time off CPU is written, or until the thread leaves again (short times off CPU are not reported).
 * Returns 0 or a negative errno.
 */
int profiler_on_left(struct profiler *p, const struct rec_piece *piece);
