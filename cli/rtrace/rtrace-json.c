/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/rtrace/rtrace-json.h"

#include <inttypes.h>
#include <stdio.h>

/* Other programs have no integers of 64 bits: ids and addresses are text, as in the report. */
static void add_hex(struct json_object *to, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	json_add_string(to, key, text);
}

static void rtrace_json_add_text(struct json_object *to, const char *key, struct rtrace_text text)
{
	if (text.n > 0)
		json_add_bytes(to, key, text.bytes, text.n);
}

static void add_header(struct json_object *o, const struct rtrace_header *h)
{
	struct json_object *filters = json_object_new_array();

	rtrace_json_add_text(o, "version", h->version);
	rtrace_json_add_text(o, "arch", h->arch);
	rtrace_json_add_text(o, "timestamp", h->timestamp);
	rtrace_json_add_text(o, "process", h->process);
	if (h->pid > 0)
		json_add_u64(o, "pid", h->pid);
#define RTRACE_FILTER(name, bit, text)                                                             \
	if (h->filters & RTRACE_FILTER_##name)                                                     \
		json_object_array_add(filters, json_object_new_string(text));
	RTRACE_FILTERS(RTRACE_FILTER)
#undef RTRACE_FILTER
	json_add(o, "filters", filters);
	if (h->has_depth)
		json_add_u64(o, "backtrace_depth", h->depth);
	rtrace_json_add_text(o, "origin", h->origin);
}

static void add_call(struct json_object *o, const struct rtrace_call *c)
{
	json_add_u64(o, "index", c->index);
	if (c->contexts)
		json_add_u64(o, "contexts", c->contexts);
	if (c->has_time)
		json_add_u64(o, "time_ns", c->time_ns);
	rtrace_json_add_text(o, "function", c->name);
	rtrace_json_add_text(o, "resource", c->type);
	if (!c->is_free)
		json_add_u64(o, "size", c->size);
	add_hex(o, "id", c->id);
}

static void rtrace_json_add_fields(struct json_object *o, const struct rtrace_record *r)
{
	switch (r->kind) {
	case RTRACE_HEADER:
		add_header(o, &r->header);
		break;
	case RTRACE_ATTACHMENT:
		rtrace_json_add_text(o, "name", r->attachment.name);
		rtrace_json_add_text(o, "path", r->attachment.path);
		break;
	case RTRACE_CONTEXT:
		json_add_u64(o, "mask", r->context.mask);
		rtrace_json_add_text(o, "name", r->context.name);
		break;
	case RTRACE_RESOURCE:
		json_add_u64(o, "mask", r->resource.mask);
		rtrace_json_add_text(o, "type", r->resource.type);
		rtrace_json_add_text(o, "description", r->resource.description);
		json_add(o, "refcount", json_object_new_boolean(r->resource.refcount));
		break;
	case RTRACE_MAP:
		rtrace_json_add_text(o, "path", r->map.path);
		add_hex(o, "start", r->map.start);
		add_hex(o, "end", r->map.end);
		break;
	case RTRACE_CALL:
		add_call(o, &r->call);
		break;
	case RTRACE_ARG:
		rtrace_json_add_text(o, "name", r->arg.name);
		rtrace_json_add_text(o, "value", r->arg.value);
		break;
	case RTRACE_FRAME:
		add_hex(o, "address", r->frame.address);
		rtrace_json_add_text(o, "text", r->frame.text);
		break;
	case RTRACE_NOTE:
		rtrace_json_add_text(o, "text", r->note);
		break;
	case RTRACE_CALLS_SUMMARY:
	case RTRACE_LEAKS_SUMMARY:
		rtrace_json_add_text(o, "resource", r->summary.type);
		rtrace_json_add_text(o, "description", r->summary.description);
		json_add_u64(o, "blocks", r->summary.count);
		json_add_u64(o, "size", r->summary.size);
		break;
	case RTRACE_END:
		break;
	}
}

static const char *rtrace_json_name_of(const struct rtrace_record *r)
{
	static const char *const names[] = {
		[RTRACE_HEADER] = "header",
		[RTRACE_ATTACHMENT] = "attachment",
		[RTRACE_CONTEXT] = "context",
		[RTRACE_RESOURCE] = "resource",
		[RTRACE_MAP] = "map",
		[RTRACE_CALL] = "allocation",
		[RTRACE_ARG] = "argument",
		[RTRACE_FRAME] = "frame",
		[RTRACE_NOTE] = "comment",
		[RTRACE_CALLS_SUMMARY] = "allocation_summary",
		[RTRACE_LEAKS_SUMMARY] = "leak_summary",
	};

	return r->kind == RTRACE_CALL && r->call.is_free ? "deallocation" : names[r->kind];
}

struct json_object *rtrace_json(const struct rtrace_record *record)
{
	struct json_object *o;

	if (record->kind == RTRACE_END)
		return NULL;
	o = json_object_new_object();
	json_add_string(o, "record", rtrace_json_name_of(record));
	if (record->line > 0)
		json_add_u64(o, "line", record->line);
	rtrace_json_add_fields(o, record);
	return o;
}
