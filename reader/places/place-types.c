/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/places/place-types.h"

#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "reader/places/places-parts.h"

enum {
	TYPE_DEPTH_MAX = 12,
	TYPE_PARTS_MAX = 2048, /* maximum number of members or enumerators of a type */
	TYPE_BYTES_MAX = 1 << 30,
};

/* ---- attributes ---- */

const char *place_die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_name, &attribute) ? dwarf_formstring(&attribute)
								 : NULL;
}

bool place_type_number(Dwarf_Die *die, unsigned name, uint64_t *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_whatform(&attribute) == 0 ||
	    dwarf_formudata(&attribute, &value) != 0)
		return false;
	*ret = value;
	return true;
}

/* Sets *RET to the type of DIE (DW_AT_type). Returns false if DIE has none. */
static bool place_type_next(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, ret);
}

bool place_type_of_any(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Die type;

	if (!place_type_next(die, &type))
		return false;
	for (unsigned depth = 0; depth < TYPE_DEPTH_MAX; depth++) {
		switch (dwarf_tag(&type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			if (!place_type_next(&type, &type))
				return false;
			break;
		default:
			*ret = type;
			return true;
		}
	}
	return false;
}

bool place_type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	return place_type_of_any(die, ret) && dwarf_tag(ret) != DW_TAG_unspecified_type;
}

static bool place_type_is_pointer(int tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

uint64_t place_type_bytes(Dwarf_Die *type)
{
	Dwarf_Word bytes;

	if (dwarf_aggregate_size(type, &bytes) != 0 || bytes > TYPE_BYTES_MAX)
		return 0;
	return bytes;
}

/* ---- shapes ---- */

/* Appends the shape of TYPE to TO; if FLAT, only its letter and size, without members. Returns 0 or
 * a negative errno. */
static int place_shape_put(Dwarf_Die *type, struct outbuf *to, unsigned depth, bool flat);

/* Appends the shape of the type of DIE to TO, like place_shape_put(). */
static int place_shape_put_of(Dwarf_Die *die, struct outbuf *to, unsigned depth, bool flat)
{
	Dwarf_Die type;

	if (!place_type_of(die, &type))
		return outbuf_print(to, "x0");
	return place_shape_put(&type, to, depth + 1, flat);
}

static int place_shape_base(Dwarf_Die *type, struct outbuf *to, uint64_t bytes)
{
	uint64_t encoding = 0;
	char letter;

	place_type_number(type, DW_AT_encoding, &encoding);
	switch (encoding) {
	case DW_ATE_signed:
		letter = 'i';
		break;
	case DW_ATE_unsigned:
		letter = 'u';
		break;
	case DW_ATE_signed_char:
	case DW_ATE_UTF:
		letter = 'c';
		break;
	case DW_ATE_unsigned_char:
		letter = 'h';
		break;
	case DW_ATE_boolean:
		letter = 'b';
		break;
	case DW_ATE_float:
		letter = 'f';
		break;
	case DW_ATE_complex_float:
		letter = 'z';
		break;
	default:
		letter = 'x';
		break;
	}
	return outbuf_print(to, "%c%" PRIu64, letter, bytes);
}

/* Extends the sign of VALUE, which is a value of an enumeration type of BYTES bytes, since clang
 * writes such values as unsigned. */
static int64_t place_shape_sign(int64_t value, uint64_t bytes)
{
	unsigned above = bytes > 0 && bytes < sizeof(value) ? 64 - 8 * (unsigned)bytes : 0;

	return (int64_t)((uint64_t)value << above) >> above;
}

static int place_shape_enum(Dwarf_Die *type, struct outbuf *to, uint64_t bytes)
{
	size_t n = 0;
	Dwarf_Die word;

	outbuf_print(to, "e%" PRIu64 "{", bytes);
	if (dwarf_child(type, &word) == 0)
		do {
			const char *name = place_die_name(&word);
			Dwarf_Attribute attribute;
			Dwarf_Sword value;

			if (dwarf_tag(&word) != DW_TAG_enumerator || !name ||
			    !dwarf_attr(&word, DW_AT_const_value, &attribute) ||
			    dwarf_formsdata(&attribute, &value) != 0)
				continue;
			outbuf_print(to, "%s=%" PRId64 ",", name, place_shape_sign(value, bytes));
		} while (++n < TYPE_PARTS_MAX && places_next(&word));
	return outbuf_print(to, "}");
}

bool place_type_member(Dwarf_Die *member, uint64_t bytes, uint64_t *ret_bit, uint64_t *ret_bits)
{
	uint64_t at = 0, value;

	*ret_bits = 0;
	if (dwarf_hasattr_integrate(member, DW_AT_data_member_location) &&
	    !place_type_number(member, DW_AT_data_member_location, &at))
		return false;
	*ret_bit = at * 8;
	if (!place_type_number(member, DW_AT_bit_size, ret_bits))
		return at <= TYPE_BYTES_MAX;
	if (place_type_number(member, DW_AT_data_bit_offset, &value))
		*ret_bit += value;
	else if (place_type_number(member, DW_AT_bit_offset, &value))
		/* DW_AT_bit_offset counts from the most significant bit */
		*ret_bit += bytes * 8 - value - *ret_bits;
	return *ret_bits <= 64 && *ret_bit / 8 <= TYPE_BYTES_MAX;
}

static int place_shape_member(Dwarf_Die *member, struct outbuf *to, unsigned depth)
{
	bool is_base = dwarf_tag(member) == DW_TAG_inheritance;
	const char *name = place_die_name(member);
	uint64_t bit, bits;
	Dwarf_Die type;

	if (!place_type_of(member, &type) ||
	    !place_type_member(member, place_type_bytes(&type), &bit, &bits))
		return 0;
	if (is_base)
		name = place_die_name(&type);
	if (name && strpbrk(name, "@{"))
		name = NULL;
	outbuf_print(to, is_base ? "<%s>@%" PRIu64 : "%s@%" PRIu64, name ?: "", bit / 8);
	if (bits)
		outbuf_print(to, ":%" PRIu64 "+%" PRIu64, bit % 8, bits);
	place_shape_put(&type, to, depth + 1, false);
	return outbuf_print(to, ",");
}

bool place_type_is_member(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return (tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
	       !dwarf_hasattr(die, DW_AT_declaration) && !dwarf_hasattr(die, DW_AT_external);
}

static int place_shape_struct(Dwarf_Die *type, struct outbuf *to, uint64_t bytes, unsigned depth)
{
	size_t n = 0;
	Dwarf_Die member;

	outbuf_print(to, "%c%" PRIu64 "{", dwarf_tag(type) == DW_TAG_union_type ? 'U' : 's', bytes);
	if (dwarf_child(type, &member) == 0)
		do {
			if (place_type_is_member(&member))
				place_shape_member(&member, to, depth);
		} while (++n < TYPE_PARTS_MAX && places_next(&member));
	return outbuf_print(to, "}");
}

/* Appends the shape of an array. An array of arrays has several ranges in one type. */
static int place_shape_array(Dwarf_Die *type, struct outbuf *to, uint64_t bytes, unsigned depth)
{
	Dwarf_Die range;
	uint64_t n;

	if (dwarf_child(type, &range) == 0)
		do {
			if (dwarf_tag(&range) != DW_TAG_subrange_type)
				continue;
			outbuf_print(to, "a%" PRIu64, bytes);
			if (place_type_number(&range, DW_AT_upper_bound, &n) && n < UINT32_MAX)
				n++;
			else if (!place_type_number(&range, DW_AT_count, &n))
				n = 0;
			bytes = n ? bytes / n : 0;
		} while (++depth < TYPE_DEPTH_MAX && places_next(&range));
	return place_shape_put_of(type, to, depth, false);
}

static int place_shape_put(Dwarf_Die *type, struct outbuf *to, unsigned depth, bool flat)
{
	uint64_t bytes = place_type_bytes(type);
	int tag = dwarf_tag(type);

	if (to->error || depth >= TYPE_DEPTH_MAX)
		return outbuf_print(to, "x%" PRIu64, bytes);
	if (place_type_is_pointer(tag)) {
		outbuf_print(to, "p%" PRIu64, bytes ?: 8);
		return flat ? outbuf_print(to, "x0") : place_shape_put_of(type, to, depth, true);
	}
	if (tag == DW_TAG_base_type)
		return place_shape_base(type, to, bytes);
	if (flat)
		return outbuf_print(to, "x%" PRIu64, bytes);
	switch (tag) {
	case DW_TAG_enumeration_type:
		return place_shape_enum(type, to, bytes);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return place_shape_struct(type, to, bytes, depth);
	case DW_TAG_array_type:
		return place_shape_array(type, to, bytes, depth);
	case DW_TAG_ptr_to_member_type:
	default:
		return outbuf_print(to, "x%" PRIu64, bytes);
	}
}

int place_type_shape(Dwarf_Die *type, struct outbuf *to)
{
	struct outbuf shape = { .limit = PLACE_SHAPE_MAX - 1 };
	int r = place_shape_put(type, &shape, 0, false)
			?: outbuf_append(to, shape.data, shape.size);

	outbuf_deinit(&shape);
	return r;
}

/* ---- names ---- */

static void place_name_add(char *to, const char *text)
{
	size_t n = strlen(to);

	snprintf(to + n, PLACE_TYPE_NAME_MAX - n, "%s", text);
}

static const char *place_name_keyword(int tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
		return "struct ";
	case DW_TAG_class_type:
		return "class ";
	case DW_TAG_union_type:
		return "union ";
	case DW_TAG_enumeration_type:
		return "enum ";
	default:
		return "";
	}
}

static void place_name_put(Dwarf_Die *die, char *to, unsigned depth)
{
	const char *name = place_die_name(die);
	int tag = dwarf_tag(die);
	Dwarf_Die next;
	bool has_next = place_type_next(die, &next);

	if (depth == TYPE_DEPTH_MAX)
		return;
	if (tag == DW_TAG_const_type)
		place_name_add(to, "const ");
	if (tag == DW_TAG_volatile_type)
		place_name_add(to, "volatile ");
	if (tag == DW_TAG_subroutine_type) {
		place_name_add(to, "function ");
		return;
	}
	if (name) {
		place_name_add(to, place_name_keyword(tag));
		place_name_add(to, name);
		return;
	}
	if (has_next)
		place_name_put(&next, to, depth + 1);
	else
		place_name_add(to, *place_name_keyword(tag) ? place_name_keyword(tag) : "void");
	if (tag == DW_TAG_pointer_type)
		place_name_add(to, to[strlen(to) - 1] == '*' ? "*" : " *");
	if (tag == DW_TAG_reference_type)
		place_name_add(to, " &");
	if (tag == DW_TAG_rvalue_reference_type)
		place_name_add(to, " &&");
	if (tag == DW_TAG_array_type)
		place_name_add(to, " []");
}

void place_type_name(Dwarf_Die *die, char to[static PLACE_TYPE_NAME_MAX])
{
	Dwarf_Die type;

	*to = '\0';
	if (place_type_next(die, &type))
		place_name_put(&type, to, 0);
	else
		place_name_add(to, "void");
}
