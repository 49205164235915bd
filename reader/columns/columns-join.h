/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Joins columns (docs/COLUMNS.md) into the data from which columns_split() has made them.
 */
#pragma once

#include "base/cleanup.h"
#include "writer/columns/columns-model.h"
#include "writer/columns/columns-split.h"

struct columns_join;

/* Returns NULL if there is no memory. */
struct columns_join *columns_join_new(void);
struct columns_join *columns_join_free(struct columns_join *j);
DEFINE_CLEANUP(struct columns_join *, columns_join_free)

/*
 * Writes the SIZE bytes that the streams contain to TO. The streams can contain anything. Returns
 * 0, or -EBADMSG if they are not the columns of SIZE bytes.
 */
int columns_join(struct columns_join *j, const struct columns_bytes streams[COLUMNS_STREAM_MAX],
		 uint8_t *to, size_t size);
