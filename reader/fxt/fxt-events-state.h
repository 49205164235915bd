/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the files that make events from records.
 *
 * The arguments of a record are read once, in any order, into the members that its row in
 * fxt-event-rows.h names. No later code reads the archive's bytes again. Strings are cleaned into
 * slots in struct fxt_events.
 */
#pragma once

#include "base/table.h"
#include "reader/fxt/fxt-events.h"
#include "reader/fxt/fxt-row.h"
#include "writer/fxt/fxt-event-fields.h"

/*
 * The maximum number of strings of an event: a call or a tracepoint event has the most, with the
 * names and texts of its arguments.
 */
enum { SLOTS = 2 * EVENT_TRACEPOINT_ARGS_MAX + 4 };
_Static_assert(EVENT_TRACEPOINT_ARGS_MAX >= (int)EVENT_CALL_ARGS_MAX, "the larger number");
_Static_assert(SLOTS > (int)EVENT_VALUES_MAX, "a counter's names");

struct fxt_events_slot {
	char *text; /* owned */
	size_t room;
};

struct fxt_events {
	struct fxt_events_slot slots[SLOTS];
	unsigned n_slots;                            /* number of slots that this event uses */
	struct event_value values[EVENT_VALUES_MAX]; /* values of a counter */
	struct call_value call_values[EVENT_TRACEPOINT_ARGS_MAX]; /* also fields of tracepoints */
	const char *damage;
	uint8_t build_id[FXT_BUILD_ID_BYTES_MAX]; /* build id of this event */
	/* The processes that had an event `mapping`: a set of pid + 1. */
	struct table mapped;
	/* Modules of processes without such an event: hash -> struct module, owned. */
	struct table modules;
	struct fxt_named named;
	struct table left; /* tid + 1 -> time + 1 of the thread's last event `offcpu` */
};

/* Sets *RET to a cleaned copy of the text T. Returns 0 or -ENOMEM. */
int fxt_events_text(struct fxt_events *e, const struct fxt_text *t, const char **ret);

/* Sets *RET to the value of ARG. Returns false if ARG is not an unsigned number. */
bool fxt_events_unsigned(const struct fxt_arg *arg, uint64_t *ret);

/*
 * Reads the arguments of RECORD into the members of *EV that ROW names. A missing argument, or one
 * of another type, leaves its member unchanged. Returns an enum fxt_events_outcome
 * (FXT_EVENTS_NONE: a required argument is missing, so the event belongs to another program) or
 * -ENOMEM.
 */
int fxt_events_fill(struct fxt_events *e, const struct fxt_record *record, enum fxt_row_id row,
		    struct event *ev);

/*
 * Complete mappings and times off CPU where their rows do not express something, and handle
 * profiler records (fxt-events-profiler.c).
 */
int fxt_events_mapping(struct fxt_events *e, struct event *ev);
int fxt_events_offcpu(struct fxt_events *e, struct event *ev);
int fxt_events_profiler(struct fxt_events *e, const struct fxt_record *record, struct event *ev);
void fxt_events_free_modules(struct fxt_events *e);
