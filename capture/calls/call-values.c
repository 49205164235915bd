/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/calls/call-values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ERRNO_MAX = 4095 };

/* The character behind a backslash that stands for C; 0 = there is none. */
static char call_value_escape(char c)
{
	static const char from[] = "\n\t\r\f\v\a\b\"\\", to[] = "ntrfvab\"\\";
	const char *p = c ? strchr(from, c) : NULL;

	return p ? to[p - from] : '\0';
}

size_t call_value_quote(char to[static CALL_VALUE_TEXT_MAX], const char *bytes, size_t n, bool cut)
{
	char *p = to;

	*p++ = '"';
	for (size_t i = 0; i < n && i < CALL_TEXT_BYTES; i++) {
		char escape = call_value_escape(bytes[i]);
		/* (digits behind an octal number would be part of a shorter one) */
		bool digit = i + 1 < n && bytes[i + 1] >= '0' && bytes[i + 1] <= '7';

		if (escape)
			p += sprintf(p, "\\%c", escape);
		else if (bytes[i] >= ' ' && bytes[i] <= '~')
			*p++ = bytes[i];
		else
			p += sprintf(p, digit ? "\\%03o" : "\\%o", (unsigned char)bytes[i]);
	}
	p += sprintf(p, "\"%s", cut ? "..." : "");
	return (size_t)(p - to);
}

/* -ENOENT by its name, where it has one. */
static bool call_value_take_errno(struct call_value *v, int64_t number)
{
	const char *name =
		number < 0 && number >= -ERRNO_MAX ? strerrorname_np((int)-number) : NULL;

	if (!name)
		return false;
	v->form = CALL_VALUE_TEXT;
	v->text = name;
	return true;
}

struct call_value call_value_of(const struct call_type *type, uint64_t value,
				char to[static CALL_SET_TEXT_MAX])
{
	struct call_value v = { .name = "", .u64 = call_type_value(type, value) };

	if (type->set != CALL_SET_NONE) {
		call_set_format(type->set, v.u64, to, CALL_SET_TEXT_MAX);
		v.form = CALL_VALUE_TEXT;
		v.text = to;
		return v;
	}
	switch (type->form) {
	case CALL_VOID:
		break;
	case CALL_ERRNO:
		v.form = CALL_VALUE_INT;
		call_value_take_errno(&v, v.i64);
		break;
	case CALL_INT:
	case CALL_FD:
		v.form = CALL_VALUE_INT;
		break;
	case CALL_UINT:
		v.form = CALL_VALUE_UINT;
		break;
	case CALL_BOOL:
		v.form = CALL_VALUE_BOOL;
		v.yes = value & 0xff;
		break;
	default:
		v.form = CALL_VALUE_POINTER;
	}
	return v;
}

/* ---- words and numbers of their own ---- */

/* VALUE in WORDS, "RED=0,GREEN=1": one, or several with '|' between them; false if it is none. */
static bool call_value_in_words(const char *words, int64_t value, char *to, size_t size)
{
	int64_t left = value;
	size_t used = 0;

	*to = '\0';
	for (const char *p = words; *p;) {
		size_t n = strcspn(p, "=");
		char *end;
		int64_t number = p[n] == '=' ? strtoll(p + n + 1, &end, 10) : (end = NULL, 0);

		if (!end)
			return false;
		if (number == value) {
			snprintf(to, size, "%.*s", (int)n, p);
			return true;
		}
		/* (a bit of flags) */
		if (number > 0 && (number & (number - 1)) == 0 && left & number && used < size) {
			used += (size_t)snprintf(to + used, size - used, "%s%.*s", used ? "|" : "",
						 (int)n, p);
			left &= ~number;
		}
		p = end + (*end == ',');
	}
	return left == 0 && value != 0 && used < size;
}

static struct call_value call_value_missing(enum call_reason reason,
					    char to[static CALL_SET_TEXT_MAX])
{
	struct call_value v = { .name = "", .form = CALL_VALUE_TEXT, .text = to };

	snprintf(to, CALL_SET_TEXT_MAX, "<unavailable: %s>", call_reason_text(reason));
	return v;
}

static void call_value_take_float(struct call_value *v, unsigned bits, uint64_t value, char *to)
{
	double number;
	float small;

	memcpy(&small, &value, sizeof(small));
	memcpy(&number, &value, sizeof(number));
	snprintf(to, CALL_SET_TEXT_MAX, bits == 32 ? "%.9g" : "%.17g",
		 bits == 32 ? (double)small : number);
	v->form = CALL_VALUE_TEXT;
	v->text = to;
}

static struct call_value call_value_of_spec(const struct call_spec *spec,
					    const struct call_type *type, uint64_t value,
					    char to[static CALL_SET_TEXT_MAX])
{
	struct call_value v = call_value_of(type, value, to);

	if (type->form == CALL_FLOAT)
		call_value_take_float(&v, type->bits, value, to);
	if (type->words &&
	    call_value_in_words(spec->words + type->words - 1, v.i64, to, CALL_SET_TEXT_MAX)) {
		v.form = CALL_VALUE_TEXT;
		v.text = to;
	}
	return v;
}

struct call_value call_value_of_arg(const struct call_spec *spec, size_t arg, uint64_t value,
				    bool unreadable, char to[static CALL_SET_TEXT_MAX])
{
	const struct call_arg *a = &spec->args[arg];

	if (a->location.is_said && a->location.kind == CALL_ORIGIN_NONE)
		return call_value_missing(a->location.reason, to);
	if (unreadable)
		return call_value_missing(CALL_REASON_UNREADABLE, to);
	return call_value_of_spec(spec, &a->type, value, to);
}

struct call_value call_value_of_result(const struct call_spec *spec, uint64_t result,
				       char to[static CALL_SET_TEXT_MAX])
{
	if (spec->ret.form == CALL_FLOAT)
		return call_value_missing(CALL_REASON_VECTOR, to);
	return call_value_of_spec(spec, &spec->ret, result, to);
}

struct call_value call_value_of_syscall(const struct call_type *type, uint64_t result,
					char to[static CALL_SET_TEXT_MAX])
{
	struct call_value v = { .name = "" };

	return call_value_take_errno(&v, (int64_t)result) ? v : call_value_of(type, result, to);
}

struct call_value call_value_copied(const struct call_text *text, uint64_t address,
				    char to[static CALL_VALUE_TEXT_MAX])
{
	struct call_value v = { .name = "", .form = CALL_VALUE_POINTER, .u64 = address };

	if (text->bytes < 0 || address == 0)
		return v;
	call_value_quote(to, text->text, (size_t)text->bytes, text->cut);
	v.form = CALL_VALUE_TEXT;
	v.text = to;
	return v;
}
