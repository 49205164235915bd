/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/apitrace/apitrace-json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define CALLS_TEXT(t) json_from_bytes((t).bytes, (t).n)

static struct json_object *apitrace_json_value(const struct apitrace_value *v);

static struct json_object *apitrace_json_hex(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	return json_string(text);
}

/*
 * VALUE as JSON, with DIGITS significant digits. JSON has no infinities and no NaN, so these become
 * text.
 */
static struct json_object *apitrace_json_real(double value, int digits)
{
	char text[40];

	snprintf(text, sizeof(text), "%.*g", digits, value);
	return isfinite(value) ? json_object_new_double_s(value, text) : json_string(text);
}

/* Appends VALUE to LIST; NULL is written as null. */
static void apitrace_json_append(struct json_object *list, struct json_object *value)
{
	json_object_array_add(list, value);
}

static struct json_object *apitrace_json_items(const struct apitrace_value *first)
{
	struct json_object *list = json_object_new_array();

	for (; first; first = first->next)
		apitrace_json_append(list, apitrace_json_value(first));
	return list;
}

static struct json_object *apitrace_json_wide(const struct apitrace_value *v)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < v->wide.n; i++)
		apitrace_json_append(list, json_u64(v->wide.chars[i]));
	return JSON_OBJECT(JSON("wide", list));
}

static const struct apitrace_text *apitrace_json_name(const struct apitrace_value *v)
{
	for (size_t i = 0; i < v->set.set->n; i++)
		if (v->set.set->values[i].value == v->set.value)
			return &v->set.set->values[i].name;
	return NULL;
}

static struct json_object *apitrace_json_enum(const struct apitrace_value *v)
{
	const struct apitrace_text *name = apitrace_json_name(v);

	return JSON_OBJECT(JSON("enum", name ? CALLS_TEXT(*name) : json_string(NULL)),
			   JSON("value", (int64_t)v->set.value));
}

static struct json_object *apitrace_json_bitmask(const struct apitrace_value *v)
{
	const struct apitrace_set *set = v->set.set;
	struct json_object *list = json_object_new_array();
	uint64_t left = v->set.value;

	for (size_t i = 0; i < set->n && left > 0; i++) {
		uint64_t flag = set->values[i].value;

		if (flag && (left & flag) == flag) {
			apitrace_json_append(list, CALLS_TEXT(set->values[i].name));
			left &= ~flag;
		}
	}
	return JSON_OBJECT(JSON("flags", list), JSON("value", json_u64(v->set.value)));
}

static struct json_object *apitrace_json_struct(const struct apitrace_value *v)
{
	const struct apitrace_value *member = v->members.first;
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; member; i++, member = member->next)
		apitrace_json_append(
			list, JSON_OBJECT(JSON("name", CALLS_TEXT(v->members.names->names[i])),
					  JSON("value", apitrace_json_value(member))));
	return JSON_OBJECT(JSON("struct", CALLS_TEXT(v->members.names->name)),
			   JSON("members", list));
}

static struct json_object *apitrace_json_value(const struct apitrace_value *v)
{
	switch (v->type) {
	case APITRACE_NULL:
		break;
	case APITRACE_FALSE:
	case APITRACE_TRUE:
		return json_boolean(v->type == APITRACE_TRUE);
	case APITRACE_SINT:
		return json_i64(v->sint);
	case APITRACE_UINT:
		return json_u64(v->uint);
	case APITRACE_FLOAT:
		return apitrace_json_real((double)v->f, 9);
	case APITRACE_DOUBLE:
		return apitrace_json_real(v->d, 17);
	case APITRACE_STRING:
		return CALLS_TEXT(v->text);
	case APITRACE_WSTRING:
		return apitrace_json_wide(v);
	case APITRACE_BLOB:
		return JSON_OBJECT(JSON("blob", v->text.n));
	case APITRACE_ENUM:
		return apitrace_json_enum(v);
	case APITRACE_BITMASK:
		return apitrace_json_bitmask(v);
	case APITRACE_ARRAY:
		return apitrace_json_items(v->items.first);
	case APITRACE_STRUCT:
		return apitrace_json_struct(v);
	case APITRACE_POINTER:
		return JSON_OBJECT(JSON("pointer", apitrace_json_hex(v->uint)));
	case APITRACE_REPR:
		return JSON_OBJECT(JSON("human", apitrace_json_value(v->items.first)),
				   JSON("machine", apitrace_json_value(v->items.first->next)));
	}
	return json_string(NULL);
}

static struct json_object *apitrace_json_args(const struct apitrace_call *call)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < call->n_args; i++)
		if (call->args[i].value)
			apitrace_json_append(
				list,
				JSON_OBJECT(JSON("name", CALLS_TEXT(call->function->names[i])),
					    JSON("value",
						 apitrace_json_value(call->args[i].value))));
	return list;
}

static struct json_object *apitrace_json_frame(const struct apitrace_frame *f)
{
	return JSON_OBJECT(JSON_IF(f->module.bytes, "module", CALLS_TEXT(f->module)),
			   JSON_IF(f->function.bytes, "function", CALLS_TEXT(f->function)),
			   JSON_IF(f->has_offset, "offset", apitrace_json_hex(f->offset)),
			   JSON_IF(f->file.bytes, "file", CALLS_TEXT(f->file)),
			   JSON_IF(f->has_line, "line", json_u64(f->line)));
}

struct json_object *apitrace_json_call(const struct apitrace_call *call)
{
	return JSON_OBJECT(
		JSON_OF(call, no, thread), JSON("function", CALLS_TEXT(call->function->name)),
		JSON("args", apitrace_json_args(call)),
		JSON_IF(call->ret, "ret", apitrace_json_value(call->ret)),
		JSON_IF(call->flags & APITRACE_FLAG_FAKE, "fake", json_boolean(true)),
		JSON_IF(call->state == APITRACE_CALL_INCOMPLETE, "incomplete", json_boolean(true)),
		JSON_IF(call->has_backtrace, "backtrace",
			JSON_LIST(f, call->frames, call->n_frames, apitrace_json_frame(*f))));
}

struct json_object *apitrace_json_properties(const struct apitrace_header *h)
{
	return JSON_LIST(p, h->properties, h->n_properties,
			 JSON_OBJECT(JSON("name", CALLS_TEXT(p->name)),
				     JSON("value", CALLS_TEXT(p->value))));
}

struct json_object *apitrace_json_header(const struct apitrace_header *h)
{
	return JSON_OBJECT(JSON_OF(h, version, semantic_version),
			   JSON("properties", apitrace_json_properties(h)));
}
