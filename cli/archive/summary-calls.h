/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of `kymo summary` about calls of functions. The part is omitted if no calls were
 * recorded.
 */
#pragma once

#include "cli/common/json.h"
#include "reader/views/call-sums.h"

/* Adds the member "calls" to O. Returns 0 or -ENOMEM. */
int summary_calls_json(struct json_object *o, const struct call_sums *s);

/* Prints a table of at most LIMIT functions. Returns 0 or -ENOMEM. */
int summary_calls_print(const struct call_sums *s, size_t limit);
