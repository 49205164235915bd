/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/calls/call-values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/calls/call-lists.h"
#include "capture/calls/call-messages.h"
#include "model/calls/call-print.h"
#include "model/calls/call-restarts.h"
#include "model/calls/call-structs.h"

#define FDS_STRUCT "struct:fds"

enum { ERRNO_MAX = 4095 };

_Static_assert((int)CALL_RESTART_KILLED == CALL_RESULT_KILLED, "the programs report it");

/*
 * Sets V to the name of the error, such as ENOENT for -2. Returns false if the error has no name.
 */
static bool call_value_set_errno(struct call_value *v, int64_t number)
{
	const char *name =
		number < 0 && number >= -ERRNO_MAX ? strerrorname_np((int)-number) : NULL;

	name = name ?: call_restart_name(number);
	if (!name)
		return false;
	v->form = CALL_VALUE_TEXT;
	v->text = name;
	return true;
}

/* Returns true if TYPE is a number that is shown in hexadecimal. */
static bool call_type_is_hex(const struct call_type *type)
{
	const struct call_struct *layout = call_struct_by_number(type->layout);

	return type->form == CALL_HEX || (layout && layout->n_members == 0);
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
		call_value_set_errno(&v, v.i64);
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
	/* For this type, zero is a number, and not a null pointer. */
	if (v.u64 == 0 && call_type_is_hex(type))
		v.form = CALL_VALUE_UINT;
	return v;
}

/* ---- names of values, and numbers ---- */

/*
 * Writes the name of VALUE in WORDS ("RED=0,GREEN=1"), or several names joined with '|'. Returns
 * false if VALUE has no name.
 */
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
		/* The word names one bit of a set of flags. */
		if (number > 0 && (number & (number - 1)) == 0 && left & number && used < size) {
			used += (size_t)snprintf(to + used, size - used, "%s%.*s", used ? "|" : "",
						 (int)n, p);
			left &= ~number;
		}
		p = end + (*end == ',');
	}
	return left == 0 && value != 0 && used < size;
}

struct call_value call_value_missing(enum call_reason reason, char to[static CALL_SET_TEXT_MAX])
{
	struct call_value v = { .name = "", .form = CALL_VALUE_TEXT, .text = to };

	snprintf(to, CALL_SET_TEXT_MAX, "<unavailable: %s>", call_reason_text(reason));
	return v;
}

static void call_value_set_float(struct call_value *v, unsigned bits, uint64_t value, char *to)
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

struct call_value call_value_of_spec(const struct call_spec *spec, const struct call_type *type,
				     uint64_t value, char to[static CALL_SET_TEXT_MAX])
{
	struct call_value v = call_value_of(type, value, to);

	if (type->form == CALL_FLOAT)
		call_value_set_float(&v, type->bits, value, to);
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

	if (a->location.is_explicit && a->location.kind == CALL_ORIGIN_NONE)
		return call_value_missing(a->location.reason, to);
	if (unreadable)
		return call_value_missing(CALL_REASON_UNREADABLE, to);
	return call_value_of_spec(spec, &a->type, value, to);
}

struct call_value call_value_of_syscall(const struct call_type *type, uint64_t result,
					char to[static CALL_SET_TEXT_MAX])
{
	struct call_value v = { .name = "" };

	return call_value_set_errno(&v, (int64_t)result) ? v : call_value_of(type, result, to);
}

/* ---- memory ---- */

static size_t call_value_quote_copy(const struct call_type *type, const struct call_text *text,
				    char to[static CALL_VALUE_TEXT_MAX])
{
	struct call_print p = call_print_begin(to, CALL_VALUE_TEXT_MAX);
	size_t n = (size_t)text->bytes;

	bool is_cut = text->cut;

	/* A variant of a system call (call-variants.h) can declare as a string what the row of the
	 * call copies as bytes. The string ends at its first NUL. */
	if (type->form == CALL_STR)
		n = strnlen(text->text, n);
	if (n < (size_t)text->bytes)
		is_cut = false;
	if (type->in_hex)
		call_print_bytes(&p, text->text, n, is_cut);
	else
		call_print_quoted(&p, text->text, n, is_cut);
	return p.used;
}

size_t call_value_fds(const struct call_text *text, uint64_t count,
		      char to[static CALL_VALUE_TEXT_MAX])
{
	char bits[CALL_TEXT_BYTES] = { 0 };
	size_t n = text->bytes > 0 ? (size_t)text->bytes : 0, used;

	/* (a negative number is an error) */
	if (count == 0 || count > INT32_MAX || n == 0)
		return 0;
	if (count / 8 < n)
		n = (size_t)(count / 8) + 1;
	memcpy(bits, text->text, n);
	if (count / 8 < n)
		bits[count / 8] &= (char)((1 << count % 8) - 1);
	used = call_struct_format(call_struct_find(FDS_STRUCT, strlen(FDS_STRUCT)), bits, n, to,
				  CALL_VALUE_TEXT_MAX);
	/* The copy has not all descriptors. */
	if (used > 0 && count > 8 * n && used + sizeof(" ...") < CALL_VALUE_TEXT_MAX)
		used = used - 1 +
		       (size_t)sprintf(to + used - 1, used > strlen("[]") ? " ...]" : "...]");
	return used;
}

/* Returns the length of the text; 0 = the memory cannot be shown. */
static size_t call_value_show(const struct call_type *type, const struct call_text *text,
			      uint64_t count, char to[static CALL_VALUE_TEXT_MAX])
{
	size_t n = text && text->bytes >= 0 ? (size_t)text->bytes : 0;
	const struct call_struct *layout = call_struct_by_number(type->layout);

	if (!text || text->bytes < 0)
		return 0;
	if (type->form != CALL_STRUCT)
		return call_value_quote_copy(type, text, to);
	if (layout && layout->n_members > 0 && layout->members[0].kind == CALL_MEMBER_FDS)
		return call_value_fds(text, count, to);
	if (type->is_array)
		return call_struct_format_array(type->layout, text->text, n, count, to,
						CALL_VALUE_TEXT_MAX);
	return call_struct_format(type->layout, text->text, n < count ? n : count, to,
				  CALL_VALUE_TEXT_MAX);
}

/*
 * Extends the text at TO, of TYPE, by a changed value: "[128]" and "[16]" become "[128 => 16]".
 */
static void call_value_change(const struct call_type *type, char to[static CALL_VALUE_TEXT_MAX],
			      const char *after)
{
	const struct call_struct *layout = call_struct_by_number(type->layout);
	size_t n = strlen(to);

	if (layout && layout->n_members > 0 && layout->members[0].kind == CALL_MEMBER_OFFSET) {
		snprintf(to + n, CALL_VALUE_TEXT_MAX - n, " => %s", after);
		return;
	}
	/*
	 * (quoted bytes become a list with both values, so that readers do not mistake it for a
	 * text)
	 */
	if (*to == '"' && strcmp(to, after) != 0) {
		char before[CALL_VALUE_TEXT_MAX];
		struct call_print p;

		memcpy(before, to, n + 1);
		p = call_print_begin(to, CALL_VALUE_TEXT_MAX);
		call_print_add(&p, "[%s => %s]", before, after);
	} else if (n > 0 && strcmp(to, after) != 0)
		snprintf(to + n - 1, CALL_VALUE_TEXT_MAX - n + 1, " => %s", after + 1);
}

struct call_value call_value_copied(const struct call_type *type, const struct call_copies *copies,
				    uint64_t count, uint64_t address,
				    char to[static CALL_VALUE_TEXT_MAX])
{
	struct call_value v = { .name = "", .form = CALL_VALUE_POINTER, .u64 = address };
	char after[CALL_VALUE_TEXT_MAX];
	bool is_out = type->out && !type->in_out;
	size_t n;

	if (address == 0)
		return v;
	if (call_type_is_message(type))
		n = call_messages_format(type, copies, count, to, CALL_VALUE_TEXT_MAX);
	else if (call_type_is_list(type))
		n = call_list_format(type, is_out ? copies->out : copies->in, count,
				     is_out ? copies->total : UINT64_MAX, address, to,
				     CALL_VALUE_TEXT_MAX);
	else
		n = call_value_show(type, is_out || !copies->in ? copies->out : copies->in, count,
				    to);
	if (n == 0)
		return v;
	if (!is_out && copies->in && type->in_out && !call_type_is_list(type) &&
	    call_value_show(type, copies->out, count, after) > 0)
		call_value_change(type, to, after);
	v.form = CALL_VALUE_TEXT;
	v.text = to;
	return v;
}
