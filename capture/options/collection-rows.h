/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of a profile, a row each: what parses it, what it may be, and with what it makes sense.
 */
#pragma once

#include <stddef.h>

#include "base/value.h"
#include "capture/options/collection.h"

struct collection_row;

/* Takes TEXT, which is not empty, into TO. Returns 0, -EINVAL with a sentence in WHY, or -ENOMEM. */
typedef int (*collection_take_fn)(const struct collection_row *row, struct collection *to,
				  const char *text, char why[static VALUE_WHY_MAX]);

struct collection_row {
	const char *section, *key;
	collection_take_fn take;
	size_t offset;          /* in struct collection */
	uint64_t min, max;      /* of what has bounds */
	const char *values;     /* in words; of what has bounds, what they are of */
	const char *usual;      /* what holds without it */
	uint32_t categories;    /* makes sense with one of these only; 0 = always */
	enum session_mode mode; /* ... in this mode only; SESSION_MODE_MAX = in each */
	bool list;
};

extern const struct collection_row collection_rows[];
extern const size_t collection_n_rows;

/* How bounds of this row are written. */
char *collection_format_bound(const struct collection_row *row, uint64_t value, char *to);

/* What is wrong with all of it together. LINES has the line of each row, 0 for what is not there. */
void collection_check(const struct collection *c, const unsigned *lines,
		      collection_complaint_fn complain, void *userdata);
