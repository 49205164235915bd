/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/protobuf.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_64_BITS = 1, WIRE_BYTES = 2, VARINT_MAX = 10 };

static size_t protobuf_put_varint(uint8_t *to, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		to[n++] = (uint8_t)(v | 0x80);
	to[n++] = (uint8_t)v;
	return n;
}

size_t protobuf_put_u64(uint8_t *to, unsigned field, uint64_t v)
{
	size_t n = protobuf_put_varint(to, (uint64_t)field << 3 | WIRE_VARINT);

	return n + protobuf_put_varint(to + n, v);
}

size_t protobuf_put_head(uint8_t *to, unsigned field, size_t size)
{
	size_t n = protobuf_put_varint(to, (uint64_t)field << 3 | WIRE_BYTES);

	return n + protobuf_put_varint(to + n, size);
}

void protobuf_add_packed(struct outbuf *b, uint64_t v)
{
	uint8_t bytes[VARINT_MAX];

	outbuf_append(b, bytes, protobuf_put_varint(bytes, v));
}

static void protobuf_add_tag(struct outbuf *b, unsigned field, unsigned wire_type)
{
	protobuf_add_packed(b, (uint64_t)field << 3 | wire_type);
}

void protobuf_add_u64(struct outbuf *b, unsigned field, uint64_t v)
{
	uint8_t bytes[PROTOBUF_NUMBER_MAX];

	outbuf_append(b, bytes, protobuf_put_u64(bytes, field, v));
}

void protobuf_add_nonzero(struct outbuf *b, unsigned field, uint64_t v)
{
	if (v != 0)
		protobuf_add_u64(b, field, v);
}

void protobuf_add_fixed64(struct outbuf *b, unsigned field, uint64_t v)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(v >> 8 * i);
	protobuf_add_tag(b, field, WIRE_64_BITS);
	outbuf_append(b, bytes, sizeof(bytes));
}

void protobuf_add_double(struct outbuf *b, unsigned field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	protobuf_add_fixed64(b, field, bits);
}

void protobuf_add_bytes(struct outbuf *b, unsigned field, const void *p, size_t n)
{
	protobuf_add_tag(b, field, WIRE_BYTES);
	protobuf_add_packed(b, n);
	outbuf_append(b, p, n);
}

void protobuf_add_text(struct outbuf *b, unsigned field, const char *text)
{
	protobuf_add_bytes(b, field, text, strlen(text));
}

size_t protobuf_begin(struct outbuf *b, unsigned field)
{
	protobuf_add_tag(b, field, WIRE_BYTES);
	return b->size;
}

void protobuf_end(struct outbuf *b, size_t begin)
{
	uint8_t length[VARINT_MAX];
	size_t size, n;

	if (b->error < 0)
		return;
	size = b->size - begin;
	n = protobuf_put_varint(length, size);
	if (!outbuf_reserve(b, n))
		return;
	memmove(b->data + begin + n, b->data + begin, size);
	memcpy(b->data + begin, length, n);
}
