/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ids of tracks: that of a thread is TRACK_THREAD with its koid, that of a process TRACK_PROCESS
 * with its koid. TRACK_MARKS and TRACK_LOSSES are the tracks of the recording. Ids of counters and
 * of asynchronous events are hashes.
 */
#include "writer/perfetto/perfetto-tracks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/protobuf.h"
#include "base/table.h"
#include "writer/perfetto/perfetto-wire.h"

#define TRACK_MARKS   UINT64_C(1)
#define TRACK_LOSSES  UINT64_C(2)
#define TRACK_THREAD  (UINT64_C(1) << 40)
#define TRACK_PROCESS (UINT64_C(1) << 41)
#define TRACK_HASHED  (UINT64_C(1) << 63)

enum { NAME_MAX_BYTES = 512 };

struct perfetto_tracks {
	struct table known; /* ids of tracks with a descriptor */
};

int perfetto_tracks_new(struct perfetto_tracks **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

struct perfetto_tracks *perfetto_tracks_free(struct perfetto_tracks *t)
{
	if (!t)
		return NULL;
	table_deinit(&t->known);
	return free_ptr(t);
}

/* ---- descriptors ---- */

/* Returns 1 if the track has no descriptor yet (the caller must write it), 0 if it has, or
 * -ENOMEM. */
static int perfetto_tracks_is_new(struct perfetto_tracks *t, uint64_t id)
{
	if (table_get(&t->known, id))
		return 0;
	return table_set(&t->known, id, t) < 0 ? -ENOMEM : 1;
}

/* Begins a packet with the descriptor of track ID. Returns the position of the descriptor, and in
 * *RET_PACKET that of the packet: the caller ends both. */
static size_t perfetto_tracks_begin(uint64_t id, const char *name, struct outbuf *to,
				    size_t *ret_packet)
{
	size_t track;

	*ret_packet = protobuf_begin(to, TRACE_PACKET);
	protobuf_add_u64(to, PACKET_SEQUENCE_ID, SEQUENCE_TRACKS);
	track = protobuf_begin(to, PACKET_TRACK_DESCRIPTOR);
	protobuf_add_u64(to, TRACK_UUID, id);
	if (name)
		protobuf_add_text(to, TRACK_NAME, name);
	return track;
}

static int perfetto_tracks_named(struct perfetto_tracks *t, uint64_t id, const char *name,
				 struct outbuf *to)
{
	int r = perfetto_tracks_is_new(t, id);
	size_t packet, track;

	if (r <= 0)
		return r;
	track = perfetto_tracks_begin(id, name, to, &packet);
	protobuf_end(to, track);
	protobuf_end(to, packet);
	return 0;
}

int perfetto_tracks_thread(struct perfetto_tracks *t, uint32_t pid, uint32_t tid, uint64_t *ret_id,
			   struct outbuf *to)
{
	size_t packet, track, thread;
	int r;

	*ret_id = TRACK_THREAD | tid;
	r = perfetto_tracks_is_new(t, *ret_id);
	if (r <= 0)
		return r;
	track = perfetto_tracks_begin(*ret_id, NULL, to, &packet);
	thread = protobuf_begin(to, TRACK_THREAD_DESCRIPTOR);
	protobuf_add_u64(to, THREAD_DESCRIPTOR_PID, pid);
	protobuf_add_u64(to, THREAD_DESCRIPTOR_TID, tid);
	protobuf_end(to, thread);
	protobuf_end(to, track);
	protobuf_end(to, packet);
	return 0;
}

static int perfetto_tracks_process(struct perfetto_tracks *t, uint32_t pid, uint64_t *ret_id,
				   struct outbuf *to)
{
	size_t packet, track, process;
	int r;

	*ret_id = TRACK_PROCESS | pid;
	r = perfetto_tracks_is_new(t, *ret_id);
	if (r <= 0)
		return r;
	track = perfetto_tracks_begin(*ret_id, NULL, to, &packet);
	process = protobuf_begin(to, TRACK_PROCESS_DESCRIPTOR);
	protobuf_add_u64(to, PROCESS_DESCRIPTOR_PID, pid);
	protobuf_end(to, process);
	protobuf_end(to, track);
	protobuf_end(to, packet);
	return 0;
}

int perfetto_tracks_async(struct perfetto_tracks *t, uint32_t pid, const char *name, uint64_t id,
			  uint64_t *ret_id, struct outbuf *to)
{
	uint64_t parent, key[3] = { pid, id, table_hash(name, strlen(name)) };
	size_t packet, track;
	int r = perfetto_tracks_process(t, pid, &parent, to);

	if (r < 0)
		return r;
	*ret_id = TRACK_HASHED | table_hash(key, sizeof(key));
	r = perfetto_tracks_is_new(t, *ret_id);
	if (r <= 0)
		return r;
	track = perfetto_tracks_begin(*ret_id, name, to, &packet);
	protobuf_add_u64(to, TRACK_PARENT_UUID, parent);
	protobuf_end(to, track);
	protobuf_end(to, packet);
	return 0;
}

/* ---- events ---- */

/* Adds a text or an unsigned number. */
static void perfetto_tracks_add_arg(const struct call_value *v, struct outbuf *to)
{
	size_t arg = protobuf_begin(to, EVENT_DEBUG_ANNOTATIONS);
	protobuf_add_text(to, ANNOTATION_NAME, v->name);
	if (v->form == CALL_VALUE_TEXT)
		protobuf_add_text(to, ANNOTATION_STRING, v->text);
	else
		protobuf_add_u64(to, ANNOTATION_UINT, v->u64);
	protobuf_end(to, arg);
}

size_t perfetto_tracks_begin_event(uint64_t id, unsigned type, uint64_t ts_ns, struct outbuf *to,
				   size_t *ret_packet)
{
	size_t event;

	*ret_packet = protobuf_begin(to, TRACE_PACKET);
	protobuf_add_u64(to, PACKET_TIMESTAMP, ts_ns);
	protobuf_add_u64(to, PACKET_SEQUENCE_ID, SEQUENCE_TRACKS);
	event = protobuf_begin(to, PACKET_TRACK_EVENT);
	protobuf_add_u64(to, EVENT_TYPE, type);
	protobuf_add_u64(to, EVENT_TRACK_UUID, id);
	return event;
}

static void perfetto_tracks_put(uint64_t id, unsigned type, uint64_t ts_ns, const char *category,
				const char *name, const struct call_value *args, size_t n_args,
				struct outbuf *to)
{
	size_t packet, event = perfetto_tracks_begin_event(id, type, ts_ns, to, &packet);

	if (name) {
		protobuf_add_text(to, EVENT_CATEGORIES, category);
		protobuf_add_text(to, EVENT_NAME, name);
	}
	for (size_t i = 0; i < n_args; i++)
		perfetto_tracks_add_arg(&args[i], to);
	protobuf_end(to, event);
	protobuf_end(to, packet);
}

static int perfetto_tracks_add_work(struct perfetto_tracks *t, const struct event *ev,
				    struct outbuf *to)
{
	uint64_t id;
	int r;

	if (ev->interval.kind != INTERVAL_WORK)
		return 0;
	r = perfetto_tracks_thread(t, ev->pid, ev->tid, &id, to);
	if (r < 0)
		return r;
	perfetto_tracks_put(id, TYPE_SLICE_BEGIN, ev->ts_ns, "workqueue", ev->interval.name, NULL,
			    0, to);
	perfetto_tracks_put(id, TYPE_SLICE_END, ev->interval.end_ns, NULL, NULL, NULL, 0, to);
	return 0;
}

static int perfetto_tracks_add_lost(struct perfetto_tracks *t, const struct event *ev,
				    struct outbuf *to)
{
	const struct call_value args[] = {
		{ .name = "class", .form = CALL_VALUE_TEXT, .text = ev->lost.class_name },
		{ .name = "cpu", .form = CALL_VALUE_UINT, .u64 = ev->cpu },
		{ .name = "count", .form = CALL_VALUE_UINT, .u64 = ev->lost.count },
		{ .name = "first", .form = CALL_VALUE_UINT, .u64 = ev->lost.first_ns },
		{ .name = "last", .form = CALL_VALUE_UINT, .u64 = ev->lost.last_ns },
	};
	int r = perfetto_tracks_named(t, TRACK_LOSSES, "lost events", to);

	if (r == 0)
		perfetto_tracks_put(TRACK_LOSSES, TYPE_INSTANT, ev->ts_ns, "kymo", "lost", args,
				    ARRAY_SIZE(args), to);
	return r;
}

static int perfetto_tracks_add_mark(struct perfetto_tracks *t, const struct event *ev,
				    struct outbuf *to)
{
	int r = perfetto_tracks_named(t, TRACK_MARKS, "marks", to);

	if (r == 0)
		perfetto_tracks_put(TRACK_MARKS, TYPE_INSTANT, ev->ts_ns, "kymo", ev->mark.text,
				    NULL, 0, to);
	return r;
}

/* ---- counters ---- */

/*
 * Writes the descriptor of the counter NAME, unless it was written. Its unit is in brackets at the
 * end of VALUE. PARENT is the track of its process; 0 = none. Returns 0 or -ENOMEM.
 */
static int perfetto_tracks_counter(struct perfetto_tracks *t, uint64_t id, uint64_t parent,
				   const char *name, const char *value, struct outbuf *to)
{
	const char *unit = strchr(value, '(');
	size_t packet, track, counter;
	int r = perfetto_tracks_is_new(t, id);

	if (r <= 0)
		return r;
	track = perfetto_tracks_begin(id, name, to, &packet);
	protobuf_add_nonzero(to, TRACK_PARENT_UUID, parent);
	counter = protobuf_begin(to, TRACK_COUNTER);
	if (unit && strcmp(unit, "(bytes)") == 0)
		protobuf_add_u64(to, COUNTER_UNIT, UNIT_SIZE_BYTES);
	else if (unit && strcmp(unit, "(%)") == 0)
		protobuf_add_text(to, COUNTER_UNIT_NAME, "%");
	else if (strcmp(value, "kHz") == 0)
		protobuf_add_text(to, COUNTER_UNIT_NAME, value);
	protobuf_end(to, counter);
	protobuf_end(to, track);
	protobuf_end(to, packet);
	return 0;
}

int perfetto_tracks_process_counter(struct perfetto_tracks *t, uint32_t pid, const char *name,
				    const char *value, uint64_t *ret_id, struct outbuf *to)
{
	uint64_t parent, key[2] = { pid, table_hash(name, strlen(name)) };
	int r = perfetto_tracks_process(t, pid, &parent, to);

	*ret_id = TRACK_HASHED | table_hash(key, sizeof(key));
	return r ?: perfetto_tracks_counter(t, *ret_id, parent, name, value, to);
}

static int perfetto_tracks_add_value(struct perfetto_tracks *t, const struct event *ev,
				     const struct event_value *v, struct outbuf *to)
{
	char name[NAME_MAX_BYTES];
	size_t packet, event;
	uint64_t id;
	int n, r;

	if (ev->counter.id == 0 && strcmp(ev->counter.name, "CPU frequency") != 0)
		n = snprintf(name, sizeof(name), "%s:%s", ev->counter.name, v->name);
	else
		n = snprintf(name, sizeof(name), "%s %llu:%s", ev->counter.name,
			     (unsigned long long)ev->counter.id, v->name);
	id = TRACK_HASHED | table_hash(name, n < NAME_MAX_BYTES ? (size_t)n : sizeof(name) - 1);
	r = perfetto_tracks_counter(t, id, 0, name, v->name, to);
	if (r < 0)
		return r;
	event = perfetto_tracks_begin_event(id, TYPE_COUNTER, ev->ts_ns, to, &packet);
	if (v->whole)
		protobuf_add_u64(to, EVENT_COUNTER_VALUE, v->u64);
	else
		protobuf_add_double(to, EVENT_DOUBLE_COUNTER_VALUE, v->f64);
	protobuf_end(to, event);
	protobuf_end(to, packet);
	return 0;
}

static int perfetto_tracks_add_counter(struct perfetto_tracks *t, const struct event *ev,
				       struct outbuf *to)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < ev->counter.n_values; i++)
		r = perfetto_tracks_add_value(t, ev, &ev->counter.values[i], to);
	return r;
}

int perfetto_tracks_add(struct perfetto_tracks *t, const struct event *ev, struct outbuf *to)
{
	switch (ev->kind) {
	case EVENT_INTERVAL:
		return perfetto_tracks_add_work(t, ev, to);
	case EVENT_COUNTER:
		return perfetto_tracks_add_counter(t, ev, to);
	case EVENT_MARK:
		return perfetto_tracks_add_mark(t, ev, to);
	case EVENT_LOST:
		return perfetto_tracks_add_lost(t, ev, to);
	default:
		return 0;
	}
}
