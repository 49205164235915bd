/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/string-table.h"

#include <errno.h>
#include <string.h>

const char *string_table_name(const char *const *table, size_t n, size_t number)
{
	return number < n ? table[number] : NULL;
}

int string_table_find(const char *const *table, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (table[i] && strcmp(table[i], text) == 0)
			return (int)i;
	return -EINVAL;
}
