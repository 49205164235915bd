/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/commands.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int command_in(const char *dir, const char *format, ...)
{
	char command[4096], whole[8192];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(command))
		return -1;
	snprintf(whole, sizeof(whole), "cd %s && { %s; } >>log 2>&1", dir, command);
	return system(whole);
}
