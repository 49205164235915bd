/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/rtrace/rtrace-json.h"

#include <inttypes.h>
#include <stdio.h>

/*
 * Returns an id or address as text, like in the report: some programs do not support integers of 64
 * bits in JSON.
 */
static struct json_object *rtrace_json_hex(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	return json_string(text);
}

/* A member that is omitted if the text is empty. */
#define TEXT(key, text) JSON_IF((text).n > 0, key, json_from_bytes((text).bytes, (text).n))

static struct json_object *rtrace_json_add_header(struct json_object *o,
						  const struct rtrace_header *h)
{
	struct json_object *filters = json_object_new_array();

#define RTRACE_FILTER(name, bit, text)                                                             \
	if (h->filters & RTRACE_FILTER_##name)                                                     \
		json_append_item(filters, json_string(text));
	RTRACE_FILTERS(RTRACE_FILTER)
#undef RTRACE_FILTER
	return JSON_ADD(o, TEXT("version", h->version), TEXT("arch", h->arch),
			TEXT("timestamp", h->timestamp), TEXT("process", h->process),
			JSON_IF(h->pid > 0, "pid", h->pid), JSON("filters", filters),
			JSON_IF(h->has_depth, "backtrace_depth", h->depth),
			TEXT("origin", h->origin));
}

static struct json_object *rtrace_json_add_call(struct json_object *o, const struct rtrace_call *c)
{
	return JSON_ADD(o, JSON_OF(c, index), JSON_IF(c->contexts, "contexts", c->contexts),
			JSON_IF(c->has_time, "time_ns", c->time_ns), TEXT("function", c->name),
			TEXT("resource", c->type), JSON_IF(!c->is_free, "size", c->size),
			JSON("id", rtrace_json_hex(c->id)));
}

static struct json_object *rtrace_json_add_fields(struct json_object *o,
						  const struct rtrace_record *r)
{
	switch (r->kind) {
	case RTRACE_HEADER:
		return rtrace_json_add_header(o, &r->header);
	case RTRACE_ATTACHMENT:
		return JSON_ADD(o, TEXT("name", r->attachment.name),
				TEXT("path", r->attachment.path));
	case RTRACE_CONTEXT:
		return JSON_ADD(o, JSON_OF(&r->context, mask), TEXT("name", r->context.name));
	case RTRACE_RESOURCE:
		return JSON_ADD(o, JSON_OF(&r->resource, mask), TEXT("type", r->resource.type),
				TEXT("description", r->resource.description),
				JSON_OF(&r->resource, refcount));
	case RTRACE_MAP:
		return JSON_ADD(o, TEXT("path", r->map.path),
				JSON("start", rtrace_json_hex(r->map.start)),
				JSON("end", rtrace_json_hex(r->map.end)));
	case RTRACE_CALL:
		return rtrace_json_add_call(o, &r->call);
	case RTRACE_ARG:
		return JSON_ADD(o, TEXT("name", r->arg.name), TEXT("value", r->arg.value));
	case RTRACE_FRAME:
		return JSON_ADD(o, JSON("address", rtrace_json_hex(r->frame.address)),
				TEXT("text", r->frame.text));
	case RTRACE_NOTE:
		return JSON_ADD(o, TEXT("text", r->note));
	case RTRACE_CALLS_SUMMARY:
	case RTRACE_LEAKS_SUMMARY:
		return JSON_ADD(o, TEXT("resource", r->summary.type),
				TEXT("description", r->summary.description),
				JSON("blocks", r->summary.count), JSON_OF(&r->summary, size));
	case RTRACE_END:
		break;
	}
	return o;
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
	if (record->kind == RTRACE_END)
		return NULL;
	return rtrace_json_add_fields(JSON_OBJECT(JSON("record", rtrace_json_name_of(record)),
						  JSON_IF(record->line > 0, "line", record->line)),
				      record);
}
