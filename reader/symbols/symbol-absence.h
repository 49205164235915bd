/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reasons why a file of code, or the map of a run-time compiler, was not found, and remedies.
 */
#pragma once

#include <stdbool.h>

#include "reader/symbols/symbol-types.h"

/* Returns the run-time compiler that the program or library PATH is, by its name. */
enum symbol_runtime symbol_runtime_of(const char *path);

/* Returns true if PATH, as in /proc/PID/maps, is a file that exists only in memory. */
bool symbol_absence_is_memfd(const char *path);

/*
 * Return the reason why the file, or the map, of QUERY was not found, and a remedy.
 * symbol_absence_of_map() returns NULL if such code usually has no map.
 */
const char *symbol_absence_of_file(const struct symbol_query *query);
const char *symbol_absence_of_map(const struct symbol_query *query);
