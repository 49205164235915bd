/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/places/place-classes.h"

#include <dwarf.h>
#include <string.h>

#include "reader/places/place-types.h"
#include "reader/places/places-parts.h"

enum {
	WORD = 8,
	WORDS_MAX = 8, /* words of the largest vector; other values have two at most */
	CLASSES_DEPTH_MAX = 16,
	CLASSES_VISITED_MAX = 4096, /* members and elements examined, at all depths */
};

struct classes {
	enum place_class words[WORDS_MAX];
	uint64_t alignment;
	unsigned n_visited;
	bool in_memory;
	bool is_unknown;
};

/* ---- one value ---- */

static enum place_class classes_merge(enum place_class a, enum place_class b)
{
	if (a == b || b == PLACE_CLASS_NONE)
		return a;
	if (a == PLACE_CLASS_NONE)
		return b;
	if (a == PLACE_CLASS_MEMORY || b == PLACE_CLASS_MEMORY)
		return PLACE_CLASS_MEMORY;
	if (a == PLACE_CLASS_GENERAL || b == PLACE_CLASS_GENERAL)
		return PLACE_CLASS_GENERAL;
	if (a >= PLACE_CLASS_X87 || b >= PLACE_CLASS_X87)
		return PLACE_CLASS_MEMORY;
	return PLACE_CLASS_VECTOR;
}

/*
 * Adds N bits from bit BIT on. The first of their words has the class FIRST, all others REST.
 */
static void classes_put_bits(struct classes *c, uint64_t bit, uint64_t n, enum place_class first,
			     enum place_class rest)
{
	const uint64_t bits_max = (uint64_t)8 * WORD * WORDS_MAX;
	uint64_t from = bit / 8 / WORD;

	/* (written so that numbers from the file cannot overflow in a sum) */
	if (n > bits_max || bit > bits_max - n) {
		c->in_memory = true;
		return;
	}
	for (uint64_t i = from; i < (bit + n + 8 * WORD - 1) / 8 / WORD; i++)
		c->words[i] = classes_merge(c->words[i], i == from ? first : rest);
}

static void classes_align(struct classes *c, uint64_t alignment)
{
	if (alignment > c->alignment)
		c->alignment = alignment;
}

/* Adds a value of BYTES at AT. If it is not aligned to ALIGNMENT, the whole value is passed in
 * memory. */
static void classes_put(struct classes *c, uint64_t at, uint64_t bytes, uint64_t alignment,
			enum place_class first, enum place_class rest)
{
	if (bytes == 0)
		return;
	if ((alignment & (alignment - 1)) == 0) {
		classes_align(c, alignment);
		c->in_memory |= at % alignment != 0;
	}
	classes_put_bits(c, 8 * at, 8 * bytes, first, rest);
}

/*
 * Adds a floating-point number of BYTES. If it is larger than a word, it is a long double in the
 * x87, or, if the NAME of its type has "128" or Fortran's "kind=16", a number of 128 bits in a
 * vector register.
 */
static void classes_put_float(struct classes *c, const char *name, uint64_t at, uint64_t bytes)
{
	if (bytes > WORD && !(name && (strstr(name, "128") || strstr(name, "kind=16"))))
		classes_put(c, at, bytes, bytes, PLACE_CLASS_X87, PLACE_CLASS_X87_UP);
	else
		classes_put(c, at, bytes, bytes, PLACE_CLASS_VECTOR, PLACE_CLASS_VECTOR_UP);
}

static void classes_put_base(struct classes *c, Dwarf_Die *type, uint64_t at, uint64_t bytes)
{
	const char *name = place_die_name(type);
	uint64_t encoding = 0;

	place_type_number(type, DW_AT_encoding, &encoding);
	switch (encoding) {
	case DW_ATE_float:
	case DW_ATE_decimal_float:
		classes_put_float(c, name, at, bytes);
		break;
	case DW_ATE_complex_float:
		classes_put_float(c, name, at, bytes / 2);
		classes_put_float(c, name, at + bytes / 2, bytes / 2);
		break;
	default:
		classes_put(c, at, bytes, bytes, PLACE_CLASS_GENERAL, PLACE_CLASS_GENERAL);
		break;
	}
}

/* ---- types ---- */

static void classes_add(struct classes *c, Dwarf_Die *type, uint64_t at, unsigned depth);

static bool classes_are_structure(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/*
 * Returns true if TYPE is a class that is only declared in this unit: clang describes a class only
 * in the unit of its constructor, even if other units pass values of the class.
 */
static bool classes_are_declared(Dwarf_Die *type)
{
	return classes_are_structure(type) && dwarf_hasattr(type, DW_AT_declaration);
}

static void classes_add_array(struct classes *c, Dwarf_Die *type, uint64_t at, uint64_t bytes,
			      unsigned depth)
{
	uint64_t element;
	Dwarf_Die target;

	if (dwarf_hasattr(type, DW_AT_GNU_vector)) {
		/* (a vector that is smaller than a word is passed like a number) */
		if (bytes < WORD) {
			classes_put(c, at, bytes, bytes, PLACE_CLASS_GENERAL, PLACE_CLASS_GENERAL);
			return;
		}
		classes_put(c, at, bytes, bytes, PLACE_CLASS_VECTOR, PLACE_CLASS_VECTOR_UP);
		return;
	}
	if (!place_type_of(type, &target))
		return;
	element = place_type_bytes(&target);
	if (element == 0) {
		c->is_unknown |= classes_are_declared(&target);
		return;
	}
	/* (further elements need not be classified behind the largest vector: their alignment is
	 * the same) */
	for (uint64_t i = 0; i < bytes / element && (i == 0 || i * element < WORDS_MAX * WORD); i++)
		classes_add(c, &target, at + i * element, depth + 1);
}

static void classes_add_member(struct classes *c, Dwarf_Die *member, uint64_t at, unsigned depth)
{
	uint64_t bit, bits, alignment;
	Dwarf_Die type;

	if (!place_type_of(member, &type))
		return;
	if (!place_type_member(member, place_type_bytes(&type), &bit, &bits) && bits == 0) {
		c->in_memory = true;
		return;
	}
	if (place_type_number(member, DW_AT_alignment, &alignment))
		classes_align(c, alignment);
	if (bits == 0) {
		classes_add(c, &type, at + bit / 8, depth + 1);
		return;
	}
	classes_align(c, place_type_bytes(&type));
	classes_put_bits(c, 8 * at + bit, bits, PLACE_CLASS_GENERAL, PLACE_CLASS_GENERAL);
}

static void classes_add_members(struct classes *c, Dwarf_Die *type, uint64_t at, unsigned depth)
{
	uint64_t alignment;
	Dwarf_Die member;

	if (place_type_number(type, DW_AT_alignment, &alignment))
		classes_align(c, alignment);
	if (dwarf_child(type, &member) != 0)
		return;
	do {
		if (place_type_is_member(&member))
			classes_add_member(c, &member, at, depth);
		/* (the variants of a Rust enumeration with data; Rust passes it in general
		 * registers) */
		if (dwarf_tag(&member) == DW_TAG_variant_part)
			classes_put(c, at, place_type_bytes(type), 1, PLACE_CLASS_GENERAL,
				    PLACE_CLASS_GENERAL);
	} while (++c->n_visited < CLASSES_VISITED_MAX && places_next(&member));
}

/* Returns the size of a pointer to a member, which the debug information of gcc does not
 * contain. */
static uint64_t classes_bytes_of_member_pointer(Dwarf_Die *type)
{
	Dwarf_Die target;

	return place_type_of(type, &target) && dwarf_tag(&target) == DW_TAG_subroutine_type
		       ? 2 * WORD
		       : WORD;
}

/* Adds the value of TYPE at AT. */
static void classes_add(struct classes *c, Dwarf_Die *type, uint64_t at, unsigned depth)
{
	uint64_t bytes = place_type_bytes(type);

	if (depth == CLASSES_DEPTH_MAX || ++c->n_visited > CLASSES_VISITED_MAX) {
		c->in_memory = true;
		return;
	}
	switch (dwarf_tag(type)) {
	case DW_TAG_base_type:
		classes_put_base(c, type, at, bytes);
		break;
	case DW_TAG_array_type:
		classes_add_array(c, type, at, bytes, depth);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		c->is_unknown |= classes_are_declared(type);
		classes_add_members(c, type, at, depth);
		break;
	case DW_TAG_ptr_to_member_type:
		classes_put(c, at, bytes ?: classes_bytes_of_member_pointer(type), WORD,
			    PLACE_CLASS_GENERAL, PLACE_CLASS_GENERAL);
		break;
	default:
		bytes = bytes ?: WORD;
		classes_put(c, at, bytes, bytes, PLACE_CLASS_GENERAL, PLACE_CLASS_GENERAL);
		break;
	}
}

static bool classes_are_in_memory(const struct classes *c, size_t n)
{
	if (c->in_memory)
		return true;
	for (size_t i = 0; i < n; i++) {
		if (c->words[i] == PLACE_CLASS_MEMORY ||
		    (c->words[i] == PLACE_CLASS_X87_UP &&
		     (i == 0 || c->words[i - 1] != PLACE_CLASS_X87)))
			return true;
		/* (a value of more than two words that is no vector is passed in memory) */
		if (n > 2 && c->words[i] != (i == 0 ? PLACE_CLASS_VECTOR : PLACE_CLASS_VECTOR_UP))
			return true;
	}
	return false;
}

void place_type_classify(Dwarf_Die *type, struct place_classes *ret)
{
	bool is_declared = classes_are_declared(type);
	struct classes c = { .alignment = WORD };
	uint64_t bytes = place_type_bytes(type);

	if (bytes == 0 && dwarf_tag(type) == DW_TAG_ptr_to_member_type)
		bytes = classes_bytes_of_member_pointer(type);
	/* (in C, a structure without members has no bytes, and so has Rust's unit type, a base
	 * type) */
	else if (bytes == 0 && dwarf_tag(type) != DW_TAG_base_type &&
		 (!classes_are_structure(type) || is_declared))
		bytes = WORD;
	*ret = (struct place_classes){ .bytes = bytes, .alignment = WORD };
	classes_add(&c, type, 0, 0);
	if (is_declared)
		c.words[0] = PLACE_CLASS_GENERAL;
	ret->is_unknown = c.is_unknown;
	/* (a complex long double: the only result that is in two x87 registers) */
	if (bytes == (uint64_t)4 * WORD && dwarf_tag(type) == DW_TAG_base_type &&
	    c.words[0] == PLACE_CLASS_X87) {
		*ret = (struct place_classes){
			bytes, 2 * WORD, { PLACE_CLASS_X87, PLACE_CLASS_X87_UP }, false
		};
		return;
	}
	/* (a type whose size is no multiple of this alignment is packed, so it is not aligned) */
	if (c.alignment > WORD && bytes % c.alignment == 0)
		ret->alignment = c.alignment;
	if (bytes > WORDS_MAX * WORD || classes_are_in_memory(&c, (bytes + WORD - 1) / WORD)) {
		ret->words[0] = PLACE_CLASS_MEMORY;
		return;
	}
	for (size_t i = 0; i < 2; i++)
		ret->words[i] = c.words[i] == PLACE_CLASS_VECTOR_UP &&
						(i == 0 || c.words[i - 1] != PLACE_CLASS_VECTOR)
					? PLACE_CLASS_VECTOR
					: c.words[i];
}
