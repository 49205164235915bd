/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All points of a trace, in memory, for queries.
 *
 * Points of one kind have the same variables: their names and types are kept once, as a shape. A
 * point is its statement, its shape, and its values one behind the other in words of 64 bits; a
 * pointer has the size of its buffer behind it, which it was given when it was loaded.
 */
#pragma once

#include "base/cleanup.h"
#include "reader/tracedb/tracedb-map.h"
#include "reader/tracedb/tracedb-reader.h"

struct tracedb_store;

struct tracedb_variable {
	struct tracedb_value value;
	uint64_t buffer_size; /* of a pointer; TRACEDB_NO_SIZE = unknown, as of all others */
};

struct tracedb_stored_point {
	uint64_t statement; /* 0 = the point has none */
	const struct tracedb_variable *variables;
	const uint64_t *auxiliary;
	size_t n_variables, n_auxiliary;
};

/* Where a walk is. Starts as {0}. */
struct tracedb_cursor {
	size_t point, word;
	struct tracedb_variable *variables; /* owned; of the point */
	size_t room;
};

/*
 * Loads what R brings from where it stands. Returns TRACEDB_TRACE_END, TRACEDB_DAMAGE with the
 * points before the damage loaded (tracedb_reader_damage() says more), or a negative errno, with
 * *RET untouched. R stays the caller's and must outlive the store, which borrows its dictionary.
 */
int tracedb_store_load(struct tracedb_store **ret, struct tracedb_reader *r);

struct tracedb_store *tracedb_store_free(struct tracedb_store *s);
DEFINE_CLEANUP(struct tracedb_store *, tracedb_store_free)

size_t tracedb_store_points(const struct tracedb_store *s);

/*
 * The next point. Returns 1, 0 after the last one, or -ENOMEM. *RET holds until the next call with
 * C, and the bytes of its blobs as long as S.
 */
int tracedb_store_next(const struct tracedb_store *s, struct tracedb_cursor *c,
		       struct tracedb_stored_point *ret);

void tracedb_cursor_deinit(struct tracedb_cursor *c);
