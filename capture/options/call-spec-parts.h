/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The declarations that the files of call-spec share. Internal to call-spec*.c.
 *
 *   call-spec.c             the file, the function and its arguments
 *   call-spec-locations.c   where an argument is
 *   call-spec-result.c      the result
 *   call-spec-tokens.c      words and numbers
 *   call-spec-types.c       types of arguments and results
 *
 * All functions of the parser consume text at `p`. These functions return 0, or a negative errno
 * after call_spec_fail().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/options/call-spec.h"

/* The text at which the parser is, and its results so far. */
struct call_spec_reader {
	const char *text, *p;
	struct call_spec *spec;
	struct call_spec_error *error;
	/*
	 * For each buffer, the name of the argument that holds its size. The name is resolved at
	 * the end, since the argument can come after the buffer.
	 */
	const char *counts[CALL_ARGS_MAX];
	size_t count_bytes[CALL_ARGS_MAX];
	size_t n_words; /* used bytes of the spec's `words` */
};

/* ---- call-spec-tokens.c ---- */

/* Stores the position AT of an error in the text, and the reason. Returns -EINVAL. */
int call_spec_fail(struct call_spec_reader *r, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void call_spec_skip(struct call_spec_reader *r);

/* Consumes TOKEN if it is next. Returns true if it was next. */
bool call_spec_accept(struct call_spec_reader *r, const char *token);

bool call_spec_is_word(char c);

/* Returns the length of the word that is next; 0 if no word is next. */
size_t call_spec_word(struct call_spec_reader *r);

/* Returns the length of the words that are next, separated by '.'; 0 if no word is next. */
size_t call_spec_dotted_word(struct call_spec_reader *r);

/* Returns true if the N bytes at P are equal to NAME. */
bool call_spec_same(const char *name, const char *p, size_t n);

/* Parses a number, which must be next. */
int call_spec_number(struct call_spec_reader *r, uint64_t *ret);

/*
 * Copies N bytes from FROM to TO, which has room for MAX bytes. WHAT names the bytes in an error.
 */
int call_spec_copy(struct call_spec_reader *r, char *to, size_t max, const char *from, size_t n,
		   const char *what);

/* ---- call-spec-types.c ---- */

/* Returns true if TYPE must have a count, or the text at this position has a count. */
bool call_spec_has_count(const struct call_spec_reader *r, const struct call_type *type);

/* Parses the count of TYPE, the type of argument number ARG: "[16]", or "[n]". N is the name of an
 * argument, and is resolved when all arguments are known. */
int call_spec_count(struct call_spec_reader *r, struct call_type *type, size_t arg);

/* Parses a type. */
int call_spec_type(struct call_spec_reader *r, struct call_type *ret);

/* ---- call-spec-result.c ---- */

/* Parses "-> TYPE". Without it, the function has no result. */
int call_spec_return(struct call_spec_reader *r);

/* ---- call-spec-locations.c ---- */

/* Parses ">>32", or ">>3:5", which means a bit field of 5 bits. */
int call_spec_shift(struct call_spec_reader *r, uint8_t *ret_shift, uint8_t *ret_width);

/* Parses the reason after "@?". */
int call_spec_reason(struct call_spec_reader *r, uint8_t *to);

/* Returns the number of the argument whose name is the N bytes at P, or -ENOENT. */
int call_spec_find_arg(const struct call_spec *spec, const char *p, size_t n);

/* Parses the location of ARG, argument number I. */
int call_spec_arg_place(struct call_spec_reader *r, struct call_arg *arg, size_t i);
