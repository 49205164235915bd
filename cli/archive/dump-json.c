/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/archive/dump-json.h"

#include <math.h>
#include <stdio.h>

#include "base/string-table.h"

/* Payloads above this are not printed, only their size. */
enum { PAYLOAD_SHOWN = 1 << 20 };

/* ---- names ---- */

const char *dump_record_name(const struct fxt_record *r)
{
	static const char *const metadata[] = {
		[FXT_METADATA_PROVIDER_INFO] = "provider_info",
		[FXT_METADATA_PROVIDER_SECTION] = "provider_section",
		[FXT_METADATA_PROVIDER_EVENT] = "provider_event",
		[FXT_METADATA_TRACE_INFO] = "trace_info",
	};
	static const char *const sched[] = {
		[FXT_SCHED_LEGACY_SWITCH] = "legacy_context_switch",
		[FXT_SCHED_SWITCH] = "context_switch",
		[FXT_SCHED_WAKEUP] = "thread_wakeup",
	};
	static const char *const profiler[] = {
		[FXT_PROFILER_MODULE] = "module",
		[FXT_PROFILER_MMAP] = "mmap",
		[FXT_PROFILER_BACKTRACE] = "backtrace",
	};
	static const char *const types[] = {
		[FXT_RECORD_INITIALIZATION] = "initialization",
		[FXT_RECORD_STRING] = "string",
		[FXT_RECORD_THREAD] = "thread",
		[FXT_RECORD_EVENT] = "event",
		[FXT_RECORD_BLOB] = "blob",
		[FXT_RECORD_USERSPACE_OBJECT] = "userspace_object",
		[FXT_RECORD_KERNEL_OBJECT] = "kernel_object",
		[FXT_RECORD_LOG] = "log",
		[FXT_RECORD_LARGE] = "large_blob",
	};
	const char *name = NULL;

	if (r->type == FXT_RECORD_METADATA)
		name = STRING_TABLE_NAME(metadata, r->subtype);
	else if (r->type == FXT_RECORD_SCHEDULING)
		name = STRING_TABLE_NAME(sched, r->subtype);
	else if (r->type == FXT_RECORD_PROFILER)
		name = STRING_TABLE_NAME(profiler, r->subtype);
	else
		name = STRING_TABLE_NAME(types, r->type);
	return name ? name : "unknown";
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

static void dump_json_add_text(struct json_object *to, const char *key, const struct fxt_text *t)
{
	json_add_bytes(to, key, t->bytes, t->length);
}

static void dump_json_add_named(struct json_object *to, const char *key, const char *name,
				unsigned number)
{
	if (name)
		json_add_string(to, key, name);
	else
		json_add_u64(to, key, number);
}

static void dump_json_add_thread(struct json_object *to, const struct fxt_thread *t)
{
	if (!t->defined) {
		json_add(to, "process_id", NULL);
		json_add(to, "thread_id", NULL);
		return;
	}
	json_add_u64(to, "process_id", t->pid);
	json_add_u64(to, "thread_id", t->tid);
}

static void add_payload(struct json_object *to, const struct fxt_record *r)
{
	json_add_u64(to, "payload_size", r->blob.length);
	if (r->blob.length <= PAYLOAD_SHOWN)
		json_add_hex(to, "payload", r->blob.bytes, (size_t)r->blob.length);
}

static void add_real(struct json_object *to, double value)
{
	char text[32];

	/* JSON has no word for what is not a number. */
	if (isfinite(value)) {
		snprintf(text, sizeof(text), "%.17g", value);
		json_add(to, "value", json_object_new_double_s(value, text));
	} else {
		json_add_string(to, "value", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
	}
}

static struct json_object *from_arg(const struct fxt_arg *arg)
{
	struct json_object *o = json_object_new_object();

	dump_json_add_text(o, "name", &arg->name);
	dump_json_add_named(o, "type", dump_arg_type(arg->type), arg->type);
	switch (arg->type) {
	case FXT_ARG_INT32:
		json_add_i64(o, "value", arg->int32);
		break;
	case FXT_ARG_UINT32:
		json_add_u64(o, "value", arg->uint32);
		break;
	case FXT_ARG_INT64:
		json_add_i64(o, "value", arg->int64);
		break;
	case FXT_ARG_UINT64:
	case FXT_ARG_POINTER:
	case FXT_ARG_KOID:
		json_add_u64(o, "value", arg->uint64);
		break;
	case FXT_ARG_DOUBLE:
		add_real(o, arg->real);
		break;
	case FXT_ARG_STRING:
		dump_json_add_text(o, "value", &arg->text);
		break;
	case FXT_ARG_BOOL:
		json_add(o, "value", json_object_new_boolean(arg->boolean));
		break;
	case FXT_ARG_BLOB:
		json_add_hex(o, "value", arg->blob.bytes, arg->blob.length);
		break;
	default:
		json_add(o, "value", NULL);
	}
	return o;
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
			json_object_array_add(list, from_arg(&arg));
	}
	json_add(to, "args", list);
	return damage;
}

static void add_time(struct json_object *to, const struct fxt_record *r)
{
	json_add_u64(to, "timestamp", r->ts_ticks);
	json_add_u64(to, "timestamp_ns", r->ts_ns);
}

/* ---- records ---- */

static const char *add_metadata(struct json_object *o, const struct fxt_record *r)
{
	switch (r->subtype) {
	case FXT_METADATA_PROVIDER_INFO:
		json_add_u64(o, "provider_id", r->metadata.provider_id);
		dump_json_add_text(o, "provider_name", &r->name);
		break;
	case FXT_METADATA_PROVIDER_SECTION:
		json_add_u64(o, "provider_id", r->metadata.provider_id);
		break;
	case FXT_METADATA_PROVIDER_EVENT:
		json_add_u64(o, "provider_id", r->metadata.provider_id);
		json_add_u64(o, "event_id", r->metadata.number);
		break;
	case FXT_METADATA_TRACE_INFO:
		json_add_u64(o, "trace_info_type", r->metadata.number);
		if (r->metadata.number == FXT_TRACE_INFO_MAGIC)
			json_add_string(o, "trace_info", "magic_number");
		break;
	default:
		json_add_u64(o, "metadata_type", r->subtype);
	}
	return NULL;
}

static const char *add_event(struct json_object *o, const struct fxt_record *r)
{
	dump_json_add_named(o, "event_type", dump_event_type(r->subtype), r->subtype);
	add_time(o, r);
	dump_json_add_thread(o, &r->thread);
	dump_json_add_text(o, "category", &r->category);
	dump_json_add_text(o, "name", &r->name);
	if (r->subtype == FXT_EVENT_COUNTER) {
		json_add_u64(o, "counter_id", r->event.value);
	} else if (r->subtype == FXT_EVENT_DURATION_COMPLETE) {
		json_add_u64(o, "end_time", r->event.value);
		json_add_u64(o, "end_time_ns", r->event.end_ns);
	} else if (r->subtype >= FXT_EVENT_ASYNC_BEGIN && r->subtype <= FXT_EVENT_ASYNC_END) {
		json_add_u64(o, "async_correlation_id", r->event.value);
	} else if (r->subtype >= FXT_EVENT_FLOW_BEGIN && r->subtype <= FXT_EVENT_FLOW_END) {
		json_add_u64(o, "flow_correlation_id", r->event.value);
	}
	return add_args(o, r);
}

static const char *add_scheduling(struct json_object *o, const struct fxt_record *r)
{
	add_time(o, r);
	if (r->subtype == FXT_SCHED_WAKEUP) {
		json_add_u64(o, "cpu_number", r->wake.cpu);
		json_add_u64(o, "waking_thread_id", r->wake.tid);
		return add_args(o, r);
	}
	json_add_u64(o, "cpu_number", r->sw.cpu);
	dump_json_add_named(o, "outgoing_thread_state", dump_thread_state(r->sw.out_state),
			    r->sw.out_state);
	json_add_u64(o, "outgoing_thread_id", r->sw.out_tid);
	json_add_u64(o, "incoming_thread_id", r->sw.in_tid);
	if (r->subtype == FXT_SCHED_SWITCH)
		return add_args(o, r);
	json_add_u64(o, "outgoing_process_id", r->sw.out_pid);
	json_add_u64(o, "incoming_process_id", r->sw.in_pid);
	json_add_u64(o, "outgoing_thread_priority", r->sw.out_priority);
	json_add_u64(o, "incoming_thread_priority", r->sw.in_priority);
	return NULL;
}

static const char *add_profiler(struct json_object *o, const struct fxt_record *r)
{
	struct json_object *frames;

	add_time(o, r);
	dump_json_add_thread(o, &r->thread);
	switch (r->subtype) {
	case FXT_PROFILER_MODULE:
		json_add_u64(o, "module_id", r->module.id);
		dump_json_add_text(o, "module_name", &r->name);
		json_add_hex(o, "build_id", r->module.build_id, r->module.build_id_length);
		break;
	case FXT_PROFILER_MMAP:
		json_add_u64(o, "module_id", r->mmap.module_id);
		json_add_u64(o, "flags", r->mmap.flags);
		json_add_u64(o, "start_address", r->mmap.start);
		json_add_u64(o, "address_range", r->mmap.range);
		json_add_u64(o, "vaddr", r->mmap.vaddr);
		break;
	default:
		frames = json_object_new_array();
		for (unsigned i = 0; i < r->backtrace.n_frames; i++)
			json_object_array_add(frames,
					      json_object_new_uint64(r->backtrace.frames[i]));
		json_add(o, "backtrace", frames);
	}
	return NULL;
}

static const char *add_blob(struct json_object *o, const struct fxt_record *r)
{
	const char *damage = NULL;

	if (r->type == FXT_RECORD_LARGE) {
		json_add_u64(o, "blob_format", r->subtype);
		dump_json_add_text(o, "category", &r->category);
	}
	dump_json_add_text(o, r->type == FXT_RECORD_LARGE ? "name" : "blob_name", &r->name);
	if (r->type == FXT_RECORD_BLOB)
		json_add_u64(o, "blob_type", r->blob.blob_type);
	if (r->type == FXT_RECORD_LARGE && r->subtype == FXT_LARGE_BLOB_METADATA) {
		add_time(o, r);
		dump_json_add_thread(o, &r->thread);
		damage = add_args(o, r);
	}
	add_payload(o, r);
	return damage;
}

static const char *add_object(struct json_object *o, const struct fxt_record *r)
{
	if (r->type == FXT_RECORD_USERSPACE_OBJECT) {
		json_add_u64(o, "pointer", r->userspace_object.pointer);
		if (r->thread.defined)
			json_add_u64(o, "process_id", r->thread.pid);
		else
			json_add(o, "process_id", NULL);
	} else {
		json_add_u64(o, "kernel_object_type", r->kernel_object.object_type);
		json_add_u64(o, "koid", r->kernel_object.koid);
	}
	dump_json_add_text(o, "name", &r->name);
	return add_args(o, r);
}

static const char *dump_json_add_fields(struct json_object *o, const struct fxt_record *r)
{
	switch (r->type) {
	case FXT_RECORD_METADATA:
		return add_metadata(o, r);
	case FXT_RECORD_INITIALIZATION:
		json_add_u64(o, "ticks_per_second", r->initialization.ticks_per_second);
		return NULL;
	case FXT_RECORD_STRING:
		json_add_u64(o, "string_index", r->string.index);
		dump_json_add_text(o, "string_value", &r->name);
		return NULL;
	case FXT_RECORD_THREAD:
		json_add_u64(o, "thread_index", r->thread_record.index);
		dump_json_add_thread(o, &r->thread);
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
		add_time(o, r);
		dump_json_add_thread(o, &r->thread);
		dump_json_add_text(o, "log_message", &r->name);
		return NULL;
	case FXT_RECORD_PROFILER:
		return add_profiler(o, r);
	default:
		json_add_u64(o, "record_type", r->type);
		return NULL;
	}
}

const char *dump_json_record(const struct fxt_record *r, struct json_object **ret)
{
	struct json_object *o = json_object_new_object();

	json_add_string(o, "record", dump_record_name(r));
	json_add_u64(o, "offset", r->offset);
	json_add_u64(o, "record_size", r->n_words);
	json_add_u64(o, "provider", r->provider->id);
	*ret = o;
	return dump_json_add_fields(o, r);
}
