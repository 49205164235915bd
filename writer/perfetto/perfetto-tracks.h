/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events on tracks (TrackEvent): counters, work items, marks and losses. The descriptor of a track
 * precedes its first event.
 */
#pragma once

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "model/event.h"

struct perfetto_tracks;

int perfetto_tracks_new(struct perfetto_tracks **ret);
struct perfetto_tracks *perfetto_tracks_free(struct perfetto_tracks *t);
DEFINE_CLEANUP(struct perfetto_tracks *, perfetto_tracks_free)

/* Writes EV to TO, if its kind is shown on tracks. Returns 0 or -ENOMEM. */
int perfetto_tracks_add(struct perfetto_tracks *t, const struct event *ev, struct outbuf *to);

/* ---- for perfetto-plain.c ---- */

/*
 * Write a descriptor to TO, unless it was written: of a thread's track; of the track of a process
 * for the asynchronous events with NAME and ID; and of a process's counter NAME. *RET_ID is the id
 * of the track. Return 0 or -ENOMEM.
 */
int perfetto_tracks_thread(struct perfetto_tracks *t, uint32_t pid, uint32_t tid, uint64_t *ret_id,
			   struct outbuf *to);
int perfetto_tracks_async(struct perfetto_tracks *t, uint32_t pid, const char *name, uint64_t id,
			  uint64_t *ret_id, struct outbuf *to);
int perfetto_tracks_process_counter(struct perfetto_tracks *t, uint32_t pid, const char *name,
				    const char *value, uint64_t *ret_id, struct outbuf *to);

/*
 * Begins an event of TYPE at TS_NS on the track ID. Returns the position of the event, and in
 * *RET_PACKET that of its packet: the caller ends both, the event first.
 */
size_t perfetto_tracks_begin_event(uint64_t id, unsigned type, uint64_t ts_ns, struct outbuf *to,
				   size_t *ret_packet);
