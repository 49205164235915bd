/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The texts of a code object of CPython, and the lines of its instructions. All bytes come from the
 * memory of a traced program, so all lengths are checked here.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Converts the N bytes at DATA, which are characters of KIND bytes each (1, 2 or 4), to UTF-8.
 * Writes as many whole characters as fit, and a NUL, to the ROOM bytes (at least 1) at TO. Control
 * characters and invalid code points become U+FFFD.
 */
void python_code_text(const uint8_t *data, size_t n, unsigned kind, char *to, size_t room);

/*
 * Returns the line of code unit UNIT by the table of lines (CPython 3.11 and later,
 * Objects/locations.md), whose first line is FIRST. 0 = the unit has no line, or the table does not
 * reach it.
 */
uint32_t python_code_line(const uint8_t *table, size_t n, uint32_t first, uint32_t unit);
