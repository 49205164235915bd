/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The running thread of each CPU, from an archive's scheduling records in order of time, and the
 * synthetic switches where records are missing, begin or end.
 *
 * Readers keep a thread running until the switch that takes the thread off its CPU. With one lost
 * record, a slice stays open to the end of the trace. A wakeup of a running thread cuts its slice
 * in two. So an edit that leaves out records, or finds that records are missing, passes each record
 * through this module first.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "edit/edit-copy.h"

/*
 * The weight of "other": that of a normal thread, so that it differs from the weight of the idle
 * thread.
 */
enum { EDIT_OTHER_WEIGHT = 120 };

struct edit_timeline;

/* Writes a synthetic switch. Returns 0 or a negative errno. */
typedef int (*edit_timeline_fn)(void *userdata, const struct edit_switch *sw);

int edit_timeline_new(struct edit_timeline **ret, edit_timeline_fn write, void *userdata);
struct edit_timeline *edit_timeline_free(struct edit_timeline *t);
DEFINE_CLEANUP(struct edit_timeline *, edit_timeline_free)

enum edit_timeline_verdict {
	EDIT_TIMELINE_DROP = 0, /* the record repeats the state, or is impossible */
	EDIT_TIMELINE_KEEP = 1,
};

/*
 * Processes a scheduling record. If RECORD contradicts the previous records, the switches that
 * resolve the contradiction are written first, at the last time that is certain. Returns an enum
 * edit_timeline_verdict, or a negative errno.
 */
int edit_timeline_process(struct edit_timeline *t, const struct fxt_record *record);

/* Updates the state like edit_timeline_process(), without output. */
int edit_timeline_note(struct edit_timeline *t, const struct fxt_record *record);

/*
 * Notes that records between FROM_NS and TO_NS can be missing, so a thread that ran at FROM_NS need
 * not run at TO_NS.
 */
void edit_timeline_gap(struct edit_timeline *t, uint64_t from_ns, uint64_t to_ns);

/* Writes switches from idle to the running thread, for each CPU, at TS_NS. */
int edit_timeline_open(struct edit_timeline *t, uint64_t ts_ns);

/* Writes switches from the running thread to idle, for each CPU, at TS_NS. */
int edit_timeline_close(struct edit_timeline *t, uint64_t ts_ns);

/* Returns the CPU on which koid TID runs, or -1. */
int edit_timeline_cpu_of(const struct edit_timeline *t, uint64_t tid);
