/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options that only collections have, with names and paths as values, and conflicts between
 * keys.
 */
#pragma once

#include "capture/options/collection.h"
#include "capture/options/option-table.h"

/*
 * Parses TEXT, which must not be empty, into TO. Returns 0, -EINVAL with a sentence in WHY, or
 * -ENOMEM.
 */
int collection_parse_value(const struct option_row *row, struct collection *to, const char *text,
			   char why[static VALUE_WHY_MAX]);

/* The row of KEY; NULL if there is none. */
const struct option_row *collection_row_of(const char *section, const char *key);

/* The line of KEY in LINES, which has one element for each row; 0 for absent keys. */
unsigned collection_line_of(const unsigned *lines, const char *section, const char *key);

/* Checks all keys together. LINES as above. */
void collection_check(const struct collection *c, const unsigned *lines,
		      collection_complaint_fn complain, void *userdata);
