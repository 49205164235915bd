/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of resources that programs allocate: each allocation and each free, if they were
 * recorded, and the live blocks of snapshots.
 */
#pragma once

#include "cli/tables/table-stacks.h"

struct table_heap {
	struct table_set *set;       /* borrowed */
	struct table_stacks *stacks; /* borrowed */
	struct table snapshots;      /* pid + 1 -> struct table_snapshot, owned */
};

void table_heap_deinit(struct table_heap *h);

/* Writes the row of EV, if EV belongs into one of these tables. Returns 0 or a negative errno. */
int table_heap_add(struct table_heap *h, const struct event *ev);
