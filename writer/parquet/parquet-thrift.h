/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes structs in the Thrift compact protocol. A failure is in the error of the buffer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "writer/parquet/parquet-wire.h"

enum { THRIFT_DEPTH_MAX = 8 };

/* The writer of one struct, with the structs in it. At the beginning, all members except `to` are
 * 0. */
struct thrift {
	struct outbuf *to;
	unsigned depth;
	int last[THRIFT_DEPTH_MAX]; /* number of the last field, for each open struct */
};

/* Write field ID of the present struct. IDs of a struct ascend. */
void thrift_i8(struct thrift *t, int id, int8_t value);
void thrift_i32(struct thrift *t, int id, int32_t value);
void thrift_i64(struct thrift *t, int id, int64_t value);
void thrift_bool(struct thrift *t, int id, bool value);
void thrift_bytes(struct thrift *t, int id, const void *bytes, size_t n);
void thrift_text(struct thrift *t, int id, const char *text);

/* Begins field ID, a struct. */
void thrift_begin(struct thrift *t, int id);

/* Begins field ID, a list of N elements, which follow. */
void thrift_list(struct thrift *t, int id, enum thrift_type type, size_t n);

/* Begins an element of a list of structs. */
void thrift_begin_element(struct thrift *t);

/* Ends a field or an element that is a struct, or the outermost struct. */
void thrift_end(struct thrift *t);

/* Write an element of a list. */
void thrift_i32_element(struct thrift *t, int32_t value);
void thrift_text_element(struct thrift *t, const char *text);

/* Appends VALUE as a number of variable length, seven bits per byte. */
void thrift_put_varint(struct outbuf *to, uint64_t value);

/* Maps numbers near 0 to small unsigned numbers. */
static inline uint64_t thrift_zigzag(int64_t value)
{
	return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}
