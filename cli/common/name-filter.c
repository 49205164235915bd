/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/name-filter.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "cli/common/verb.h"

enum { COMPARED_MAX = 65536 };

bool name_filter_selects(struct name_filter *f, const char *name)
{
	struct value_nearest near = { .text = f->pattern,
				      .distance = *f->nearest ? f->distance : VALUE_NEAR };

	if (!f->pattern)
		return true;
	if (fnmatch(f->pattern, name, 0) == 0) {
		f->has_matched = true;
		return true;
	}
	/*
	 * (the number of comparisons is limited, since a comparison costs more than the rest of
	 * this function)
	 */
	if (!f->has_matched && strlen(name) < NAME_FILTER_MAX && f->n_compared++ < COMPARED_MAX &&
	    value_nearest_try(&near, name)) {
		snprintf(f->nearest, NAME_FILTER_MAX, "%s", name);
		f->distance = near.distance;
	}
	return false;
}

bool name_filter_complain(const struct name_filter *f, const char *file, const char *what)
{
	bool is_near = *f->nearest != '\0';

	if (!f->pattern || f->has_matched)
		return false;
	cli_error("%s contains no %s '%s'%s%s%s", file, what, f->pattern,
		  is_near ? "; did you mean '" : "", f->nearest, is_near ? "'?" : "");
	return true;
}
