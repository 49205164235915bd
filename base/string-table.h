/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names by number, usually those of an enum: an array of strings, in which NULL is a number without
 * a name.
 *
 *	static const char *const state_names[] = { [STATE_ON] = "on", [STATE_OFF] = "off" };
 *
 *	const char *name = STRING_TABLE_NAME(state_names, state) ?: "unknown";
 *	int state = STRING_TABLE_FIND(state_names, text);
 */
#pragma once

#include <stddef.h>

#include "base/cleanup.h"

/* Returns the name of NUMBER in TABLE, which has N elements; NULL if it has no name. */
const char *string_table_name(const char *const *table, size_t n, size_t number);

/* Returns the first number with the name TEXT, or -EINVAL. */
int string_table_find(const char *const *table, size_t n, const char *text);

/* Like string_table_name() and string_table_find(), for an array whose size the compiler knows. */
#define STRING_TABLE_NAME(table, number) string_table_name(table, ARRAY_SIZE(table), number)
#define STRING_TABLE_FIND(table, text)   string_table_find(table, ARRAY_SIZE(table), text)
