/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loaded points, and a view of one point.
 */
#pragma once

#include "libkymo/kymo.h"
#include "reader/packed/packed-stream.h"
#include "reader/tracedb/tracedb-store.h"

struct kymo_points {
	struct packed_stream stream;
	struct tracedb_reader *reader; /* the reader, which contains the dictionary */
	struct tracedb_store *store;
	const char *damage; /* NULL = not damaged */
	uint64_t damage_offset;
};

struct kymo_point {
	const struct kymo_points *points;
	size_t number;
	struct tracedb_stored_point of;
};
