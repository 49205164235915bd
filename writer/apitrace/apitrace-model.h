/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls, their values and their signatures, as returned by the reader and taken by the writer.
 * Texts have a length, since they can contain any byte, and are NUL-terminated as well.
 *
 * A signature belongs to one writer, which stores its number in it: 0 = it was not written yet. The
 * reader sets it to 0.
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

/* Of a string literal. */
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
	uint64_t value; /* for an enum: as int64_t */
};

/* An enum or a bitmask. In a bitmask, only the first value may be 0: readers count on that. */
struct apitrace_set {
	uint32_t number;
	const struct apitrace_number_name *values; /* borrowed */
	size_t n;
};

struct apitrace_frame {
	uint32_t number;
	struct apitrace_text module, function, file; /* .bytes NULL = unknown */
	bool has_line, has_offset;
	uint64_t line, offset; /* the offset in the module */
};

struct apitrace_value {
	enum apitrace_type type;
	struct apitrace_value *next; /* in an array, a struct or a representation */
	union {
		int64_t sint;
		uint64_t uint; /* UINT, POINTER */
		float f;
		double d;
		struct apitrace_text text; /* STRING, BLOB */
		struct {
			const uint32_t *chars;
			size_t n;
		} wide;
		struct {
			struct apitrace_set *set;
			uint64_t value; /* ENUM: as int64_t */
		} set;
		struct {
			struct apitrace_names *names;
			struct apitrace_value *first;
		} members; /* STRUCT: as many as it has names */
		struct {
			struct apitrace_value *first;
			size_t n;
		} items; /* ARRAY; REPR: two, for people and for programs */
	};
};

enum apitrace_call_state {
	APITRACE_CALL_COMPLETE,
	APITRACE_CALL_INCOMPLETE, /* it was never left, or the file ends in its leave event */
};

struct apitrace_arg {
	struct apitrace_value *value; /* NULL = was not given */
};

struct apitrace_call {
	uint64_t no;     /* from 0, in the order of enter events */
	uint64_t offset; /* offset of its enter event in the unpacked stream */
	uint64_t thread;
	uint64_t flags;
	enum apitrace_call_state state;
	struct apitrace_names *function;
	struct apitrace_arg *args;
	size_t n_args; /* up to the last that was given */
	struct apitrace_value *ret;
	bool has_backtrace;
	struct apitrace_frame **frames;
	size_t n_frames;
};
