/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/archive/dump-json.h"

#include <math.h>
#include <stdio.h>

#include "base/string-table.h"
#include "writer/fxt/fxt-layout.h"

/* Larger payloads are not printed, except for their size. */
enum { PAYLOAD_SHOWN = 1 << 20 };

/* ---- names ---- */

const char *dump_record_name(const struct fxt_record *r)
{
	switch (fxt_layout_key_of(r->type, r->subtype)) {
#define X(layout, type, subtype, type_name)                                                        \
	case FXT_LAYOUT_KEY(type, subtype):                                                        \
		return type_name;
		FXT_LAYOUTS(X)
		X(, FXT_RECORD_METADATA, FXT_METADATA_TRACE_INFO, "trace_info")
		X(, FXT_RECORD_SCHEDULING, FXT_SCHED_LEGACY_SWITCH, "legacy_context_switch")
		X(, FXT_RECORD_LARGE, 0, "large_blob")
#undef X
	default:
		return "unknown";
	}
}

const char *dump_event_type(unsigned type)
{
	static const char *const names[] = {
		[FXT_EVENT_INSTANT] = "instant",
		[FXT_EVENT_COUNTER] = "counter",
		[FXT_EVENT_DURATION_BEGIN] = "duration_begin",
		[FXT_EVENT_DURATION_END] = "duration_end",
		[FXT_EVENT_DURATION_COMPLETE] = "duration_complete",
		[FXT_EVENT_ASYNC_BEGIN] = "async_begin",
		[FXT_EVENT_ASYNC_INSTANT] = "async_instant",
		[FXT_EVENT_ASYNC_END] = "async_end",
		[FXT_EVENT_FLOW_BEGIN] = "flow_begin",
		[FXT_EVENT_FLOW_STEP] = "flow_step",
		[FXT_EVENT_FLOW_END] = "flow_end",
	};

	return STRING_TABLE_NAME(names, type);
}

const char *dump_arg_type(unsigned type)
{
	static const char *const names[] = {
		[FXT_ARG_NULL] = "null",     [FXT_ARG_INT32] = "int32",
		[FXT_ARG_UINT32] = "uint32", [FXT_ARG_INT64] = "int64",
		[FXT_ARG_UINT64] = "uint64", [FXT_ARG_DOUBLE] = "double",
		[FXT_ARG_STRING] = "string", [FXT_ARG_POINTER] = "pointer",
		[FXT_ARG_KOID] = "koid",     [FXT_ARG_BOOL] = "bool",
		[FXT_ARG_BLOB] = "blob",
	};

	return STRING_TABLE_NAME(names, type);
}

const char *dump_thread_state(unsigned state)
{
	static const char *const names[] = {
		[FXT_STATE_NEW] = "new",
		[FXT_STATE_RUNNING] = "running",
		[FXT_STATE_SUSPENDED] = "suspended",
		[FXT_STATE_BLOCKED] = "blocked",
		[FXT_STATE_DYING] = "dying",
		[FXT_STATE_DEAD] = "dead",
	};

	return STRING_TABLE_NAME(names, state);
}

/* ---- values ---- */

#define AS_TEXT(text) json_from_bytes((text).bytes, (text).length)

/* The name of NUMBER, or NUMBER if it has no name. */
#define NAMED(name, number) (name(number) ? json_string(name(number)) : json_u64(number))

static struct json_object *dump_known_id(const struct fxt_thread *t, uint64_t id)
{
	return t->defined ? json_u64(id) : NULL;
}

static struct json_object *dump_from_real(double value)
{
	char text[32];

	if (!isfinite(value))
		return json_real(value);
	snprintf(text, sizeof(text), "%.17g", value);
	return json_object_new_double_s(value, text);
}

static struct json_object *dump_from_value(const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_INT32:
		return json_i64(arg->int32);
	case FXT_ARG_UINT32:
		return json_u64(arg->uint32);
	case FXT_ARG_INT64:
		return json_i64(arg->int64);
	case FXT_ARG_UINT64:
	case FXT_ARG_POINTER:
	case FXT_ARG_KOID:
		return json_u64(arg->uint64);
	case FXT_ARG_DOUBLE:
		return dump_from_real(arg->real);
	case FXT_ARG_STRING:
		return AS_TEXT(arg->text);
	case FXT_ARG_BOOL:
		return json_boolean(arg->boolean);
	case FXT_ARG_BLOB:
		return json_from_hex(arg->blob.data, arg->blob.size);
	default:
		return NULL;
	}
}

static const char *dump_json_args(struct json_object *to, const struct fxt_record *r)
{
	struct json_object *list = json_object_new_array();
	struct fxt_args it = r->args;
	const char *damage = NULL;
	struct fxt_arg arg;
	int outcome;

	while ((outcome = fxt_args_next(&it, &arg)) != FXT_ARGS_END) {
		if (outcome == FXT_ARGS_DAMAGE)
			damage = it.damage;
		else
			json_append_item(list,
					 JSON_OBJECT(JSON("name", AS_TEXT(arg.name)),
						     JSON("type", NAMED(dump_arg_type, arg.type)),
						     JSON("value", dump_from_value(&arg))));
	}
	JSON_ADD(to, JSON("args", list));
	return damage;
}

/* ---- parts of records ---- */

static void dump_json_time(struct json_object *o, const struct fxt_record *r)
{
	JSON_ADD(o, JSON("timestamp", r->ts_ticks), JSON("timestamp_ns", r->ts_ns));
}

static void dump_json_thread(struct json_object *o, const struct fxt_record *r)
{
	JSON_ADD(o, JSON("process_id", dump_known_id(&r->thread, r->thread.pid)),
		 JSON("thread_id", dump_known_id(&r->thread, r->thread.tid)));
}

/* Adds the value that the record stores after its arguments. */
static void dump_json_value(struct json_object *o, const struct fxt_record *r)
{
	bool complete = r->subtype == FXT_EVENT_DURATION_COMPLETE;
	bool async = r->subtype >= FXT_EVENT_ASYNC_BEGIN && r->subtype <= FXT_EVENT_ASYNC_END;
	bool flow = r->subtype >= FXT_EVENT_FLOW_BEGIN && r->subtype <= FXT_EVENT_FLOW_END;

	JSON_ADD(o, JSON_IF(r->subtype == FXT_EVENT_COUNTER, "counter_id", r->event.value),
		 JSON_IF(complete, "end_time", r->event.value),
		 JSON_IF(complete, "end_time_ns", r->event.end_ns),
		 JSON_IF(async, "async_correlation_id", r->event.value),
		 JSON_IF(flow, "flow_correlation_id", r->event.value));
}

static void dump_json_bulk(struct json_object *o, const struct fxt_record *r)
{
	JSON_ADD(o, JSON("payload_size", r->blob.size),
		 JSON_IF(r->blob.size <= PAYLOAD_SHOWN, "payload",
			 json_from_hex(r->blob.data, (size_t)r->blob.size)));
}

/* ---- records with code of their own ---- */

static void dump_json_legacy(struct json_object *o, const struct fxt_record *r)
{
	dump_json_time(o, r);
	JSON_ADD(o, JSON("cpu_number", r->sw.cpu),
		 JSON("outgoing_thread_state", NAMED(dump_thread_state, r->sw.out_state)),
		 JSON("outgoing_thread_id", r->sw.out_tid),
		 JSON("incoming_thread_id", r->sw.in_tid),
		 JSON("outgoing_process_id", r->sw.out_pid),
		 JSON("incoming_process_id", r->sw.in_pid),
		 JSON("outgoing_thread_priority", r->sw.out_priority),
		 JSON("incoming_thread_priority", r->sw.in_priority));
}

static const char *dump_json_large(struct json_object *o, const struct fxt_record *r)
{
	const char *damage = NULL;

	JSON_ADD(o, JSON("blob_format", r->subtype), JSON("category", AS_TEXT(r->category)),
		 JSON("name", AS_TEXT(r->name)));
	if (r->subtype == FXT_LARGE_BLOB_METADATA) {
		dump_json_time(o, r);
		dump_json_thread(o, r);
		damage = dump_json_args(o, r);
	}
	dump_json_bulk(o, r);
	return damage;
}

static const char *dump_json_unlisted(struct json_object *o, const struct fxt_record *r)
{
	switch (r->type) {
	case FXT_RECORD_METADATA:
		if (r->subtype == FXT_METADATA_TRACE_INFO)
			JSON_ADD(o, JSON("trace_info_type", r->metadata.number),
				 JSON_IF(r->metadata.number == FXT_TRACE_INFO_MAGIC, "trace_info",
					 "magic_number"));
		else
			JSON_ADD(o, JSON("metadata_type", r->subtype));
		break;
	case FXT_RECORD_SCHEDULING:
		dump_json_legacy(o, r);
		break;
	case FXT_RECORD_LARGE:
		return dump_json_large(o, r);
	default:
		JSON_ADD(o, JSON("record_type", r->type));
	}
	return NULL;
}

/* ---- records by their layouts ---- */

#define RESERVED(field)
#define KIND(field)                 JSON_ADD(o, JSON("event_type", NAMED(dump_event_type, r->subtype)));
#define HEAD(of, m, field, key)     JSON_ADD(o, JSON(key, r->of.m));
#define STATE(of, m, field, key)    JSON_ADD(o, JSON(key, NAMED(dump_thread_state, r->of.m)));
#define CPU(of, m, field, key)      HEAD(of, m, field, key)
#define TIME()                      dump_json_time(o, r);
#define THREAD(field)               dump_json_thread(o, r);
#define PROCESS(field)              JSON_ADD(o, JSON("process_id", dump_known_id(&r->thread, r->thread.pid)));
#define IDS()                       dump_json_thread(o, r);
#define REF(m, field, key)          JSON_ADD(o, JSON(key, AS_TEXT(r->m)));
#define TEXT(m, field, key)         JSON_ADD(o, JSON(key, AS_TEXT(r->name)));
#define BYTES(of, m, n, field, key) JSON_ADD(o, JSON(key, json_from_hex(r->of.m, r->of.n)));
#define BULK(of, m, n, field)       dump_json_bulk(o, r);
#define WORDS(of, m, n, field, key) JSON_ADD(o, JSON(key, JSON_LIST(f, r->of.m, r->of.n, *f)));
#define WORD(of, m, key)            HEAD(of, m, , key)
#define KOID(of, m, key)            HEAD(of, m, , key)
#define ARGS(field)                                                                                \
	if (r->type == FXT_RECORD_EVENT)                                                           \
		dump_json_value(o, r);                                                             \
	return dump_json_args(o, r);
#define VALUE()

#define X(layout, type, subtype, type_name)                                                        \
	static const char *dump_json_of_##layout(struct json_object *o,                            \
						 const struct fxt_record *r)                       \
	{                                                                                          \
		FXT_LAYOUT_##layout return NULL;                                                   \
	}
FXT_LAYOUTS(X)
#undef X

static const char *dump_json_add_fields(struct json_object *o, const struct fxt_record *r)
{
	switch (fxt_layout_key_of(r->type, r->subtype)) {
#define X(layout, type, subtype, type_name)                                                        \
	case FXT_LAYOUT_KEY(type, subtype):                                                        \
		return dump_json_of_##layout(o, r);
		FXT_LAYOUTS(X)
#undef X
	default:
		return dump_json_unlisted(o, r);
	}
}

const char *dump_json_record(const struct fxt_record *r, struct json_object **ret)
{
	*ret = JSON_OBJECT(JSON("record", dump_record_name(r)), JSON_OF(r, offset),
			   JSON("record_size", r->n_words), JSON("provider", r->provider->id));
	return dump_json_add_fields(*ret, r);
}
