/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables whose rows are single events: counters, marks, losses.
 */
#pragma once

#include "cli/tables/table-set.h"

/* Writes the rows of EV, if there is a table for it. Returns 0 or a negative errno. */
int table_events_add(struct table_set *s, const struct event *ev);
