/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads trace-db in either layout, unpacked, point by point, in one pass: from a FIFO as the points
 * come.
 *
 * Nothing says where the next point begins, so damage ends the trace; the points before it have
 * been given, and what stands of one that is not whole is not. No size that the file claims is
 * believed: memory is allocated for bytes that have arrived, and tracedb-model.h has the limits.
 */
#pragma once

#include "base/cleanup.h"
#include "base/input.h"
#include "writer/tracedb/tracedb-model.h"

/*
 * What tracedb_reader_new_*() answer, beside 0 and negative errnos: no dictionary of either layout
 * stands there.
 */
enum { TRACEDB_ALIEN = 1 };

/* What tracedb_reader_next() answers, beside negative errnos. */
enum tracedb_outcome {
	TRACEDB_TRACE_END = 0,
	TRACEDB_POINT = 1,
	TRACEDB_DAMAGE = 2, /* once; then TRACEDB_TRACE_END */
};

struct tracedb_damage {
	uint64_t offset;  /* of the entry in the unpacked stream */
	const char *what; /* static text */
	bool truncated;   /* the stream ends where more must come */
};

struct tracedb_reader;

/*
 * Start to read what READ brings, or N bytes at P (borrowed), and read the dictionary. Return 0,
 * TRACEDB_ALIEN, or a negative errno.
 */
int tracedb_reader_new_source(struct tracedb_reader **ret, input_read_fn read, void *source);
int tracedb_reader_new_memory(struct tracedb_reader **ret, const void *p, size_t n);

/*
 * Whether a trace begins where IN stands, of which nothing is taken: there is a dictionary, and
 * behind an empty one nothing or an entry. (A block of zeroes is none.) Returns 1, 0 or a negative
 * errno.
 */
int tracedb_reader_is_trace(struct input *in);

struct tracedb_reader *tracedb_reader_free(struct tracedb_reader *r);
DEFINE_CLEANUP(struct tracedb_reader *, tracedb_reader_free)

enum tracedb_layout tracedb_reader_layout(const struct tracedb_reader *r);

/* Holds as long as the reader. */
const struct tracedb_dictionary *tracedb_reader_dictionary(const struct tracedb_reader *r);

/* Reads on. Returns an enum tracedb_outcome or a negative errno. *RET holds until the next call. */
int tracedb_reader_next(struct tracedb_reader *r, const struct tracedb_point **ret);

/* After TRACEDB_DAMAGE. */
const struct tracedb_damage *tracedb_reader_damage(const struct tracedb_reader *r);

/* Where the next point begins in the unpacked stream. */
uint64_t tracedb_reader_offset(const struct tracedb_reader *r);
