/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reasons why a file of code, or the map of a run-time compiler, was not found, and remedies.
 */
#pragma once

#include <stdbool.h>

#include "reader/symbols/symbol-types.h"

/* Returns the run-time compiler whose code is in the file PATH. */
enum symbol_runtime symbol_runtime_of(const char *path);

/* Returns true if PATH, from a list of mappings, means a file that is only in memory. */
bool symbol_absence_is_memfd(const char *path);

/*
 * Return the reason why the file, or the map, of QUERY was not found, and a remedy; NULL if it
 * usually does not exist.
 */
const char *symbol_absence_of_file(const struct symbol_query *query);
const char *symbol_absence_of_map(const struct symbol_query *query);
