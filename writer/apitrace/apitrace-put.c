/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/apitrace/apitrace-put.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

enum { NUMBER_BYTES_MAX = 10 };

void apitrace_put_failed(struct apitrace_writer *w, int error)
{
	if (w->error == 0)
		w->error = error;
}

/* ---- bytes ---- */

static void apitrace_put_bytes(struct apitrace_writer *w, const void *p, size_t n)
{
	if (w->error == 0)
		outbuf_append(w->out, p, n);
}

void apitrace_put_byte(struct apitrace_writer *w, uint8_t byte)
{
	apitrace_put_bytes(w, &byte, 1);
}

void apitrace_put_number(struct apitrace_writer *w, uint64_t number)
{
	uint8_t bytes[NUMBER_BYTES_MAX];
	size_t n = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[n++] = (uint8_t)(number | 0x80);
	bytes[n++] = (uint8_t)number;
	apitrace_put_bytes(w, bytes, n);
}

static void apitrace_put_counted(struct apitrace_writer *w, const void *p, size_t n)
{
	apitrace_put_number(w, n);
	apitrace_put_bytes(w, p, n);
}

void apitrace_put_text(struct apitrace_writer *w, const struct apitrace_text *text)
{
	apitrace_put_counted(w, text->bytes, text->n);
}

/* ---- signatures ---- */

bool apitrace_put_id(struct apitrace_writer *w, uint32_t *number, uint32_t *last)
{
	bool first = *number == 0;

	/* Readers keep signatures in a vector indexed by id, so ids are dense. */
	if (first)
		*number = ++*last;
	apitrace_put_number(w, *number - 1);
	return first;
}

void apitrace_put_names(struct apitrace_writer *w, struct apitrace_names *names, uint32_t *last)
{
	if (!apitrace_put_id(w, &names->number, last))
		return;
	apitrace_put_text(w, &names->name);
	apitrace_put_number(w, names->n);
	for (size_t i = 0; i < names->n; i++)
		apitrace_put_text(w, &names->names[i]);
}

static void apitrace_put_signed(struct apitrace_writer *w, int64_t value)
{
	apitrace_put_byte(w, value < 0 ? APITRACE_SINT : APITRACE_UINT);
	apitrace_put_number(w, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static void apitrace_put_enum_body(struct apitrace_writer *w, const struct apitrace_set *set)
{
	apitrace_put_number(w, set->n);
	for (size_t i = 0; i < set->n; i++) {
		apitrace_put_text(w, &set->values[i].name);
		apitrace_put_signed(w, (int64_t)set->values[i].value);
	}
}

static void apitrace_put_bitmask_body(struct apitrace_writer *w, const struct apitrace_set *set)
{
	apitrace_put_number(w, set->n);
	for (size_t i = 0; i < set->n; i++) {
		if (i > 0 && set->values[i].value == 0)
			apitrace_put_failed(w, -EINVAL);
		apitrace_put_text(w, &set->values[i].name);
		apitrace_put_number(w, set->values[i].value);
	}
}

/* ---- values ---- */

/* Writes the type of a value that contains MORE values. */
static void apitrace_put_type(struct apitrace_writer *w, enum apitrace_type type, uint64_t more)
{
	if (w->missing == 0 || more > UINT64_MAX - w->missing)
		apitrace_put_failed(w, -EINVAL);
	else
		w->missing += more - 1;
	apitrace_put_byte(w, (uint8_t)type);
}

void apitrace_put_null(struct apitrace_writer *w)
{
	apitrace_put_type(w, APITRACE_NULL, 0);
}

void apitrace_put_bool(struct apitrace_writer *w, bool value)
{
	apitrace_put_type(w, value ? APITRACE_TRUE : APITRACE_FALSE, 0);
}

void apitrace_put_sint(struct apitrace_writer *w, int64_t value)
{
	if (value >= 0) {
		apitrace_put_uint(w, (uint64_t)value);
		return;
	}
	apitrace_put_type(w, APITRACE_SINT, 0);
	apitrace_put_number(w, -(uint64_t)value);
}

void apitrace_put_uint(struct apitrace_writer *w, uint64_t value)
{
	apitrace_put_type(w, APITRACE_UINT, 0);
	apitrace_put_number(w, value);
}

void apitrace_put_float(struct apitrace_writer *w, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	bits = htole32(bits);
	apitrace_put_type(w, APITRACE_FLOAT, 0);
	apitrace_put_bytes(w, &bits, sizeof(bits));
}

void apitrace_put_double(struct apitrace_writer *w, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	bits = htole64(bits);
	apitrace_put_type(w, APITRACE_DOUBLE, 0);
	apitrace_put_bytes(w, &bits, sizeof(bits));
}

void apitrace_put_string(struct apitrace_writer *w, const char *bytes, size_t n)
{
	apitrace_put_type(w, APITRACE_STRING, 0);
	apitrace_put_counted(w, bytes, n);
}

void apitrace_put_wstring(struct apitrace_writer *w, const uint32_t *chars, size_t n)
{
	apitrace_put_type(w, APITRACE_WSTRING, 0);
	apitrace_put_number(w, n);
	for (size_t i = 0; i < n; i++)
		apitrace_put_number(w, chars[i]);
}

void apitrace_put_blob(struct apitrace_writer *w, const void *bytes, size_t n)
{
	apitrace_put_type(w, APITRACE_BLOB, 0);
	apitrace_put_counted(w, bytes, n);
}

void apitrace_put_pointer(struct apitrace_writer *w, uint64_t value)
{
	if (value == 0) {
		apitrace_put_null(w);
		return;
	}
	apitrace_put_type(w, APITRACE_POINTER, 0);
	apitrace_put_number(w, value);
}

void apitrace_put_enum(struct apitrace_writer *w, struct apitrace_set *set, int64_t value)
{
	apitrace_put_type(w, APITRACE_ENUM, 0);
	if (apitrace_put_id(w, &set->number, &w->enums))
		apitrace_put_enum_body(w, set);
	apitrace_put_signed(w, value);
}

void apitrace_put_bitmask(struct apitrace_writer *w, struct apitrace_set *set, uint64_t value)
{
	apitrace_put_type(w, APITRACE_BITMASK, 0);
	if (apitrace_put_id(w, &set->number, &w->bitmasks))
		apitrace_put_bitmask_body(w, set);
	apitrace_put_number(w, value);
}

void apitrace_put_array(struct apitrace_writer *w, size_t n)
{
	apitrace_put_type(w, APITRACE_ARRAY, n);
	apitrace_put_number(w, n);
}

void apitrace_put_struct(struct apitrace_writer *w, struct apitrace_names *names)
{
	apitrace_put_type(w, APITRACE_STRUCT, names->n);
	apitrace_put_names(w, names, &w->structs);
}

void apitrace_put_repr(struct apitrace_writer *w)
{
	apitrace_put_type(w, APITRACE_REPR, 2);
}

/* Writes VALUE, and all values that follow it in its list. */
static void apitrace_put_list(struct apitrace_writer *w, const struct apitrace_value *value)
{
	for (; value; value = value->next)
		apitrace_put_value(w, value);
}

static void apitrace_put_with_values(struct apitrace_writer *w, const struct apitrace_value *v)
{
	if (v->type == APITRACE_STRUCT) {
		apitrace_put_struct(w, v->members.names);
		apitrace_put_list(w, v->members.first);
		return;
	}
	if (v->type == APITRACE_ARRAY)
		apitrace_put_array(w, v->items.n);
	else
		apitrace_put_repr(w);
	apitrace_put_list(w, v->items.first);
}

void apitrace_put_value(struct apitrace_writer *w, const struct apitrace_value *v)
{
	switch (v->type) {
	case APITRACE_NULL:
		apitrace_put_null(w);
		break;
	case APITRACE_FALSE:
	case APITRACE_TRUE:
		apitrace_put_bool(w, v->type == APITRACE_TRUE);
		break;
	case APITRACE_SINT:
		apitrace_put_sint(w, v->sint);
		break;
	case APITRACE_UINT:
		apitrace_put_uint(w, v->uint);
		break;
	case APITRACE_FLOAT:
		apitrace_put_float(w, v->f);
		break;
	case APITRACE_DOUBLE:
		apitrace_put_double(w, v->d);
		break;
	case APITRACE_STRING:
		apitrace_put_string(w, v->text.bytes, v->text.n);
		break;
	case APITRACE_WSTRING:
		apitrace_put_wstring(w, v->wide.chars, v->wide.n);
		break;
	case APITRACE_BLOB:
		apitrace_put_blob(w, v->text.bytes, v->text.n);
		break;
	case APITRACE_POINTER:
		apitrace_put_pointer(w, v->uint);
		break;
	case APITRACE_ENUM:
		apitrace_put_enum(w, v->set.set, (int64_t)v->set.value);
		break;
	case APITRACE_BITMASK:
		apitrace_put_bitmask(w, v->set.set, v->set.value);
		break;
	default:
		apitrace_put_with_values(w, v);
	}
}
