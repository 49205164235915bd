/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/calls/call-print.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

struct call_print call_print_begin(char *to, size_t size)
{
	*to = '\0';
	return (struct call_print){ .to = to, .size = size };
}

void call_print_add(struct call_print *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_append(p->to, p->size, &p->used, format, args);
	va_end(args);
}

/* Returns the character that represents C after a backslash; 0 = C has no such representation. */
static char call_print_escape(char c)
{
	static const char from[] = "\n\t\r\f\v\"\\", to[] = "ntrfv\"\\";
	const char *p = c ? strchr(from, c) : NULL;

	return p ? to[p - from] : '\0';
}

void call_print_quoted(struct call_print *p, const char *bytes, size_t n, bool is_cut)
{
	call_print_add(p, "\"");
	for (size_t i = 0; i < n; i++) {
		char escape = call_print_escape(bytes[i]);
		/*
		 * A digit after an octal number of fewer than three digits would be read as a part
		 * of it.
		 */
		bool digit = i + 1 < n && bytes[i + 1] >= '0' && bytes[i + 1] <= '7';

		if (escape)
			call_print_add(p, "\\%c", escape);
		else if (bytes[i] >= ' ' && bytes[i] <= '~')
			call_print_add(p, "%c", bytes[i]);
		else
			call_print_add(p, digit ? "\\%03o" : "\\%o", (unsigned char)bytes[i]);
	}
	call_print_add(p, "\"%s", is_cut ? "..." : "");
}

void call_print_bytes(struct call_print *p, const char *bytes, size_t n, bool is_cut)
{
	call_print_add(p, "\"");
	for (size_t i = 0; i < n; i++)
		call_print_add(p, "\\x%02x", (unsigned char)bytes[i]);
	call_print_add(p, "\"%s", is_cut ? "..." : "");
}
