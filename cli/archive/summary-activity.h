/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of `kymo summary` about interrupts, softirqs, work items, idle states, tracepoints and
 * counters.
 * Kinds that are not in the archive are omitted.
 */
#pragma once

#include "cli/common/json.h"
#include "reader/views/summary.h"

/* Adds the members "activity" and "counters" to O. */
void summary_activity_json(struct json_object *o, const struct summary *s);

/* Prints tables. Returns 0 or -ENOMEM. */
int summary_activity_print(const struct summary *s);
