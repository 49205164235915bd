/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

static void log_line(const char *priority, int error, const char *format, va_list ap)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, ap);
	fprintf(stderr, "%s%s%s%s\n", getenv("JOURNAL_STREAM") ? priority : "kymod: ", text,
		error ? ": " : "", error ? strerror(-error) : "");
}

void log_info(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	log_line(SD_INFO, 0, format, ap);
	va_end(ap);
}

int log_warning(int error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	log_line(SD_WARNING, error, format, ap);
	va_end(ap);
	return error;
}

int log_error(int error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	log_line(SD_ERR, error, format, ap);
	va_end(ap);
	return error;
}
