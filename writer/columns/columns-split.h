/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Splits FXT into columns (docs/COLUMNS.md): streams of bytes that compress better and faster than
 * the records. Any bytes can be split: all bytes that are not scheduling records are copied.
 */
#pragma once

#include "base/cleanup.h"
#include "writer/columns/columns-model.h"

struct columns_split;

/* Returns NULL if there is no memory. The data of each split have at most N_MAX bytes. */
struct columns_split *columns_split_new(size_t n_max);
struct columns_split *columns_split_free(struct columns_split *s);
DEFINE_CLEANUP(struct columns_split *, columns_split_free)

struct columns_bytes {
	const uint8_t *data; /* borrowed until the next split */
	size_t n;
};

/*
 * Splits the N bytes at DATA. The streams together have at most COLUMNS_EXTRA_BYTES more than N
 * bytes.
 */
void columns_split(struct columns_split *s, const uint8_t *data, size_t n,
		   struct columns_bytes ret[COLUMNS_STREAM_MAX]);
