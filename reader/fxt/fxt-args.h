/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The arguments of a record ("Argument types"), one by one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reader/fxt/fxt-provider.h"

struct fxt_out_arg;

/*
 * The position of the next argument, and the number of arguments left. A copy of the struct is an
 * independent iterator.
 */
struct fxt_args {
	const uint64_t *next, *end; /* borrowed from the record */
	unsigned n_left;
	const struct fxt_provider *provider;
	const char *damage; /* the error, after fxt_args_next() returned FXT_ARGS_DAMAGE */
};

struct fxt_arg {
	unsigned type; /* enum fxt_arg_type, or unknown; then the value is not read */
	unsigned n_words;
	const uint64_t *words;
	struct fxt_text name;
	union {
		int32_t int32;
		uint32_t uint32;
		int64_t int64;
		uint64_t uint64; /* unsigned numbers, pointers and koids */
		double real;
		bool boolean;
		struct fxt_text text;
		struct {
			const uint8_t *data;
			uint32_t size;
		} blob;
	};
};

enum fxt_args_outcome {
	FXT_ARGS_END = 0,
	FXT_ARGS_NEXT = 1,
	FXT_ARGS_DAMAGE = 2, /* the argument is invalid; later ones can be read */
};

/* Reads the next argument into *RET. Returns an enum fxt_args_outcome. */
int fxt_args_next(struct fxt_args *it, struct fxt_arg *ret);

/*
 * Copies the type and the value of ARG. Returns false for koids, texts and unknown types, whose
 * values are not copied.
 */
bool fxt_args_copy_value(const struct fxt_arg *arg, struct fxt_out_arg *ret);

/* Finds the first of ARGS with the name NAME (enum fxt_name) and the type TYPE. Returns false if
 * there is none. */
bool fxt_args_find(struct fxt_args args, int name, enum fxt_arg_type type, struct fxt_arg *ret);

/*
 * Finds the end of the arguments by their sizes alone; NULL if they do not fit. The function is
 * inline, since it runs for each record.
 */
static inline const uint64_t *fxt_args_end(const struct fxt_args *args)
{
	const uint64_t *p = args->next;

	for (unsigned n = args->n_left; n > 0; n--) {
		uint64_t words = p < args->end ? fxt_get_arg_words(*p) : 0;

		if (words - 1 >= (uint64_t)(args->end - p)) /* also true for 0 words */
			return NULL;
		p += words;
	}
	return p;
}
