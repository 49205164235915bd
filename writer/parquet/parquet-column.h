/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A column of a row group: values are collected, and written as a column chunk when the group ends.
 * A chunk has one data page; texts have a dictionary page before it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "base/outbuf.h"
#include "base/table.h"
#include "writer/parquet/parquet-thrift.h"

/* The maximum number of rows of a row group. */
enum { PARQUET_GROUP_ROWS = 1 << 16 };

enum parquet_type {
	PARQUET_INT,  /* 64 bits, signed */
	PARQUET_UINT, /* 64 bits, unsigned */
	PARQUET_TIME, /* nanoseconds since 1970, UTC */
	PARQUET_DOUBLE,
	PARQUET_BOOL,
	PARQUET_TEXT, /* UTF-8 */
};

struct parquet_column_spec {
	const char *name;
	enum parquet_type type;
	bool optional; /* values can be null */
};

/* The number of recent texts of a column, as a power of two. */
enum { PARQUET_RECENT_BITS = 6 };

struct parquet_column {
	const struct parquet_column_spec *spec;
	/* For each row: a number, the bits of a double, or the index of a text; owned. */
	uint64_t *values;
	bool *present; /* owned */
	/* The different texts of the group: the dictionary page, and the place of each in it. */
	struct outbuf texts;
	uint32_t *places; /* owned */
	size_t n_texts, room_places;
	struct table indices;                      /* hash of a text -> index + 1 */
	uint32_t recent[1 << PARQUET_RECENT_BITS]; /* by a text's address: perhaps its index */
};

void parquet_column_deinit(struct parquet_column *c);

/* Makes the arrays of an empty column. Returns 0 or -ENOMEM. */
int parquet_column_make_room(struct parquet_column *c);

/* Set the value of ROW. Return 0 or -ENOMEM. This code runs for each value. */
static inline int parquet_column_set(struct parquet_column *c, size_t row, uint64_t value)
{
	int r = c->present ? 0 : parquet_column_make_room(c);

	if (r < 0)
		return r;
	c->values[row] = value;
	c->present[row] = true;
	return 0;
}

int parquet_column_set_text(struct parquet_column *c, size_t row, const char *text);

/* Shared by the columns of a file: buffers for the parts of a page. */
struct parquet_pages {
	ZSTD_CCtx *zstd;
	struct outbuf plain, packed;
	uint64_t *values; /* room for PARQUET_GROUP_ROWS */
	uint32_t *levels; /* the same */
};

/*
 * Writes the values of the N rows in ORDER to TO, whose first byte is at OFFSET in the file, and a
 * ColumnChunk to META. Adds the sizes of the pages with headers to *PLAIN_BYTES, uncompressed, and
 * to *BYTES. Then empties the column. Returns 0 or -ENOMEM.
 */
int parquet_column_write(struct parquet_column *c, struct parquet_pages *pages,
			 const uint32_t *order, size_t n, uint64_t offset, struct outbuf *to,
			 struct thrift *meta, uint64_t *plain_bytes, uint64_t *bytes);
