/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * In an archive, a flow is an event inside of a slice, and connects this slice with others. Here it
 * becomes an instant of its own inside of the slice, since the packet of the slice may have been
 * written already.
 */
#include "writer/perfetto/perfetto-plain.h"

#include <stdio.h>

#include "base/protobuf.h"
#include "writer/perfetto/perfetto-wire.h"

enum { PLAIN_NAME_BYTES = 512 };

static void perfetto_plain_add_arg(const struct perfetto_plain_arg *a, struct outbuf *to)
{
	size_t arg = protobuf_begin(to, EVENT_DEBUG_ANNOTATIONS);

	protobuf_add_text(to, ANNOTATION_NAME, a->name);
	switch (a->form) {
	case PLAIN_ARG_INT:
		protobuf_add_u64(to, ANNOTATION_INT, (uint64_t)a->i64);
		break;
	case PLAIN_ARG_UINT:
		protobuf_add_u64(to, ANNOTATION_UINT, a->u64);
		break;
	case PLAIN_ARG_POINTER:
		protobuf_add_u64(to, ANNOTATION_POINTER, a->u64);
		break;
	case PLAIN_ARG_BOOL:
		protobuf_add_u64(to, ANNOTATION_BOOL, a->yes);
		break;
	case PLAIN_ARG_DOUBLE:
		protobuf_add_double(to, ANNOTATION_DOUBLE, a->f64);
		break;
	case PLAIN_ARG_TEXT:
		protobuf_add_text(to, ANNOTATION_STRING, a->text);
		break;
	}
	protobuf_end(to, arg);
}

/* Writes P as an event of TYPE. The end of a slice has no name: it ends the innermost slice. */
static void perfetto_plain_put(const struct perfetto_plain *p, uint64_t track, unsigned type,
			       struct outbuf *to)
{
	bool ends = type == TYPE_SLICE_END;
	uint64_t ts_ns = ends && p->form == PLAIN_COMPLETE ? p->end_ns : p->ts_ns;
	size_t packet, event = perfetto_tracks_begin_event(track, type, ts_ns, to, &packet);

	if (!ends) {
		protobuf_add_text(to, EVENT_CATEGORIES, p->category);
		protobuf_add_text(to, EVENT_NAME, p->name);
	}
	for (size_t i = 0; i < p->n_args && (!ends || p->form != PLAIN_COMPLETE); i++)
		perfetto_plain_add_arg(&p->args[i], to);
	if (p->form == PLAIN_FLOW_END)
		protobuf_add_fixed64(to, EVENT_TERMINATING_FLOW_IDS, p->id);
	else if (p->form == PLAIN_FLOW_BEGIN || p->form == PLAIN_FLOW_STEP)
		protobuf_add_fixed64(to, EVENT_FLOW_IDS, p->id);
	protobuf_end(to, event);
	protobuf_end(to, packet);
}

static int perfetto_plain_add_to_thread(struct perfetto_tracks *t, const struct perfetto_plain *p,
					unsigned type, struct outbuf *to)
{
	uint64_t track;
	int r = perfetto_tracks_thread(t, p->pid, p->tid, &track, to);

	if (r < 0)
		return r;
	perfetto_plain_put(p, track, type, to);
	if (p->form == PLAIN_COMPLETE)
		perfetto_plain_put(p, track, TYPE_SLICE_END, to);
	return 0;
}

static int perfetto_plain_add_async(struct perfetto_tracks *t, const struct perfetto_plain *p,
				    unsigned type, struct outbuf *to)
{
	uint64_t track;
	int r = perfetto_tracks_async(t, p->pid, p->name, p->id, &track, to);

	if (r == 0)
		perfetto_plain_put(p, track, type, to);
	return r;
}

/* Adds the values of a counter that are numbers, each on a track of its own. */
static int perfetto_plain_add_counter(struct perfetto_tracks *t, const struct perfetto_plain *p,
				      struct outbuf *to)
{
	char name[PLAIN_NAME_BYTES], id[32] = "";
	size_t packet, event;
	uint64_t track;
	int r = 0;

	if (p->id != 0)
		snprintf(id, sizeof(id), ":%llu", (unsigned long long)p->id);
	for (size_t i = 0; r == 0 && i < p->n_args; i++) {
		const struct perfetto_plain_arg *a = &p->args[i];

		if (a->form == PLAIN_ARG_TEXT || a->form == PLAIN_ARG_BOOL)
			continue;
		snprintf(name, sizeof(name), "%s:%s%s", p->name, a->name, id);
		r = perfetto_tracks_process_counter(t, p->pid, name, a->name, &track, to);
		if (r < 0)
			break;
		event = perfetto_tracks_begin_event(track, TYPE_COUNTER, p->ts_ns, to, &packet);
		if (a->form == PLAIN_ARG_DOUBLE)
			protobuf_add_double(to, EVENT_DOUBLE_COUNTER_VALUE, a->f64);
		else
			protobuf_add_u64(to, EVENT_COUNTER_VALUE, a->u64);
		protobuf_end(to, event);
		protobuf_end(to, packet);
	}
	return r;
}

/* Writes a log line, for Perfetto's table and view of log lines. REALTIME_NS converts its time to
 * CLOCK_REALTIME, the clock of log lines in Perfetto. */
static void perfetto_plain_add_line(const struct perfetto_plain *p, uint64_t realtime_ns,
				    struct outbuf *to)
{
	size_t packet = protobuf_begin(to, TRACE_PACKET), log, line;

	protobuf_add_u64(to, PACKET_TIMESTAMP, p->ts_ns);
	protobuf_add_u64(to, PACKET_SEQUENCE_ID, SEQUENCE_TRACKS);
	log = protobuf_begin(to, PACKET_ANDROID_LOG);
	line = protobuf_begin(to, LOG_EVENTS);
	protobuf_add_u64(to, LOG_PID, p->pid);
	protobuf_add_u64(to, LOG_TID, p->tid);
	protobuf_add_u64(to, LOG_TIMESTAMP, p->ts_ns + realtime_ns);
	protobuf_add_text(to, LOG_TAG, p->category);
	protobuf_add_u64(to, LOG_PRIO, PRIO_INFO);
	protobuf_add_text(to, LOG_MESSAGE, p->name);
	protobuf_end(to, line);
	protobuf_end(to, log);
	protobuf_end(to, packet);
}

int perfetto_plain_add(struct perfetto_tracks *t, const struct perfetto_plain *p,
		       uint64_t realtime_ns, struct outbuf *to)
{
	switch (p->form) {
	case PLAIN_BEGIN:
	case PLAIN_COMPLETE:
		return perfetto_plain_add_to_thread(t, p, TYPE_SLICE_BEGIN, to);
	case PLAIN_END:
		return perfetto_plain_add_to_thread(t, p, TYPE_SLICE_END, to);
	case PLAIN_COUNTER:
		return perfetto_plain_add_counter(t, p, to);
	case PLAIN_ASYNC_BEGIN:
		return perfetto_plain_add_async(t, p, TYPE_SLICE_BEGIN, to);
	case PLAIN_ASYNC_INSTANT:
		return perfetto_plain_add_async(t, p, TYPE_INSTANT, to);
	case PLAIN_ASYNC_END:
		return perfetto_plain_add_async(t, p, TYPE_SLICE_END, to);
	case PLAIN_LOG:
		if (realtime_ns == 0)
			return perfetto_plain_add_to_thread(t, p, TYPE_INSTANT, to);
		perfetto_plain_add_line(p, realtime_ns, to);
		return 0;
	default:
		return perfetto_plain_add_to_thread(t, p, TYPE_INSTANT, to);
	}
}
