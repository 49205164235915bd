/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For verbs that compute something from all events of a trace.
 */
#pragma once

#include "cli/common/open-trace.h"
#include "reader/views/summary.h"
#include "writer/event.h"

/* Takes an event in. Returns 0 or -ENOMEM. */
typedef int (*read_events_fn)(void *userdata, const struct event *ev);

/*
 * Gives every event of T to TAKE, and speaks of damage. Returns CLI_OK, or CLI_FAILED when it has
 * said why reading ended.
 */
int read_events(struct open_trace *t, read_events_fn take, void *userdata);

/* Whether EV, an EVENT_START, says that CATEGORY was recorded. */
bool read_events_asked_for(const struct event *ev, const char *category);

/* Sums up damage and losses on stderr. Returns CLI_OK, or CLI_DAMAGE if there were any. */
int read_events_finish(struct open_trace *t, const struct summary *s);

/*
 * For those that name code: if N mappings of T had no room (maps.h), says so on stderr and returns
 * CLI_DAMAGE, as names are missing or wrong then. STATUS if there was room, or if that is an error.
 */
int read_events_unmapped(const struct open_trace *t, uint64_t n, int status);
