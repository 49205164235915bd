/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where ranges with different names overlap.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reader/symbols/range-list.h"

/* A struct with all bytes zero is an empty list. */
struct range_clashes {
	struct range_clash {
		uint64_t start, end;
	} * list; /* owned; sorted, without overlaps */
	size_t n, room;
};

void range_clashes_deinit(struct range_clashes *c);

/*
 * Finds the clashes among the ranges of L, which must be sorted. The value of a range is the offset
 * of its name, which ends with a NUL, in NAMES. Must be called once only. Returns 0 or -ENOMEM.
 */
int range_clashes_find(struct range_clashes *c, const struct range_list *l, const char *names);

/* Returns true if ranges with different names contain ADDRESS. */
bool range_clashes_at(const struct range_clashes *c, uint64_t address);
