/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set of texts: equal texts have one address, which is valid as long as the set.
 */
#pragma once

#include "base/table.h"

/* All zeroes is an empty set. */
struct text_set {
	struct table texts; /* hash -> struct kept_text, a chain */
};

void text_set_deinit(struct text_set *p);

/* Returns the set's copy of TEXT, or a constant for "". NULL = no memory. */
const char *text_set_keep(struct text_set *p, const char *text);

/* Returns the set's copy of PATH as people read it: see text_path_length(). NULL = no memory. */
const char *text_set_keep_path(struct text_set *p, const char *path);
