/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/places/call-target.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static int call_target_fail(char why[static PLACES_WHY_MAX],
								  const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, PLACES_WHY_MAX, format, args);
	va_end(args);
	return -EINVAL;
}

/* Parses "SOURCE:LINE". Only arguments can follow. */
static bool call_target_parse_line(struct call_target *t, const char *p)
{
	size_t n = strcspn(p, "(' \t"), at = n;

	while (at > 0 && isdigit((unsigned char)p[at - 1]))
		at--;
	if (at == n || at < 2 || p[at - 1] != ':' || p[at - 2] == ':' || at > sizeof(t->name) ||
	    n - at > 9)
		return false;
	memcpy(t->name, p, at - 1);
	t->number = strtoull(p + at, NULL, 10);
	t->kind = CALL_TARGET_LINE;
	t->tail = p + n;
	return true;
}

static int call_target_parse_quoted(struct call_target *t, const char *p,
				    char why[static PLACES_WHY_MAX])
{
	size_t n = strcspn(p + 1, "'");

	if (p[1 + n] != '\'' || n == 0 || n >= sizeof(t->name))
		return call_target_fail(why, "the name in quotes is %s",
					n == 0 ? "missing" : "not closed, or too long");
	memcpy(t->name, p + 1, n);
	t->tail = p + n + 2;
	t->is_source_name = true;
	return 0;
}

/*
 * Returns the length of the name at P, without its arguments. Spaces and parentheses between "<"
 * and ">" do not end the name, unless these brackets are part of an operator, or are not closed.
 */
static size_t call_target_name_length(const char *p)
{
	const char *op = strstr(p, "operator");
	size_t n = 0, plain = strcspn(p, "( \t");
	int depth = 0;

	for (; p[n] && p + n != op && (depth > 0 || !strchr("( \t", p[n])); n++)
		depth += (p[n] == '<') - (p[n] == '>' && depth > 0 && p[n - 1] != '-');
	if (p + n == op)
		n += strcspn(p + n, "( \t");
	return depth == 0 ? n : plain;
}

static int call_target_parse_name(struct call_target *t, const char *p,
				  char why[static PLACES_WHY_MAX])
{
	size_t n = call_target_name_length(p);

	if (n >= sizeof(t->name))
		return call_target_fail(why, "the name is longer than %zu bytes",
					sizeof(t->name) - 1);
	memcpy(t->name, p, n);
	t->tail = p + n;
	t->is_source_name = strpbrk(t->name, ":<>~") != NULL;
	return 0;
}

static int call_target_parse_address(struct call_target *t, const char *p,
				     char why[static PLACES_WHY_MAX])
{
	char *end;

	errno = 0;
	t->number = strtoull(p, &end, 16);
	if (errno || strchr("( \t", *end) == NULL)
		return call_target_fail(why, "'%.40s' is not an address", p);
	snprintf(t->name, sizeof(t->name), "0x%" PRIx64, t->number);
	t->kind = CALL_TARGET_ADDRESS;
	t->tail = end;
	return 0;
}

int call_target_parse(const char *text, struct call_target *t, char why[static PLACES_WHY_MAX])
{
	const char *file, *p;
	size_t n;
	int e;

	*t = (struct call_target){ .kind = CALL_TARGET_NAME };
	p = call_spec_find_file(text, &file, &n);
	if (*p++ != ':' || n == 0 || n >= sizeof(t->file))
		return 0;
	memcpy(t->file, file, n);
	if (strcmp(t->file, CALL_SYSCALL_FILE) == 0 || *p == '+')
		return 0;
	if (strncmp(p, "usdt:", 5) == 0) {
		t->kind = CALL_TARGET_USDT;
		e = call_target_parse_name(t, p + 5, why);
	} else if (*p == '\'') {
		e = call_target_parse_quoted(t, p, why);
	} else if (strncmp(p, "0x", 2) == 0) {
		e = call_target_parse_address(t, p, why);
	} else if (call_target_parse_line(t, p)) {
		e = 0;
	} else {
		e = call_target_parse_name(t, p, why);
	}
	return e < 0 ? e : 1;
}
