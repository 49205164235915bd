/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that only collections have; values that are names or paths; and keys that conflict. */
#pragma once

#include "capture/options/collection.h"
#include "capture/options/option-table.h"

/*
 * Parses TEXT, which must not be empty, into TO. Returns 0, -EINVAL with a sentence in WHY, or
 * -ENOMEM.
 */
int collection_parse_value(const struct option_row *row, struct collection *to, const char *text,
			   char why[static VALUE_WHY_MAX]);

/* Returns the row of KEY; NULL if no option has this key. */
const struct option_row *collection_row_of(const char *section, const char *key);

/*
 * Returns the line of KEY from LINES, which has one element for each row. Returns 0 if the file
 * does not have the key.
 */
unsigned collection_line_of(const unsigned *lines, const char *section, const char *key);

/* Checks all keys together. LINES is as in collection_line_of(). */
void collection_check(const struct collection *c, const unsigned *lines,
		      collection_complaint_fn complain, void *userdata);
