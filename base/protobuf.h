/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protobuf messages, field by field, at the end of a buffer. Failures stick to the buffer.
 *
 * A message within a message is opened and closed; its length comes in front of it when it is
 * closed, so what is in it has been moved by then: keep no pointers.
 *
 * Where that costs too much, fields are put into plain memory one by one (protobuf_put_*), and
 * lengths are counted by the caller.
 */
#pragma once

#include "base/outbuf.h"

enum {
	PROTOBUF_NUMBER_MAX = 15, /* bytes of a field that is a number */
	PROTOBUF_HEAD_MAX = 15,   /* of what stands in front of a message */
};

/* A number of FIELD, or what stands in front of a message of SIZE bytes. Returns the bytes put. */
size_t protobuf_put_u64(uint8_t *to, unsigned field, uint64_t v);
size_t protobuf_put_head(uint8_t *to, unsigned field, size_t size);

/* A number (int32 and int64 as two's complement, bool, enum) of FIELD. */
void protobuf_add_u64(struct outbuf *b, unsigned field, uint64_t v);

/* The same, left out where it is 0, which is what readers take it for then. */
void protobuf_add_nonzero(struct outbuf *b, unsigned field, uint64_t v);

/* Bytes, or a string, of FIELD. */
void protobuf_add_bytes(struct outbuf *b, unsigned field, const void *p, size_t n);
void protobuf_add_text(struct outbuf *b, unsigned field, const char *text);

/* A number of a packed field, whose message was opened: without a tag. */
void protobuf_add_packed(struct outbuf *b, uint64_t v);

/* Opens a message (or a packed field) of FIELD; what is added until protobuf_end() is its own.
 * Returns what protobuf_end() wants. */
size_t protobuf_begin(struct outbuf *b, unsigned field);
void protobuf_end(struct outbuf *b, size_t begin);
