/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes trace-db into a buffer of the caller's: the dictionary, and then points, each whole or not
 * at all. All names and types are known before the first point.
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
 * Begins a stream in LAYOUT. DICTIONARY's lists stay the caller's, and must stay there. Returns 0,
 * -EINVAL if it is against the format (a type that no value can have, a number that is none),
 * -EOVERFLOW if it does not fit into the layout's numbers, or OUT's error. Nothing is written then.
 */
int tracedb_writer_begin(struct tracedb_writer *w, struct outbuf *out, enum tracedb_layout layout,
			 const struct tracedb_dictionary *dictionary);

/* Writes POINT. Returns as tracedb_writer_begin(), with nothing of it written if it fails. */
int tracedb_writer_point(struct tracedb_writer *w, const struct tracedb_point *point);
