/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/calls/call-results.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/calls/call-errors.h"
#include "model/calls/call-print.h"

__extension__ typedef unsigned __int128 result_wide;

enum { WIDE_DIGITS_MAX = 40 };

static struct call_value result_text(const char *text)
{
	return (struct call_value){ .name = "", .form = CALL_VALUE_TEXT, .text = text };
}

static void result_print_address(struct call_print *p, uint64_t address)
{
	if (address)
		call_print_add(p, "0x%" PRIx64, address);
	else
		call_print_add(p, "NULL");
}

static void result_print_value(struct call_print *p, const struct call_value *v)
{
	switch (v->form) {
	case CALL_VALUE_INT:
		call_print_add(p, "%" PRId64, v->i64);
		break;
	case CALL_VALUE_UINT:
		call_print_add(p, "%" PRIu64, v->u64);
		break;
	case CALL_VALUE_BOOL:
		call_print_add(p, "%s", v->yes ? "true" : "false");
		break;
	case CALL_VALUE_TEXT:
		call_print_add(p, "%s", v->text);
		break;
	default:
		result_print_address(p, v->u64);
		break;
	}
}

/* ---- numbers ---- */

/*
 * Shows a result of one register. Readers assume that a call has failed if its result is the name
 * of an errno. If the name of a value of an enumeration looks like such a name, the number follows,
 * so that readers do not assume a failure.
 */
static struct call_value result_number(const struct call_spec *spec, uint64_t number, char *to)
{
	struct call_value v = call_value_of_spec(spec, &spec->ret, number, to);
	size_t n;

	if (!spec->ret.words || v.form != CALL_VALUE_TEXT || !call_is_error(v.text))
		return v;
	n = strlen(to);
	snprintf(to + n, CALL_VALUE_TEXT_MAX - n, "=%" PRId64,
		 (int64_t)call_type_value(&spec->ret, number));
	return v;
}

static struct call_value result_wide_number(const struct call_result *r, bool is_signed, char *to)
{
	struct call_print p = call_print_begin(to, CALL_VALUE_TEXT_MAX);
	result_wide value = (result_wide)r->high << 64 | r->low;
	bool is_negative = is_signed && r->high >> 63;
	char digits[WIDE_DIGITS_MAX];
	size_t at = sizeof(digits) - 1;

	if (is_negative)
		value = -value;
	digits[at] = '\0';
	do {
		digits[--at] = (char)('0' + (int)(value % 10));
		value /= 10;
	} while (value > 0);
	call_print_add(&p, "%s%s", is_negative ? "-" : "", &digits[at]);
	return result_text(to);
}

/* ---- members ---- */

/* Returns the value of member M, which is in the bytes at FROM. */
static uint64_t result_member_bits(const struct call_result_member *m, const char *from)
{
	uint64_t value = 0;
	unsigned rest = m->width ? 64U - m->width : 0;

	memcpy(&value, from + m->at, m->type.bits / 8);
	value >>= m->shift;
	if (rest == 0)
		return value;
	value <<= rest;
	return call_type_is_signed(&m->type) ? (uint64_t)((int64_t)value >> rest) : value >> rest;
}

/* Shows the members of SPEC's result that are in the N bytes at FROM. */
static struct call_value result_members(const struct call_spec *spec, const char *from, size_t n,
					char *to)
{
	struct call_print p = call_print_begin(to, CALL_VALUE_TEXT_MAX);
	bool is_cut = spec->members_are_cut;
	char text[CALL_SET_TEXT_MAX];

	call_print_add(&p, "{");
	for (size_t i = 0; i < spec->n_members; i++) {
		const struct call_result_member *m = &spec->members[i];
		struct call_value v;

		if (m->reason) {
			v = call_value_missing((enum call_reason)m->reason, text);
		} else if (m->at + m->type.bits / 8U > n) {
			is_cut = true;
			continue;
		} else {
			v = call_value_of_spec(spec, &m->type, result_member_bits(m, from), text);
		}
		call_print_add(&p, "%s%s=", p.used > 1 ? ", " : "", m->name);
		result_print_value(&p, &v);
	}
	call_print_add(&p, "%s}", !is_cut ? "" : p.used > 1 ? ", ..." : "...");
	return result_text(to);
}

/* ---- memory ---- */

/* Shows a slice of N elements at ADDRESS. N alone determines its length. */
static struct call_value result_slice(const struct call_type *type, const struct call_text *memory,
				      uint64_t address, uint64_t n, char *to)
{
	struct call_print p = call_print_begin(to, CALL_VALUE_TEXT_MAX);

	if (n > 0 && (!memory || memory->bytes < 0)) {
		call_print_add(&p, "{");
		result_print_address(&p, address);
		call_print_add(&p, ", %" PRIu64 "}", n);
	} else if (type->in_hex && n > 0) {
		call_print_bytes(&p, memory->text, (size_t)memory->bytes, memory->cut);
	} else {
		call_print_quoted(&p, n > 0 ? memory->text : "", n > 0 ? (size_t)memory->bytes : 0,
				  n > 0 && memory->cut);
	}
	return result_text(to);
}

static struct call_value result_memory(const struct call_spec *spec, const struct call_result *r,
				       char *to)
{
	const struct call_copies copies = { .in = r->memory };

	if (spec->ret.form == CALL_POINTED && r->low && r->memory && r->memory->bytes >= 0)
		return result_members(spec, r->memory->text, (size_t)r->memory->bytes, to);
	return call_value_copied(&spec->ret, &copies, UINT64_MAX, r->low, to);
}

struct call_value call_result_value(const struct call_spec *spec, const struct call_result *r,
				    char to[static CALL_VALUE_TEXT_MAX])
{
	const struct call_type *type = &spec->ret;
	const uint64_t words[2] = { r->low, r->high };

	if (spec->ret_reason || type->form == CALL_FLOAT)
		return call_value_missing(spec->ret_reason ?: CALL_REASON_VECTOR, to);
	switch (type->form) {
	case CALL_STR:
	case CALL_BUF:
	case CALL_STRUCT:
	case CALL_POINTED:
		return result_memory(spec, r, to);
	case CALL_SLICE:
		return result_slice(type, r->memory, r->low, r->high, to);
	case CALL_VIEW:
		return result_slice(type, r->memory, r->high, r->low, to);
	case CALL_INT128:
	case CALL_UINT128:
		return result_wide_number(r, type->form == CALL_INT128, to);
	case CALL_MEMBERS:
		return result_members(spec, (const char *)words, sizeof(words), to);
	default:
		return result_number(spec, r->low, to);
	}
}
