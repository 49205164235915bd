/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events on tracks (TrackEvent): counters, calls, times off CPU, work items, tracepoints, the
 * life of processes, marks and losses. The descriptor of a
 * track precedes its first event.
 */
#pragma once

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "model/event.h"

struct perfetto_tracks;

int perfetto_tracks_new(struct perfetto_tracks **ret);
struct perfetto_tracks *perfetto_tracks_free(struct perfetto_tracks *t);
DEFINE_CLEANUP(struct perfetto_tracks *, perfetto_tracks_free)

/* Writes EV to TO, if it is of a kind that is shown on tracks. Returns 0 or -ENOMEM. */
int perfetto_tracks_add(struct perfetto_tracks *t, const struct event *ev, struct outbuf *to);
