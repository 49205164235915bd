/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/archive/dump-json.h"

#include <math.h>
#include <stdio.h>

#include "base/string-table.h"
#include "writer/fxt/fxt-layout.h"

/* Payloads above this are not printed, only their size. */
enum { PAYLOAD_SHOWN = 1 << 20 };

/* ---- names ---- */

const char *dump_record_name(const struct fxt_record *r)
{
	bool has_kinds = r->type == FXT_RECORD_METADATA || r->type == FXT_RECORD_SCHEDULING ||
			 r->type == FXT_RECORD_PROFILER;

	switch (FXT_LAYOUT_KEY(r->type, has_kinds ? r->subtype : 0)) {
#define X(layout, type, subtype, name)                                                             \
	case FXT_LAYOUT_KEY(type, subtype):                                                        \
		return name;
		FXT_LAYOUTS(X)
		X(, FXT_RECORD_METADATA, FXT_METADATA_TRACE_INFO, "trace_info")
		X(, FXT_RECORD_SCHEDULING, FXT_SCHED_LEGACY_SWITCH, "legacy_context_switch")
		X(, FXT_RECORD_SCHEDULING, FXT_SCHED_SWITCH, "context_switch")
		X(, FXT_RECORD_SCHEDULING, FXT_SCHED_WAKEUP, "thread_wakeup")
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

#define TEXT(text) json_from_bytes((text).bytes, (text).length)

/* Its name, or the number that has none. */
#define NAMED(name, number) ((name) ? json_string(name) : json_u64(number))

#define TIME(r) JSON("timestamp", (r)->ts_ticks), JSON("timestamp_ns", (r)->ts_ns)
#define THREAD(t)                                                                                  \
	JSON("process_id", known_id(&(t), (t).pid)), JSON("thread_id", known_id(&(t), (t).tid))

static struct json_object *known_id(const struct fxt_thread *t, uint64_t id)
{
	return t->defined ? json_u64(id) : NULL;
}

static struct json_object *from_real(double value)
{
	char text[32];

	/* JSON has no word for what is not a number. */
	if (!isfinite(value))
		return json_string(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
	snprintf(text, sizeof(text), "%.17g", value);
	return json_object_new_double_s(value, text);
}

static struct json_object *from_value(const struct fxt_arg *arg)
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
		return from_real(arg->real);
	case FXT_ARG_STRING:
		return TEXT(arg->text);
	case FXT_ARG_BOOL:
		return json_boolean(arg->boolean);
	case FXT_ARG_BLOB:
		return json_from_hex(arg->blob.bytes, arg->blob.length);
	default:
		return NULL;
	}
}

static const char *add_args(struct json_object *to, const struct fxt_record *r)
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
			json_append_item(
				list,
				JSON_OBJECT(JSON("name", TEXT(arg.name)),
					    JSON("type", NAMED(dump_arg_type(arg.type), arg.type)),
					    JSON("value", from_value(&arg))));
	}
	JSON_ADD(to, JSON("args", list));
	return damage;
}

/* ---- records ---- */

static const char *add_metadata(struct json_object *o, const struct fxt_record *r)
{
	switch (r->subtype) {
	case FXT_METADATA_PROVIDER_INFO:
		JSON_ADD(o, JSON_OF(&r->metadata, provider_id),
			 JSON("provider_name", TEXT(r->name)));
		break;
	case FXT_METADATA_PROVIDER_SECTION:
		JSON_ADD(o, JSON_OF(&r->metadata, provider_id));
		break;
	case FXT_METADATA_PROVIDER_EVENT:
		JSON_ADD(o, JSON_OF(&r->metadata, provider_id),
			 JSON("event_id", r->metadata.number));
		break;
	case FXT_METADATA_TRACE_INFO:
		JSON_ADD(o, JSON("trace_info_type", r->metadata.number),
			 JSON_IF(r->metadata.number == FXT_TRACE_INFO_MAGIC, "trace_info",
				 "magic_number"));
		break;
	default:
		JSON_ADD(o, JSON("metadata_type", r->subtype));
	}
	return NULL;
}

static const char *add_event(struct json_object *o, const struct fxt_record *r)
{
	bool complete = r->subtype == FXT_EVENT_DURATION_COMPLETE;
	bool async = r->subtype >= FXT_EVENT_ASYNC_BEGIN && r->subtype <= FXT_EVENT_ASYNC_END;
	bool flow = r->subtype >= FXT_EVENT_FLOW_BEGIN && r->subtype <= FXT_EVENT_FLOW_END;

	JSON_ADD(o, JSON("event_type", NAMED(dump_event_type(r->subtype), r->subtype)), TIME(r),
		 THREAD(r->thread), JSON("category", TEXT(r->category)),
		 JSON("name", TEXT(r->name)),
		 JSON_IF(r->subtype == FXT_EVENT_COUNTER, "counter_id", r->event.value),
		 JSON_IF(complete, "end_time", r->event.value),
		 JSON_IF(complete, "end_time_ns", r->event.end_ns),
		 JSON_IF(async, "async_correlation_id", r->event.value),
		 JSON_IF(flow, "flow_correlation_id", r->event.value));
	return add_args(o, r);
}

static const char *add_scheduling(struct json_object *o, const struct fxt_record *r)
{
	if (r->subtype == FXT_SCHED_WAKEUP) {
		JSON_ADD(o, TIME(r), JSON("cpu_number", r->wake.cpu),
			 JSON("waking_thread_id", r->wake.tid));
		return add_args(o, r);
	}
	JSON_ADD(o, TIME(r), JSON("cpu_number", r->sw.cpu),
		 JSON("outgoing_thread_state",
		      NAMED(dump_thread_state(r->sw.out_state), r->sw.out_state)),
		 JSON("outgoing_thread_id", r->sw.out_tid),
		 JSON("incoming_thread_id", r->sw.in_tid));
	if (r->subtype == FXT_SCHED_SWITCH)
		return add_args(o, r);
	JSON_ADD(o, JSON("outgoing_process_id", r->sw.out_pid),
		 JSON("incoming_process_id", r->sw.in_pid),
		 JSON("outgoing_thread_priority", r->sw.out_priority),
		 JSON("incoming_thread_priority", r->sw.in_priority));
	return NULL;
}

static const char *add_profiler(struct json_object *o, const struct fxt_record *r)
{
	JSON_ADD(o, TIME(r), THREAD(r->thread));
	switch (r->subtype) {
	case FXT_PROFILER_MODULE:
		JSON_ADD(o, JSON("module_id", r->module.id), JSON("module_name", TEXT(r->name)),
			 JSON("build_id",
			      json_from_hex(r->module.build_id, r->module.build_id_length)));
		break;
	case FXT_PROFILER_MMAP:
		JSON_ADD(o, JSON_OF(&r->mmap, module_id, flags),
			 JSON("start_address", r->mmap.start), JSON("address_range", r->mmap.range),
			 JSON_OF(&r->mmap, vaddr));
		break;
	default:
		JSON_ADD(o, JSON("backtrace",
				 JSON_LIST(f, r->backtrace.frames, r->backtrace.n_frames, *f)));
	}
	return NULL;
}

static const char *add_blob(struct json_object *o, const struct fxt_record *r)
{
	bool large = r->type == FXT_RECORD_LARGE;
	const char *damage = NULL;

	JSON_ADD(o, JSON_IF(large, "blob_format", r->subtype),
		 JSON_IF(large, "category", TEXT(r->category)),
		 JSON(large ? "name" : "blob_name", TEXT(r->name)),
		 JSON_IF(!large, "blob_type", r->blob.blob_type));
	if (large && r->subtype == FXT_LARGE_BLOB_METADATA) {
		JSON_ADD(o, TIME(r), THREAD(r->thread));
		damage = add_args(o, r);
	}
	JSON_ADD(o, JSON("payload_size", r->blob.length),
		 JSON_IF(r->blob.length <= PAYLOAD_SHOWN, "payload",
			 json_from_hex(r->blob.bytes, (size_t)r->blob.length)));
	return damage;
}

static const char *add_object(struct json_object *o, const struct fxt_record *r)
{
	if (r->type == FXT_RECORD_USERSPACE_OBJECT)
		JSON_ADD(o, JSON_OF(&r->userspace_object, pointer),
			 JSON("process_id", known_id(&r->thread, r->thread.pid)));
	else
		JSON_ADD(o, JSON("kernel_object_type", r->kernel_object.object_type),
			 JSON_OF(&r->kernel_object, koid));
	JSON_ADD(o, JSON("name", TEXT(r->name)));
	return add_args(o, r);
}

static const char *dump_json_add_fields(struct json_object *o, const struct fxt_record *r)
{
	switch (r->type) {
	case FXT_RECORD_METADATA:
		return add_metadata(o, r);
	case FXT_RECORD_INITIALIZATION:
		JSON_ADD(o, JSON_OF(&r->initialization, ticks_per_second));
		return NULL;
	case FXT_RECORD_STRING:
		JSON_ADD(o, JSON("string_index", r->string.index),
			 JSON("string_value", TEXT(r->name)));
		return NULL;
	case FXT_RECORD_THREAD:
		JSON_ADD(o, JSON("thread_index", r->thread_record.index), THREAD(r->thread));
		return NULL;
	case FXT_RECORD_EVENT:
		return add_event(o, r);
	case FXT_RECORD_BLOB:
	case FXT_RECORD_LARGE:
		return add_blob(o, r);
	case FXT_RECORD_USERSPACE_OBJECT:
	case FXT_RECORD_KERNEL_OBJECT:
		return add_object(o, r);
	case FXT_RECORD_SCHEDULING:
		return add_scheduling(o, r);
	case FXT_RECORD_LOG:
		JSON_ADD(o, TIME(r), THREAD(r->thread), JSON("log_message", TEXT(r->name)));
		return NULL;
	case FXT_RECORD_PROFILER:
		return add_profiler(o, r);
	default:
		JSON_ADD(o, JSON("record_type", r->type));
		return NULL;
	}
}

const char *dump_json_record(const struct fxt_record *r, struct json_object **ret)
{
	*ret = JSON_OBJECT(JSON("record", dump_record_name(r)), JSON_OF(r, offset),
			   JSON("record_size", r->n_words), JSON("provider", r->provider->id));
	return dump_json_add_fields(*ret, r);
}
