/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What programs allocate.
 */
#include <string.h>

#include "base/string-table.h"
#include "reader/fxt/fxt-events-state.h"

/* Without its resource, or with one that nobody knows, an event is somebody else's. */
static int settle_resource(int r, const char *name, enum resource *ret)
{
	int resource = STRING_TABLE_FIND(resource_names, name);

	*ret = resource < 0 ? RESOURCE_MAX : (enum resource)resource;
	return r == FXT_EVENTS_EVENT && resource < 0 ? FXT_EVENTS_NONE : r;
}

static int get_block(struct fxt_events *e, const struct fxt_record *record, struct event *ev,
		     enum event_kind kind)
{
	const char *resource = "", *reach = "";
	int found, r;

	ev->kind = kind;
	ev->block.function = ev->block.text = "";
	r = TAKE(e, record, { FXT_NAME_RESOURCE, WANT_TEXT, &resource, NULL },
		 { FXT_NAME_ADDRESS, WANT_UINT64, &ev->block.id, NULL },
		 { FXT_NAME_SIZE, WANT_UINT64, &ev->block.size, NULL },
		 { FXT_NAME_STACK, WANT_UINT64, &ev->block.stack, NULL },
		 { FXT_NAME_TIME, WANT_UINT64, &ev->block.since_ns, NULL },
		 { FXT_NAME_THREAD, WANT_UINT32, &ev->block.thread, NULL },
		 { FXT_NAME_CONTEXT, WANT_UINT32, &ev->block.context, NULL },
		 { FXT_NAME_REACH, WANT_TEXT, &reach, NULL },
		 { FXT_NAME_FUNCTION, WANT_TEXT, &ev->block.function, NULL },
		 { FXT_NAME_TEXT, WANT_TEXT, &ev->block.text, NULL });
	found = STRING_TABLE_FIND(reach_names, reach);
	ev->block.reach = found < 0 ? REACH_UNKNOWN : (enum reach)found;
	return settle_resource(r, resource, &ev->block.resource);
}

static int fxt_events_memory_get_usage(struct fxt_events *e, const struct fxt_record *record,
				       struct event *ev)
{
	const char *resource = "";
	int r;

	ev->kind = EVENT_USAGE;
	r = TAKE(e, record, { FXT_NAME_RESOURCE, WANT_TEXT, &resource, NULL },
		 { FXT_NAME_STACK, WANT_UINT64, &ev->usage.stack, NULL },
		 { FXT_NAME_BLOCKS, WANT_UINT64, &ev->usage.blocks, NULL },
		 { FXT_NAME_BYTES, WANT_UINT64, &ev->usage.bytes, NULL },
		 { FXT_NAME_ALLOCATIONS, WANT_UINT64, &ev->usage.allocations, NULL },
		 { FXT_NAME_ALLOCATED_BYTES, WANT_UINT64, &ev->usage.allocated_bytes, NULL });
	return settle_resource(r, resource, &ev->usage.resource);
}

static int fxt_events_memory_get_watch(struct fxt_events *e, const struct fxt_record *record,
				       struct event *ev)
{
	bool found = false;
	int r;

	ev->kind = EVENT_WATCH_BEGIN;
	ev->watch.resources = ev->watch.allocators = "";
	r = TAKE(e, record, { FXT_NAME_RESOURCES, WANT_TEXT, &ev->watch.resources, &found },
		 { FXT_NAME_ALLOCATORS, WANT_TEXT, &ev->watch.allocators, NULL },
		 { FXT_NAME_COMPLETE, WANT_BOOL, &ev->watch.complete, NULL },
		 { FXT_NAME_INTERVAL, WANT_UINT64, &ev->watch.interval, NULL },
		 { FXT_NAME_MIN_BYTES, WANT_UINT64, &ev->watch.min_bytes, NULL });
	return r == FXT_EVENTS_EVENT && !found ? FXT_EVENTS_NONE : r;
}

static int get_watched(struct fxt_events *e, const struct fxt_record *record, struct event *ev)
{
	ev->kind = EVENT_WATCH_END;
	ev->watched.reason = "";
	return TAKE(e, record, { FXT_NAME_REASON, WANT_TEXT, &ev->watched.reason, NULL },
		    { FXT_NAME_UNMATCHED, WANT_UINT64, &ev->watched.unmatched, NULL },
		    { FXT_NAME_FAILED, WANT_UINT64, &ev->watched.failed, NULL },
		    { FXT_NAME_LOST, WANT_UINT64, &ev->watched.lost, NULL },
		    { FXT_NAME_FULL, WANT_UINT64, &ev->watched.full, NULL },
		    { FXT_NAME_NO_STACK, WANT_UINT64, &ev->watched.no_stack, NULL });
}

/* Whose frames the next record has. */
static int keep_stack_name(struct fxt_events *e, const struct fxt_record *record)
{
	uint64_t id = 0;
	int r = TAKE(e, record, { FXT_NAME_ID, WANT_UINT64, &id, NULL });

	e->named.tid = record->thread.tid;
	e->named.ts_ns = record->ts_ns;
	e->named.id = id;
	return r == FXT_EVENTS_EVENT ? FXT_EVENTS_NONE : r;
}

int fxt_events_memory(struct fxt_events *e, const struct fxt_record *record, struct event *ev)
{
	switch (fxt_text_known(&record->name)) {
	case FXT_NAME_WATCH:
		return fxt_events_memory_get_watch(e, record, ev);
	case FXT_NAME_WATCHED:
		return get_watched(e, record, ev);
	case FXT_NAME_STACK:
		return keep_stack_name(e, record);
	case FXT_NAME_ALLOC:
		return get_block(e, record, ev, EVENT_ALLOC);
	case FXT_NAME_FREE:
		return get_block(e, record, ev, EVENT_FREE);
	case FXT_NAME_BLOCK:
		return get_block(e, record, ev, EVENT_BLOCK);
	case FXT_NAME_USAGE:
		return fxt_events_memory_get_usage(e, record, ev);
	case FXT_NAME_SNAPSHOT:
		ev->kind = EVENT_SNAPSHOT;
		return TAKE(e, record, { FXT_NAME_BLOCKS, WANT_UINT64, &ev->snapshot.blocks, NULL },
			    { FXT_NAME_SEQUENCE, WANT_UINT32, &ev->snapshot.sequence, NULL },
			    { FXT_NAME_FINAL, WANT_BOOL, &ev->snapshot.final, NULL });
	case FXT_NAME_CONTEXT:
		ev->kind = EVENT_CONTEXT;
		ev->context.name = "";
		return TAKE(e, record, { FXT_NAME_NAME, WANT_TEXT, &ev->context.name, NULL },
			    { FXT_NAME_ID, WANT_UINT32, &ev->context.id, NULL },
			    { FXT_NAME_BEGIN, WANT_BOOL, &ev->context.begin, NULL });
	default:
		return FXT_EVENTS_NONE;
	}
}
