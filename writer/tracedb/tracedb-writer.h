/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes trace-db into a buffer of the caller: the dictionary, and then points. A point is written
 * completely or not at all. All names and types must be known before the first point.
 */
#pragma once

#include "base/outbuf.h"
#include "writer/tracedb/tracedb-model.h"

struct tracedb_writer {
	struct outbuf *out; /* borrowed */
	enum tracedb_layout layout;
	struct tracedb_dictionary dictionary; /* borrowed */
};

/*
 * Begins a stream in LAYOUT. DICTIONARY's lists are borrowed. Returns 0; -EINVAL if DICTIONARY
 * violates the format (a type that no value can have, an invalid number); -EOVERFLOW if a number
 * does not fit the widths of LAYOUT; or OUT's error. On failure, nothing is written.
 */
int tracedb_writer_begin(struct tracedb_writer *w, struct outbuf *out, enum tracedb_layout layout,
			 const struct tracedb_dictionary *dictionary);

/* Writes POINT. Returns as tracedb_writer_begin(); on failure, nothing of it is written. */
int tracedb_writer_point(struct tracedb_writer *w, const struct tracedb_point *point);
