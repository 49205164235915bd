/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parses values, which can nest. Memory for a value is allocated after its first byte was read.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "reader/apitrace/apitrace-parse.h"

/* The memory of the values, and their depth. */
struct values {
	struct apitrace_parse *p;
	struct apitrace_pool *pool;
	unsigned depth;
};

static int apitrace_values_parse(struct values *v, struct apitrace_value **ret);

/* Parses N little-endian bytes. */
static int apitrace_values_parse_fixed(struct apitrace_parse *p, size_t n, uint64_t *ret)
{
	uint8_t byte;
	int r = 0;

	*ret = 0;
	for (size_t i = 0; r == 0 && i < n; i++) {
		r = apitrace_parse_byte(p, &byte);
		if (r == 0)
			*ret |= (uint64_t)byte << 8 * i;
	}
	return r;
}

static int apitrace_values_parse_real(struct apitrace_parse *p, struct apitrace_value *value)
{
	uint64_t bits;
	uint32_t low;
	int r;

	if (value->type == APITRACE_DOUBLE) {
		r = apitrace_values_parse_fixed(p, sizeof(value->d), &bits);
		memcpy(&value->d, &bits, sizeof(value->d));
		return r;
	}
	r = apitrace_values_parse_fixed(p, sizeof(value->f), &bits);
	low = (uint32_t)bits;
	memcpy(&value->f, &low, sizeof(value->f));
	return r;
}

static int apitrace_values_parse_wide(struct values *v, struct apitrace_value *value)
{
	_cleanup_free_ uint32_t *chars = NULL;
	uint64_t at = v->p->input.offset, n, c;
	size_t room = 0, got;
	uint32_t *kept;
	int r = apitrace_parse_number(v->p, &n);

	if (r == 0 && n > APITRACE_TEXT_MAX / sizeof(*chars))
		return apitrace_parse_damage(v->p, at, "a wide string of more than 256 MiB");
	for (got = 0; r == 0 && got < n; got++) {
		r = GROW(chars, room, got + 1) ?: apitrace_parse_number(v->p, &c);
		if (r == 0)
			chars[got] = (uint32_t)c;
	}
	if (r == 0)
		r = apitrace_parse_room(v->p, v->pool, (n + 1) * sizeof(*kept),
					APITRACE_CALL_BYTES_MAX, &kept);
	if (r < 0)
		return r;
	if (n > 0)
		memcpy(kept, chars, n * sizeof(*kept));
	value->wide.chars = kept;
	value->wide.n = n;
	return 0;
}

/* Parses N values into the list *FIRST. */
static int apitrace_values_parse_list(struct values *v, uint64_t n, struct apitrace_value **first)
{
	int r = 0;

	if (++v->depth > APITRACE_DEPTH_MAX)
		return apitrace_parse_damage(v->p, v->p->input.offset,
					     "values nested more than 200 deep");
	for (; r == 0 && n > 0; n--) {
		r = apitrace_values_parse(v, first);
		if (r == 0)
			first = &(*first)->next;
	}
	v->depth--;
	return r;
}

static int apitrace_values_parse_container(struct values *v, struct apitrace_value *value)
{
	uint64_t n = 2; /* number of values in a representation */
	int r = 0;

	if (value->type == APITRACE_STRUCT)
		return apitrace_parse_struct(v->p, &value->members.names)
			       ?: apitrace_values_parse_list(v, value->members.names->n,
							     &value->members.first);
	if (value->type == APITRACE_ARRAY)
		r = apitrace_parse_number(v->p, &n);
	value->items.n = n;
	return r ?: apitrace_values_parse_list(v, n, &value->items.first);
}

static int apitrace_values_parse_set(struct apitrace_parse *p, struct apitrace_value *value)
{
	int64_t number;
	int r;

	if (value->type == APITRACE_BITMASK)
		return apitrace_parse_bitmask(p, &value->set.set)
			       ?: apitrace_parse_number(p, &value->set.value);
	r = apitrace_parse_enum(p, &value->set.set);
	/* An old enum has one entry. The entry is also its value. */
	if (r == 0 && p->version <= APITRACE_VERSION_OLD_ENUMS) {
		value->set.value = value->set.set->n > 0 ? value->set.set->values[0].value : 0;
		return 0;
	}
	r = r ?: apitrace_parse_signed(p, &number);
	if (r == 0)
		value->set.value = (uint64_t)number;
	return r;
}

static int apitrace_values_parse_negative(struct apitrace_parse *p, struct apitrace_value *value)
{
	uint64_t number;
	int r = apitrace_parse_number(p, &number);

	if (r == 0)
		value->sint = (int64_t)-number;
	return r;
}

static int apitrace_values_parse_content(struct values *v, uint64_t at,
					 struct apitrace_value *value)
{
	switch ((int)value->type) {
	case APITRACE_NULL:
	case APITRACE_FALSE:
	case APITRACE_TRUE:
		return 0;
	case APITRACE_SINT:
		return apitrace_values_parse_negative(v->p, value);
	case APITRACE_UINT:
	case APITRACE_POINTER:
		return apitrace_parse_number(v->p, &value->uint);
	case APITRACE_FLOAT:
	case APITRACE_DOUBLE:
		return apitrace_values_parse_real(v->p, value);
	case APITRACE_STRING:
	case APITRACE_BLOB:
		return apitrace_parse_text(v->p, v->pool, APITRACE_CALL_BYTES_MAX, &value->text);
	case APITRACE_ENUM:
	case APITRACE_BITMASK:
		return apitrace_values_parse_set(v->p, value);
	case APITRACE_ARRAY:
	case APITRACE_STRUCT:
	case APITRACE_REPR:
		return apitrace_values_parse_container(v, value);
	case APITRACE_WSTRING:
		return apitrace_values_parse_wide(v, value);
	default:
		return apitrace_parse_damage(v->p, at, "a value of an unknown type");
	}
}

static int apitrace_values_parse(struct values *v, struct apitrace_value **ret)
{
	struct apitrace_value *value;
	uint64_t at = v->p->input.offset;
	uint8_t type;
	int r = apitrace_parse_byte(v->p, &type)
			?: apitrace_parse_room(v->p, v->pool, sizeof(*value),
					       APITRACE_CALL_BYTES_MAX, &value);

	if (r < 0)
		return r;
	value->type = type;
	r = apitrace_values_parse_content(v, at, value);
	if (r == 0)
		*ret = value;
	return r;
}

int apitrace_parse_value(struct apitrace_parse *p, struct apitrace_pool *pool,
			 struct apitrace_value **ret)
{
	struct values v = { .p = p, .pool = pool };

	return apitrace_values_parse(&v, ret);
}
