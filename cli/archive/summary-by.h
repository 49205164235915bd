/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo summary --by: the sums of units, containers, processes or threads.
 */
#pragma once

#include <stddef.h>

#include "cli/common/json.h"
#include "reader/views/summary-groups.h"

/* Parses the argument of --by. Returns CLI_OK, or CLI_USAGE after an error message. */
int summary_by_parse(void *by, char *text);

/* Prints a table of at most LIMIT rows. Returns 0 or -ENOMEM. */
int summary_by_print(const struct summary *s, enum summary_by by, size_t limit);

/* Adds "by" and all "groups" to O. Returns 0 or -ENOMEM. */
int summary_by_json(struct json_object *o, const struct summary *s, enum summary_by by);
