/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pattern that selects records by a name. If the pattern selects no records, it is probably
 * mistyped. The user must be told, since an empty output looks like an answer.
 */
#pragma once

#include <stdbool.h>

enum { NAME_FILTER_MAX = 128 };

struct name_filter {
	const char *pattern; /* with * and ?; borrowed; NULL = all names */
	bool has_matched;
	unsigned n_compared;           /* number of names that were compared with the pattern */
	char nearest[NAME_FILTER_MAX]; /* the nearest name that did not match; "" = none is near */
	unsigned distance;             /* distance of NEAREST from the pattern */
};

/* Returns true if F selects NAME. */
bool name_filter_selects(struct name_filter *f, const char *name);

/*
 * If the pattern has selected no WHAT ("call of a function") in FILE, reports this and returns
 * true.
 */
bool name_filter_complain(const struct name_filter *f, const char *file, const char *what);
