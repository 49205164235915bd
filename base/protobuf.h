/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes Protobuf messages at the end of a buffer, field by field. Failures stick to the buffer.
 *
 * protobuf_begin() and protobuf_end() enclose a message within a message. protobuf_end() inserts
 * the length of the message before it. This moves the content of the message, so keep no pointers
 * into it.
 *
 * Callers for which this is too slow write fields to plain memory (protobuf_put_*), and count the
 * lengths themselves.
 */
#pragma once

#include "base/outbuf.h"

enum {
	PROTOBUF_NUMBER_MAX = 15, /* maximum size of a field that is a number */
	PROTOBUF_HEAD_MAX = 15,   /* maximum size of a message's head */
};

/* Writes a number of FIELD, or the head of a message of SIZE bytes. Returns the number of bytes. */
size_t protobuf_put_u64(uint8_t *to, unsigned field, uint64_t v);
size_t protobuf_put_head(uint8_t *to, unsigned field, size_t size);

/* Adds a number (int32 and int64 as two's complement, bool, enum) as FIELD. */
void protobuf_add_u64(struct outbuf *b, unsigned field, uint64_t v);

/* Like protobuf_add_u64(), but leaves out 0, since it is the default for readers. */
void protobuf_add_nonzero(struct outbuf *b, unsigned field, uint64_t v);

/* Add a number of the type fixed64, and a floating-point number of the type double, as FIELD. */
void protobuf_add_fixed64(struct outbuf *b, unsigned field, uint64_t v);
void protobuf_add_double(struct outbuf *b, unsigned field, double v);

/* Adds bytes, or a string, as FIELD. */
void protobuf_add_bytes(struct outbuf *b, unsigned field, const void *p, size_t n);
void protobuf_add_text(struct outbuf *b, unsigned field, const char *text);

/* Adds a number, without a tag, to the packed field that protobuf_begin() has begun. */
void protobuf_add_packed(struct outbuf *b, uint64_t v);

/* Begins a message (or a packed field) of FIELD. Everything added until protobuf_end() belongs to
 * it. Returns the argument of protobuf_end(). */
size_t protobuf_begin(struct outbuf *b, unsigned field);
void protobuf_end(struct outbuf *b, size_t begin);
