/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `kymo summary` shows of interrupts, softirqs, work items, idle states and counters. Nothing
 * of what an archive has not.
 */
#pragma once

#include "cli/common/json.h"
#include "reader/views/summary.h"

/* Adds the members "activity" and "counters" to O. */
void summary_activity_json(struct json_object *o, const struct summary *s);

/* Prints tables. Returns 0 or -ENOMEM. */
int summary_activity_print(const struct summary *s);
