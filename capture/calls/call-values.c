/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/calls/call-values.h"

#include <errno.h>
#include <stdio.h>
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
