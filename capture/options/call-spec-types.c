/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/call-spec-parts.h"

#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/calls/call-sets.h"
#include "model/calls/call-structs.h"

bool call_spec_has_count(const struct call_spec_reader *r, const struct call_type *type)
{
	return type->form == CALL_BUF || (type->form == CALL_STRUCT && *r->p == '[');
}

int call_spec_count(struct call_spec_reader *r, struct call_type *type, size_t arg)
{
	uint64_t count;
	size_t n;
	int error;

	type->is_array =
		type->form == CALL_STRUCT && !call_struct_by_number(type->layout)->is_sized;
	if (!call_spec_accept(r, "["))
		return call_spec_fail(r, r->p, "the length is missing: buf[16] or buf[ARGUMENT]");
	n = call_spec_word(r);
	if (n > 0 && !isdigit((unsigned char)*r->p)) {
		r->counts[arg] = r->p;
		r->count_bytes[arg] = n;
		r->p += n;
	} else {
		const char *begin = r->p;

		error = call_spec_number(r, &count);
		if (error < 0)
			return error;
		if (count == 0 || count > CALL_BUF_MAX)
			return call_spec_fail(r, begin, "a buffer can have 1 to %d bytes",
					      CALL_BUF_MAX);
		type->count = (uint32_t)count;
	}
	return call_spec_accept(r, "]") ? 0 : call_spec_fail(r, r->p, "']' is missing");
}

/*
 * Parses "flags:open": a number whose values have the names of a set. The word before the ':' has N
 * bytes.
 */
static int spec_set(struct call_spec_reader *r, size_t n, struct call_type *ret)
{
	const struct call_set *set;
	unsigned number;

	n++;
	while (call_spec_is_word(r->p[n]))
		n++;
	number = call_set_find(r->p, n);
	set = call_set_by_number(number);
	if (!set)
		return call_spec_fail(r, r->p, "unknown set of names '%.*s'",
				      (int)(n < 40 ? n : 40), r->p);
	*ret = (struct call_type){ .form = set->kind == CALL_SET_ENUM ? CALL_INT
					   : set->kind == CALL_SET_ID ? CALL_UINT
								      : CALL_HEX,
				   .bits = set->bits,
				   .set = (uint16_t)number };
	r->p += n;
	return 0;
}

/*
 * Parses "struct:stat": memory that is shown member by member. The word before the ':' has N bytes.
 */
static int spec_struct(struct call_spec_reader *r, size_t n, struct call_type *ret)
{
	unsigned number;

	n++;
	while (call_spec_is_word(r->p[n]))
		n++;
	number = call_struct_find(r->p, n);
	if (number == CALL_STRUCT_NONE)
		return call_spec_fail(r, r->p, "unknown structure '%.*s'", (int)(n < 40 ? n : 40),
				      r->p);
	*ret = (struct call_type){ .form = CALL_STRUCT, .bits = 64, .layout = (uint16_t)number };
	r->p += n;
	return 0;
}

/* Parses "enum{RED=0,GREEN=1}": names of values for this argument only. */
static int spec_words(struct call_spec_reader *r, struct call_type *ret)
{
	char *to = r->spec->words + r->n_words;
	const char *begin = r->p;
	size_t n = strcspn(begin, "}");

	if (begin[n] != '}')
		return call_spec_fail(r, begin, "'}' is missing");
	if (n + 1 > CALL_WORDS_MAX - r->n_words)
		return call_spec_fail(r, begin,
				      "the names of values have more than %d bytes in total",
				      CALL_WORDS_MAX - 1);
	for (const char *p = begin; p < begin + n;) {
		size_t name = 0;

		while (call_spec_is_word(p[name]) || p[name] == ':')
			name++;
		if (name == 0 || p[name] != '=')
			return call_spec_fail(r, p, "NAME=NUMBER is expected");
		p += name + 1;
		name = strspn(p, "-");
		name += strspn(p + name, "0123456789");
		if (name == 0 || name > 20 || !strchr(",}", p[name]))
			return call_spec_fail(r, p, "a decimal number is expected");
		p += name + (p[name] == ',');
	}
	memcpy(to, begin, n);
	to[n] = '\0';
	*ret = (struct call_type){ .form = CALL_INT, .bits = 32 };
	ret->words = (uint16_t)(r->n_words + 1);
	r->n_words += n + 1;
	r->p += n + 1;
	return 0;
}

/*
 * Returns true if the next word, of N bytes, begins a list of values, as in "enum8{...}". *RET_BITS
 * is then the width of the values.
 */
static bool spec_is_enum(struct call_spec_reader *r, size_t n, uint8_t *ret_bits)
{
	static const struct {
		const char *name;
		uint8_t bits;
	} widths[] = { { "enum", 32 }, { "enum8", 8 }, { "enum16", 16 }, { "enum64", 64 } };

	for (size_t i = 0; r->p[n] == '{' && i < ARRAY_SIZE(widths); i++)
		if (call_spec_same(widths[i].name, r->p, n)) {
			*ret_bits = widths[i].bits;
			return true;
		}
	return false;
}

int call_spec_type(struct call_spec_reader *r, struct call_type *ret)
{
	size_t n = call_spec_word(r);
	uint8_t bits;
	int error;

	if (spec_is_enum(r, n, &bits)) {
		r->p += n + 1;
		error = spec_words(r, ret);
		ret->bits = bits;
		return error;
	}
	if (r->p[n] == ':' && (call_spec_same("flags", r->p, n) || call_spec_same("enum", r->p, n)))
		return spec_set(r, n, ret);
	if (r->p[n] == ':' && call_spec_same("struct", r->p, n))
		return spec_struct(r, n, ret);
	if (call_type_find(r->p, n, ret)) {
		if (ret->form == CALL_STRUCT)
			return call_spec_fail(r, r->p,
					      "the name of the structure is missing: struct:stat");
		r->p += n;
		return 0;
	}
	if (n == 0)
		return call_spec_fail(r, r->p, "a type is missing");
	return call_spec_fail(r, r->p,
			      "unknown type '%.*s'; the types are int, uint, hex, bool, fd, ptr, "
			      "str, buf[N], errno, int8 to uint64, flags:SET, enum:SET and "
			      "struct:NAME",
			      (int)(n < 40 ? n : 40), r->p);
}
