/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of the writer, and the functions that write parts of events: the functions for values
 * are for callers; those for other parts are only for the writer.
 */
#pragma once

#include "base/outbuf.h"
#include "writer/apitrace/apitrace-model.h"

struct apitrace_writer {
	struct outbuf *out; /* borrowed */
	int error;
	size_t begin;   /* position in OUT at which the event begins */
	uint64_t calls; /* number of calls that were entered */
	/* The called function; NULL = the event is a leave event. */
	const struct apitrace_names *function;
	bool open;        /* an event was begun */
	uint64_t missing; /* number of values that must follow */
	/* Last number that was assigned to a signature of each kind. */
	uint32_t functions, structs, enums, bitmasks, frames;
};

/* ---- values ---- */

void apitrace_put_null(struct apitrace_writer *w);
void apitrace_put_bool(struct apitrace_writer *w, bool value);
void apitrace_put_sint(struct apitrace_writer *w, int64_t value);
void apitrace_put_uint(struct apitrace_writer *w, uint64_t value);
void apitrace_put_float(struct apitrace_writer *w, float value);
void apitrace_put_double(struct apitrace_writer *w, double value);
void apitrace_put_string(struct apitrace_writer *w, const char *bytes, size_t n);
void apitrace_put_wstring(struct apitrace_writer *w, const uint32_t *chars, size_t n);
void apitrace_put_blob(struct apitrace_writer *w, const void *bytes, size_t n);
void apitrace_put_pointer(struct apitrace_writer *w, uint64_t value); /* writes null for 0 */
void apitrace_put_enum(struct apitrace_writer *w, struct apitrace_set *set, int64_t value);
void apitrace_put_bitmask(struct apitrace_writer *w, struct apitrace_set *set, uint64_t value);

/*
 * Begin a value that consists of other values. These must follow: for an array, N values; for a
 * struct, one value for each member; for a representation, a value for people and a value for
 * programs.
 */
void apitrace_put_array(struct apitrace_writer *w, size_t n);
void apitrace_put_struct(struct apitrace_writer *w, struct apitrace_names *names);
void apitrace_put_repr(struct apitrace_writer *w);

/* Writes VALUE with all values in it. */
void apitrace_put_value(struct apitrace_writer *w, const struct apitrace_value *value);

/* ---- only for the writer ---- */

/* Marks the event as invalid. The first error is kept. */
void apitrace_put_failed(struct apitrace_writer *w, int error);

void apitrace_put_byte(struct apitrace_writer *w, uint8_t byte);
void apitrace_put_number(struct apitrace_writer *w, uint64_t number);
void apitrace_put_text(struct apitrace_writer *w, const struct apitrace_text *text);

/* Writes the id of a signature with its *NUMBER. *LAST counts the signatures of its kind. Returns
 * true if the body of the signature must follow. */
bool apitrace_put_id(struct apitrace_writer *w, uint32_t *number, uint32_t *last);

/* Writes the signature of a function or struct. */
void apitrace_put_names(struct apitrace_writer *w, struct apitrace_names *names, uint32_t *last);
