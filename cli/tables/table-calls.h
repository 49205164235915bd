/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of calls of functions.
 */
#pragma once

#include "cli/tables/table-stacks.h"

/* Writes the row of EV, an EVENT_CALL. Returns 0 or a negative errno. */
int table_calls_put(struct table_set *s, const struct table_stacks *stacks, const struct event *ev);
