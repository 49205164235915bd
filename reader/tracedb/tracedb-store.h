/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All points of a trace, in memory, for queries.
 *
 * Points of one kind have the same variables. The names and types of these variables are stored
 * once, as a shape. A point consists of its statement, its shape, and its values, as consecutive
 * 64-bit words. The word of a pointer is followed by the size of its buffer at the time of loading.
 */
#pragma once

#include "base/cleanup.h"
#include "reader/tracedb/tracedb-map.h"
#include "reader/tracedb/tracedb-reader.h"

struct tracedb_store;

/* A variable of a shape. */
struct tracedb_slot {
	uint32_t name, type;
	uint32_t format; /* format of its type, enum tracedb_format */
	uint32_t word;   /* index of its first word in a point */
};

struct tracedb_shape {
	struct tracedb_slot *slots; /* owned by the store */
	uint32_t n_variables;
	uint32_t n_auxiliary; /* number of auxiliary variables, whose words follow the others */
	uint32_t n_words;
};

/* A stored point. A pointer has two words: its value and the size of its buffer. A blob has two
 * words: the position and number of its bytes. */
struct tracedb_row {
	size_t point; /* number of the point, from 0 */
	uint64_t statement;
	uint32_t shape;
	const uint64_t *words;
	size_t word; /* position of the words: a cursor of {point, word} leads to this row */
};

struct tracedb_variable {
	struct tracedb_value value;
	/* Size of a pointer's buffer; TRACEDB_NO_SIZE = unknown, or no pointer. */
	uint64_t buffer_size;
	bool is_pointer;
};

/* A part of a point, in the order of the file. Of a buffer, it has the address and the size. */
struct tracedb_part {
	enum tracedb_tag tag;
	uint64_t address, size;
};

struct tracedb_stored_point {
	uint64_t statement; /* 0 = the point has none */
	const struct tracedb_variable *variables;
	const uint64_t *auxiliary;
	size_t n_variables, n_auxiliary;
	const struct tracedb_part *parts; /* its parts, if the store keeps them */
	size_t n_parts;
};

/* The position of a walk over the points; {0} is the beginning. */
struct tracedb_cursor {
	size_t point, word;
	struct tracedb_variable *variables; /* variables of the point; owned */
	size_t room;
};

/*
 * Loads the points of R from its position. Returns TRACEDB_TRACE_END, TRACEDB_DAMAGE with the
 * points before the damage (see tracedb_reader_damage()), or a negative errno, with *RET unchanged.
 * R still belongs to the caller. It must outlive the store, since the store borrows its dictionary.
 */
int tracedb_store_load(struct tracedb_store **ret, struct tracedb_reader *r);

/*
 * Creates an empty store for points of a trace with DICTIONARY. DICTIONARY must outlive the store.
 * Points are added one by one. Returns 0 or -ENOMEM.
 */
int tracedb_store_new(struct tracedb_store **ret, const struct tracedb_dictionary *dictionary);

/* Makes S, an empty store, keep the order of the parts of points, and their buffers. */
void tracedb_store_keep_parts(struct tracedb_store *s);

/* Adds the points of R from its position. Returns like tracedb_store_load(). */
int tracedb_store_read(struct tracedb_store *s, struct tracedb_reader *r);

/* Adds POINT. Returns 0 or -ENOMEM, with the store unchanged. */
int tracedb_store_add(struct tracedb_store *s, const struct tracedb_point *point);

/*
 * Removes all points. The numbers of points continue. Buffers are kept. Shapes keep their numbers.
 * If there are very many shapes, they are removed, too, and the result is true.
 */
bool tracedb_store_clear(struct tracedb_store *s);

struct tracedb_store *tracedb_store_free(struct tracedb_store *s);
DEFINE_CLEANUP(struct tracedb_store *, tracedb_store_free)

size_t tracedb_store_points(const struct tracedb_store *s);

/*
 * Reads the next point. Returns 1, 0 after the last point, or -ENOMEM. *RET is valid until the next
 * call with C, and the bytes of its blobs as long as S.
 */
int tracedb_store_next(const struct tracedb_store *s, struct tracedb_cursor *c,
		       struct tracedb_stored_point *ret);

/*
 * Reads the next stored point. Returns false after the last point. *RET is valid until a point is
 * added.
 */
bool tracedb_store_next_row(const struct tracedb_store *s, struct tracedb_cursor *c,
			    struct tracedb_row *ret);

/* Reads the variables of ROW, like tracedb_store_next(). Returns 0 or -ENOMEM. */
int tracedb_store_point(const struct tracedb_store *s, struct tracedb_cursor *c,
			const struct tracedb_row *row, struct tracedb_stored_point *ret);

/* Returns the number of shapes, which are numbered from 0. */
uint32_t tracedb_store_shapes(const struct tracedb_store *s);
const struct tracedb_shape *tracedb_store_shape(const struct tracedb_store *s, uint32_t number);

/* Returns the bytes of a blob with the words at P; their number is p[1]. */
const uint8_t *tracedb_store_bytes(const struct tracedb_store *s, const uint64_t *p);

void tracedb_cursor_deinit(struct tracedb_cursor *c);
