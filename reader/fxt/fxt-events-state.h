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

/* The maximum number of strings of an event: for a call, with the names of its arguments. */
enum { SLOTS = 2 * EVENT_CALL_ARGS_MAX + 4 };
_Static_assert(SLOTS > (int)EVENT_VALUES_MAX, "a counter's names");

struct fxt_events_slot {
	char *text; /* owned */
	size_t room;
};

struct fxt_events {
	struct fxt_events_slot slots[SLOTS];
	unsigned n_slots;                            /* used by this event */
	struct event_value values[EVENT_VALUES_MAX]; /* of a counter */
	struct call_value call_values[EVENT_CALL_ARGS_MAX];
	const char *damage;
	uint8_t build_id[FXT_BUILD_ID_BYTES_MAX]; /* of this event */
	struct table mapped;                      /* pid + 1: it had an event `mapping` */
	struct table modules;                     /* hash -> struct module, owned, of the others */
	struct fxt_named named;
	struct table left; /* tid + 1 -> the last time that it left its CPU, + 1 */
};

/* Sets *RET to the clean text of T. Returns 0 or -ENOMEM. */
int fxt_events_text(struct fxt_events *e, const struct fxt_text *t, const char **ret);

/* Whether ARG is an unsigned number, and its value. */
bool fxt_events_unsigned(const struct fxt_arg *arg, uint64_t *ret);

/*
 * Reads the arguments of RECORD into the members of *EV that ROW names. A missing one, or one of
 * another type, leaves its member unchanged. Returns an enum fxt_events_outcome (FXT_EVENTS_NONE: a
 * required argument is missing, so the event belongs to another program) or -ENOMEM.
 */
int fxt_events_fill(struct fxt_events *e, const struct fxt_record *record, enum fxt_row_id row,
		    struct event *ev);

/*
 * Handling of samples and mappings beyond their rows, and profiler records (fxt-events-profiler.c).
 */
int fxt_events_mapping(struct fxt_events *e, struct event *ev);
int fxt_events_offcpu(struct fxt_events *e, struct event *ev);
int fxt_events_profiler(struct fxt_events *e, const struct fxt_record *record, struct event *ev);
void fxt_events_free_modules(struct fxt_events *e);
