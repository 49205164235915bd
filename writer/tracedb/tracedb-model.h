/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace-db: trace points, each with the values of a program's variables at one position. Names and
 * types are written once, at the beginning; points refer to them by number.
 *
 * Two layouts have the same entries, with other widths of numbers (specs/trace-db.txt describes
 * W16). Neither has a magic number or a version. All numbers are little-endian.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tracedb_layout {
	TRACEDB_W16, /* layout of the specification */
	TRACEDB_W64, /* layout that programs write since the end of 2017 */
};

enum tracedb_format {
	TRACEDB_UNSIGNED = 0,
	TRACEDB_SIGNED = 1,
	TRACEDB_FLOAT = 2,
	TRACEDB_POINTER = 3,
	TRACEDB_BLOB = 4,
	TRACEDB_FORMATS,
};

struct tracedb_type {
	uint32_t name;   /* number of its name */
	uint32_t format; /* enum tracedb_format */
	/* Size of a value in bytes; 0 = each value has a separate size (only for blobs). */
	uint32_t size;
};

/* The beginning of a trace. */
struct tracedb_dictionary {
	const char *const *names; /* indexed by number */
	size_t n_names;
	const struct tracedb_type *types; /* indexed by number */
	size_t n_types;
};

/* The tag at the beginning of an entry. */
enum tracedb_tag {
	TRACEDB_END = 0,
	TRACEDB_STATEMENT = 1,
	TRACEDB_VARIABLE = 2,
	TRACEDB_BUFFER = 3,
	TRACEDB_AUXILIARY = 4,
	TRACEDB_TAGS,
};

struct tracedb_value {
	uint32_t name, type; /* numbers of the name and of the type */
	uint32_t size;       /* size of the value in bytes */
	union {
		uint64_t u; /* for TRACEDB_UNSIGNED and TRACEDB_POINTER */
		int64_t s;  /* for TRACEDB_SIGNED */
		double f;   /* for TRACEDB_FLOAT */
		const uint8_t *bytes;
	};
};

struct tracedb_entry {
	enum tracedb_tag tag; /* never TRACEDB_END */
	union {
		uint64_t statement, auxiliary;
		struct tracedb_value variable;
		struct {
			uint64_t address, size; /* size 0 = the buffer was removed */
		} buffer;
	};
};

/* A point. Its entries have the order of the file: entries before a variable apply to it. */
struct tracedb_point {
	const struct tracedb_entry *entries;
	size_t n_entries;
};

/* The maximum size of a value, of all values of a point, and of all names together. */
#define TRACEDB_BYTES_MAX   ((uint32_t)64 << 20)
#define TRACEDB_ENTRIES_MAX ((size_t)1 << 20) /* maximum number of entries of a point */
#define TRACEDB_TYPES_MAX   ((uint32_t)1 << 20)

/* Returns true if values of FORMAT can have SIZE bytes; SIZE 0 = each value has its own size. */
static inline bool tracedb_size_is_valid(uint32_t format, uint32_t size)
{
	switch (format) {
	case TRACEDB_UNSIGNED:
	case TRACEDB_POINTER:
		return size >= 1 && size <= 8;
	case TRACEDB_SIGNED:
		return size == 1 || size == 2 || size == 4 || size == 8;
	case TRACEDB_FLOAT:
		return size == 4 || size == 8;
	case TRACEDB_BLOB:
		return size <= TRACEDB_BYTES_MAX;
	}
	return false;
}
