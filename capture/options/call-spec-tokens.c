/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/call-spec-parts.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int call_spec_fail(struct call_spec_reader *r, const char *at, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->error->why, sizeof(r->error->why), format, args);
	va_end(args);
	r->error->at = (size_t)(at - r->text);
	return -EINVAL;
}

void call_spec_skip(struct call_spec_reader *r)
{
	while (*r->p == ' ' || *r->p == '\t')
		r->p++;
}

bool call_spec_accept(struct call_spec_reader *r, const char *token)
{
	size_t n = strlen(token);

	call_spec_skip(r);
	if (strncmp(r->p, token, n) != 0)
		return false;
	r->p += n;
	return true;
}

bool call_spec_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

size_t call_spec_word(struct call_spec_reader *r)
{
	size_t n = 0;

	call_spec_skip(r);
	while (call_spec_is_word(r->p[n]))
		n++;
	return n;
}

bool call_spec_same(const char *name, const char *p, size_t n)
{
	return strlen(name) == n && memcmp(name, p, n) == 0;
}

size_t call_spec_dotted_word(struct call_spec_reader *r)
{
	size_t n = call_spec_word(r);

	while (n > 0 &&
	       (call_spec_is_word(r->p[n]) || (r->p[n] == '.' && call_spec_is_word(r->p[n + 1]))))
		n++;
	return n;
}

int call_spec_number(struct call_spec_reader *r, uint64_t *ret)
{
	const char *begin;
	char *end;

	call_spec_skip(r);
	begin = r->p;
	if (!isdigit((unsigned char)(*begin == '-' ? begin[1] : *begin)))
		return call_spec_fail(r, begin, "a number is missing");
	errno = 0;
	*ret = *begin == '-' ? (uint64_t)strtoll(begin, &end, 0) : strtoull(begin, &end, 0);
	if (errno == ERANGE)
		return call_spec_fail(r, begin, "the number is too large");
	if (call_spec_is_word(*end))
		return call_spec_fail(r, end, "unexpected character in a number");
	r->p = end;
	return 0;
}
int call_spec_copy(struct call_spec_reader *r, char *to, size_t max, const char *from, size_t n,
		   const char *what)
{
	if (n == 0)
		return call_spec_fail(r, from, "%s is missing", what);
	if (n >= max)
		return call_spec_fail(r, from, "%s is longer than %zu bytes", what, max - 1);
	memcpy(to, from, n);
	to[n] = '\0';
	return 0;
}
