/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arguments of a record ("Argument types"), one by one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reader/fxt/fxt-provider.h"

/* Where the next argument is, and how many follow; copied to walk them. */
struct fxt_args {
	const uint64_t *next, *end; /* borrowed from the record */
	unsigned n_left;
	const struct fxt_provider *provider;
	const char *damage; /* what was wrong, once fxt_args_next() said FXT_ARGS_DAMAGE */
};

struct fxt_arg {
	unsigned type; /* enum fxt_arg_type, or one that is not known: then there is no value */
	unsigned n_words;
	const uint64_t *words;
	struct fxt_text name;
	union {
		int32_t int32;
		uint32_t uint32;
		int64_t int64;
		uint64_t uint64; /* pointers and koids, too */
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
	FXT_ARGS_DAMAGE = 2, /* it does not hold what it claims; what follows it can be read */
};

/* Takes the next argument into *RET. Returns an enum fxt_args_outcome. */
int fxt_args_next(struct fxt_args *it, struct fxt_arg *ret);

/* The first of ARGS that is called NAME (enum fxt_name) and is of TYPE. */
bool fxt_args_find(struct fxt_args args, int name, enum fxt_arg_type type, struct fxt_arg *ret);

/* Finds the end of the arguments by their sizes alone; NULL if they do not fit. Here, since it is
 * done for each record. */
static inline const uint64_t *fxt_args_end(const struct fxt_args *args)
{
	const uint64_t *p = args->next;

	for (unsigned n = args->n_left; n > 0; n--) {
		uint64_t words = p < args->end ? fxt_get_arg_words(*p) : 0;

		if (words - 1 >= (uint64_t)(args->end - p)) /* 0, too */
			return NULL;
		p += words;
	}
	return p;
}
