/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads decompressed trace-db data in either layout, point by point, in one pass; from a FIFO,
 * points are returned as they arrive.
 *
 * The beginning of a point is only known from the end of the previous one, so damage ends the
 * trace. The points before the damage are returned, but not the point that contains it. Sizes in
 * the file are not trusted: memory is allocated for bytes that have arrived, and tracedb-model.h
 * has the limits.
 */
#pragma once

#include "base/cleanup.h"
#include "base/input.h"
#include "writer/tracedb/tracedb-model.h"

/*
 * The positive result of tracedb_reader_new_*(): the input does not begin with a dictionary of
 * either layout.
 */
enum { TRACEDB_ALIEN = 1 };

/* The results of tracedb_reader_next(), apart from negative errnos. */
enum tracedb_outcome {
	TRACEDB_TRACE_END = 0,
	TRACEDB_POINT = 1,
	TRACEDB_DAMAGE = 2, /* returned once; then TRACEDB_TRACE_END */
};

struct tracedb_damage {
	uint64_t offset;  /* offset of the entry in the unpacked stream */
	const char *what; /* static text */
	bool truncated;   /* the stream ends before the end of the entry */
};

struct tracedb_reader;

/*
 * Start to read through the callback READ, or from N bytes at P (borrowed), and read the
 * dictionary. Return 0, TRACEDB_ALIEN, or a negative errno.
 */
int tracedb_reader_new_source(struct tracedb_reader **ret, input_read_fn read, void *source);
int tracedb_reader_new_memory(struct tracedb_reader **ret, const void *p, size_t n);

/*
 * Finds out whether a trace begins at the position of IN: a dictionary and, if that is empty, the
 * end or an entry. The position is not moved. (A block of zeros is not a trace.) Returns 1, 0 or a
 * negative errno.
 */
int tracedb_reader_is_trace(struct input *in);

struct tracedb_reader *tracedb_reader_free(struct tracedb_reader *r);
DEFINE_CLEANUP(struct tracedb_reader *, tracedb_reader_free)

enum tracedb_layout tracedb_reader_layout(const struct tracedb_reader *r);

/* Returns the dictionary, valid as long as the reader. */
const struct tracedb_dictionary *tracedb_reader_dictionary(const struct tracedb_reader *r);

/* Reads the next point. Returns an enum tracedb_outcome or a negative errno. *RET is valid until
 * the next call. */
int tracedb_reader_next(struct tracedb_reader *r, const struct tracedb_point **ret);

/* Returns the damage, after TRACEDB_DAMAGE. */
const struct tracedb_damage *tracedb_reader_damage(const struct tracedb_reader *r);

/* Returns the position of the next point in the unpacked stream. */
uint64_t tracedb_reader_offset(const struct tracedb_reader *r);
