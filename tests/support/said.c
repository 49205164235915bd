/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/said.h"

#include <stdarg.h>
#include <stdio.h>

#include "cli/common/verb.h"

char said[512];
int bad_option;

static void say(const char *format, va_list ap)
{
	vsnprintf(said, sizeof(said), format, ap);
}

void cli_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(format, ap);
	va_end(ap);
}

int cli_usage_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(format, ap);
	va_end(ap);
	return CLI_USAGE;
}

int cli_bad_option(int answer, char **argv, const struct option *known)
{
	(void)argv;
	(void)known;
	bad_option = answer;
	return CLI_USAGE;
}

int cli_help(void)
{
	return CLI_OK;
}
