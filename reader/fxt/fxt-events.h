/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Turns the records of an archive into neutral events, by docs/FXT-MAPPING.md.
 *
 * Of other writers' archives, everything that the specification describes is used: scheduling
 * records of all three kinds, names of processes and threads, and profiler records. A side of a
 * switch with the idle weight (or, in the legacy record, process 0 with priority 0) is the idle
 * thread, tid 0, whatever koid that side has. Koids are cut to 32 bits, as in other readers.
 *
 * A kernel object of a process becomes EVENT_TASK with is_process and tid 0; that of a thread
 * EVENT_TASK with both ids. Switches and wakeups of types 1 and 2 name no process: their pid is 0.
 *
 * A backtrace becomes EVENT_SAMPLE. Its kind is SAMPLE_OFF_CPU if the last event `offcpu` of its
 * thread began at the time of the backtrace. The archive does not contain the CPU of a backtrace
 * (cpu is 0). Module and mmap records become EVENT_MAPPING, unless the same process had an event
 * `mapping`.
 */
#pragma once

#include "base/cleanup.h"
#include "reader/fxt/fxt-reader.h"
#include "model/event.h"

struct fxt_events;

enum fxt_events_outcome {
	FXT_EVENTS_NONE = 0, /* the record is not a known event */
	FXT_EVENTS_EVENT = 1,
	FXT_EVENTS_DAMAGE = 2, /* arguments of the record are invalid */
};

int fxt_events_new(struct fxt_events **ret);
struct fxt_events *fxt_events_free(struct fxt_events *e);
DEFINE_CLEANUP(struct fxt_events *, fxt_events_free)

/*
 * Makes *RET from RECORD. The pointers of *RET are valid until the next call. Returns an enum
 * fxt_events_outcome (for damage, with the static text *RET_WHAT), or -ENOMEM.
 */
int fxt_events_get(struct fxt_events *e, const struct fxt_record *record, struct event *ret,
		   const char **ret_what);
