/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What collections have of their own in the table of options: lists of names and paths, and what
 * goes together.
 */
#pragma once

#include "capture/options/option-table.h"

/*
 * Takes TEXT, which is not empty, into TO. Returns 0, -EINVAL with a sentence in WHY, or -ENOMEM.
 */
int collection_take(const struct option_row *row, struct collection *to, const char *text,
		    char why[static VALUE_WHY_MAX]);

/* The row of KEY; NULL if there is none. */
const struct option_row *collection_row_of(const char *section, const char *key);

/* The line of KEY among LINES, which has that of each row, 0 for what is not there. */
unsigned collection_line_of(const unsigned *lines, const char *section, const char *key);

/* What is wrong with all of it together. LINES are as above. */
void collection_check(const struct collection *c, const unsigned *lines,
		      collection_complaint_fn complain, void *userdata);
