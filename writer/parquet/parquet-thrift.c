/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/parquet/parquet-thrift.h"

#include <string.h>

void thrift_put_varint(struct outbuf *to, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (uint8_t)(value | 0x80);
	bytes[n++] = (uint8_t)value;
	outbuf_append(to, bytes, n);
}

static void thrift_put_byte(struct outbuf *to, unsigned value)
{
	uint8_t byte = (uint8_t)value;

	outbuf_append(to, &byte, 1);
}

/* Writes the header of field ID. */
static void thrift_field(struct thrift *t, int id, enum thrift_type type)
{
	int distance = id - t->last[t->depth];

	t->last[t->depth] = id;
	if (distance > 0 && distance <= 15) {
		thrift_put_byte(t->to, (unsigned)distance << 4 | type);
		return;
	}
	thrift_put_byte(t->to, type);
	thrift_put_varint(t->to, thrift_zigzag(id));
}

void thrift_i8(struct thrift *t, int id, int8_t value)
{
	thrift_field(t, id, THRIFT_I8);
	thrift_put_byte(t->to, (uint8_t)value);
}

void thrift_i32(struct thrift *t, int id, int32_t value)
{
	thrift_field(t, id, THRIFT_I32);
	thrift_i32_element(t, value);
}

void thrift_i64(struct thrift *t, int id, int64_t value)
{
	thrift_field(t, id, THRIFT_I64);
	thrift_put_varint(t->to, thrift_zigzag(value));
}

void thrift_bool(struct thrift *t, int id, bool value)
{
	thrift_field(t, id, value ? THRIFT_TRUE : THRIFT_FALSE);
}

static void thrift_put_bytes(struct outbuf *to, const void *bytes, size_t n)
{
	thrift_put_varint(to, n);
	outbuf_append(to, bytes, n);
}

void thrift_bytes(struct thrift *t, int id, const void *bytes, size_t n)
{
	thrift_field(t, id, THRIFT_BINARY);
	thrift_put_bytes(t->to, bytes, n);
}

void thrift_text(struct thrift *t, int id, const char *text)
{
	thrift_bytes(t, id, text, strlen(text));
}

void thrift_begin(struct thrift *t, int id)
{
	thrift_field(t, id, THRIFT_STRUCT);
	thrift_begin_element(t);
}

void thrift_list(struct thrift *t, int id, enum thrift_type type, size_t n)
{
	thrift_field(t, id, THRIFT_LIST);
	if (n < 15) {
		thrift_put_byte(t->to, (unsigned)n << 4 | type);
		return;
	}
	thrift_put_byte(t->to, 0xf0 | type);
	thrift_put_varint(t->to, n);
}

void thrift_begin_element(struct thrift *t)
{
	t->last[++t->depth] = 0;
}

void thrift_end(struct thrift *t)
{
	thrift_put_byte(t->to, THRIFT_STOP);
	t->depth -= t->depth > 0;
}

void thrift_i32_element(struct thrift *t, int32_t value)
{
	thrift_put_varint(t->to, thrift_zigzag(value));
}

void thrift_text_element(struct thrift *t, const char *text)
{
	thrift_put_bytes(t->to, text, strlen(text));
}
