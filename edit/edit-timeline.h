/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What runs on each CPU, as an archive's scheduling records have it, in the order of time; and the
 * synthetic switches that a timeline needs where records are missing, begin or end.
 *
 * Readers keep a thread running until the switch that takes it off: one lost record, and a slice
 * stays open to the end of the trace. A wakeup of a thread that runs cuts its slice in two. So
 * an edit that leaves records out, or found them missing, lets each one pass through here first.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "edit/edit-copy.h"

/* What "other" has for a weight: a normal thread's, never idle's. */
enum { EDIT_OTHER_WEIGHT = 120 };

struct edit_timeline;

/* Writes a synthetic switch. Returns 0 or a negative errno. */
typedef int (*edit_timeline_fn)(void *userdata, const struct edit_switch *sw);

int edit_timeline_new(struct edit_timeline **ret, edit_timeline_fn write, void *userdata);
struct edit_timeline *edit_timeline_free(struct edit_timeline *t);
DEFINE_CLEANUP(struct edit_timeline *, edit_timeline_free)

enum edit_timeline_verdict {
	EDIT_TIMELINE_DROP = 0, /* it says what is so already, or cannot be */
	EDIT_TIMELINE_KEEP = 1,
};

/*
 * Takes a scheduling record in. Where it does not follow from those before it, the switches that
 * make it follow are written first, at the last time that is known to be right. Returns an
 * enum edit_timeline_verdict, or a negative errno.
 */
int edit_timeline_take(struct edit_timeline *t, const struct fxt_record *record);

/* The same, but nothing is written: it only becomes known. */
int edit_timeline_note(struct edit_timeline *t, const struct fxt_record *record);

/* Records may be missing between these times: what ran at FROM_NS need not run at TO_NS. */
void edit_timeline_gap(struct edit_timeline *t, uint64_t from_ns, uint64_t to_ns);

/* Writes switches from idle to what runs, for each CPU, at TS_NS. */
int edit_timeline_open(struct edit_timeline *t, uint64_t ts_ns);

/* Writes switches from what runs to idle, for each CPU, at TS_NS. */
int edit_timeline_close(struct edit_timeline *t, uint64_t ts_ns);

/* The CPU where koid TID runs, or -1. */
int edit_timeline_cpu_of(const struct edit_timeline *t, uint64_t tid);
