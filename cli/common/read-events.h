/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads all events of a trace, for verbs that compute sums.
 */
#pragma once

#include "cli/common/open-trace.h"
#include "reader/views/summary.h"
#include "model/event.h"

/* Processes an event. Returns 0 or -ENOMEM. */
typedef int (*read_events_fn)(void *userdata, const struct event *ev);

/* Calls FN for every event of T, and reports damage. Returns CLI_OK, or CLI_FAILED after an error
 * message. */
int read_events(struct open_trace *t, read_events_fn fn, void *userdata);

/* Prints the total damage and losses on stderr. Returns CLI_OK, or CLI_DAMAGE if there were any. */
int read_events_finish(struct open_trace *t, const struct summary *s);

/*
 * For verbs that name code: if N mappings of T did not fit (maps.h), warns on stderr that names are
 * missing or wrong, and returns CLI_DAMAGE. Returns STATUS if all fitted, or if STATUS is an error.
 */
int read_events_unmapped(const struct open_trace *t, uint64_t n, int status);
