/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls, their values and their signatures, as returned by the reader and taken by the writer.
 * Texts have a length, since they can contain any byte, and are NUL-terminated as well.
 *
 * A signature belongs to one writer, which stores in `number` the number that it gave to the
 * signature: 0 = the signature was not written yet. The reader sets `number` to 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/apitrace/apitrace-wire.h"

struct apitrace_text {
	const char *bytes; /* borrowed */
	size_t n;
};

/* A text from a string literal. */
#define APITRACE_TEXT(literal)                                                                     \
	(struct apitrace_text)                                                                     \
	{                                                                                          \
		(literal), sizeof(literal) - 1                                                     \
	}

struct apitrace_property {
	struct apitrace_text name, value;
};

/* The name of a function and its arguments, or of a struct and its members. */
struct apitrace_names {
	uint32_t number;
	struct apitrace_text name;
	const struct apitrace_text *names; /* borrowed */
	size_t n;
};

struct apitrace_number_name {
	struct apitrace_text name;
	uint64_t value; /* for an enum, converted from int64_t */
};

/* An enum or a bitmask. In a bitmask, only the first value may be 0. Readers rely on this. */
struct apitrace_set {
	uint32_t number;
	const struct apitrace_number_name *values; /* borrowed */
	size_t n;
};

struct apitrace_frame {
	uint32_t number;
	struct apitrace_text module, function, file; /* .bytes is NULL if unknown */
	bool has_line, has_offset;
	uint64_t line, offset; /* offset: position in the module */
};

struct apitrace_value {
	enum apitrace_type type;
	struct apitrace_value *next; /* next value in an array, a struct or a representation */
	union {
		int64_t sint;
		uint64_t uint; /* for UINT and POINTER */
		float f;
		double d;
		struct apitrace_text text; /* for STRING and BLOB */
		struct {
			const uint32_t *chars;
			size_t n;
		} wide;
		struct {
			struct apitrace_set *set;
			uint64_t value; /* for ENUM, converted from int64_t */
		} set;
		struct {
			struct apitrace_names *names;
			struct apitrace_value *first;
		} members; /* for STRUCT: one value for each name */
		struct {
			struct apitrace_value *first;
			size_t n;
		} items; /* for ARRAY; for REPR, two values: for people, and for programs */
	};
};

enum apitrace_call_state {
	APITRACE_CALL_COMPLETE,
	APITRACE_CALL_INCOMPLETE, /* the call was never left, or the file ends in its leave event */
};

struct apitrace_arg {
	struct apitrace_value *value; /* NULL = the argument was not given */
};

struct apitrace_call {
	uint64_t no;     /* number of the call, from 0, in the order of enter events */
	uint64_t offset; /* offset of its enter event in the unpacked stream */
	uint64_t thread;
	uint64_t flags;
	enum apitrace_call_state state;
	struct apitrace_names *function;
	struct apitrace_arg *args;
	size_t n_args; /* number of arguments up to the last one that was given */
	struct apitrace_value *ret;
	bool has_backtrace;
	struct apitrace_frame **frames;
	size_t n_frames;
};
