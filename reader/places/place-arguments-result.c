/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "reader/places/place-arguments-parts.h"
#include "reader/places/place-classes.h"
#include "reader/places/place-passing.h"
#include "reader/places/place-types.h"
#include "reader/places/places-parts.h"

/* ---- structures ---- */

/*
 * Returns true if TYPE, with CLASSES, is a structure that is returned in registers, at least a part
 * of it in general registers.
 */
static bool result_is_in_registers(Dwarf_Die *type, const struct place_classes *classes)
{
	bool is_general = false;

	if (!place_leaves_is_structure(type) || classes->bytes > 2 * PLACE_WORD)
		return false;
	for (size_t i = 0; i < 2; i++) {
		if (classes->words[i] > PLACE_CLASS_VECTOR)
			return false;
		is_general |= classes->words[i] == PLACE_CLASS_GENERAL;
	}
	return is_general;
}

/*
 * Sets the place of the member TO, which is at LEAF: the offset of its first byte in both general
 * registers, as if they were consecutive. (The first general word of a structure is in the first
 * general register, even if the word before it is in a vector register.)
 */
static void result_place_in_registers(const struct place_leaf *leaf,
				      const struct place_classes *classes,
				      struct place_argument *to)
{
	uint64_t word = leaf->at / PLACE_WORD;

	if (classes->words[word] == PLACE_CLASS_VECTOR)
		to->reason = PLACE_REASON_VECTOR;
	else if (classes->words[word] != PLACE_CLASS_GENERAL)
		to->reason = PLACE_REASON_NOT_WHOLE;
	else if (word == 1 && classes->words[0] != PLACE_CLASS_GENERAL)
		to->load.offset -= PLACE_WORD;
}

/*
 * Adds the members of a result of TYPE. The result is in registers by CLASSES; CLASSES NULL = it is
 * in memory, and the address is returned. Returns false if there are no members.
 */
static bool result_add_members(Dwarf_Die *type, const struct place_classes *classes,
			       struct place_arguments *ret)
{
	struct place_leaves l = { .n = 0 };

	if (!place_leaves_is_structure(type))
		return false;
	place_leaves_collect(&l, type, "", 0, 0);
	for (size_t i = 0; i < l.n && i < PLACE_ARGUMENTS_MAX; i++) {
		struct place_argument *to = &ret->members[ret->n_members++];

		place_argument_of_leaf(&l.list[i], to);
		to->load.offset = (int64_t)l.list[i].at;
		if (classes && !to->reason)
			result_place_in_registers(&l.list[i], classes, to);
	}
	ret->members_are_cut = l.cut || l.has_left_out;
	place_leaves_deinit(&l);
	if (ret->n_members > 0)
		ret->result =
			(struct place_argument){ .kind = classes ? 'R' : 'M', .bytes = PLACE_WORD };
	return ret->n_members > 0;
}

/* ---- slices ---- */

/*
 * Returns true if a type called NAME is a slice: an address, and the number of elements there. In
 * other structures with an address and a number, the number can mean anything.
 */
static bool result_is_name_of_slice(const char *name)
{
	static const char *const begins[] = {
		"basic_string_view<",
		"string_view",
		"span<", /* C++ */
		"&str",
		"&mut str",
		"&[",
		"&mut [", /* Rust */
	};

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

/* Returns the number of bytes of an element of TYPE, a slice; 0 = unknown. */
static uint64_t result_slice_unit(Dwarf_Die *type)
{
	Dwarf_Die member, pointer, element;
	size_t parts = 0;

	if (dwarf_child(type, &member) != 0)
		return 0;
	do {
		if (place_type_is_member(&member) && place_type_of(&member, &pointer) &&
		    dwarf_tag(&pointer) == DW_TAG_pointer_type)
			return place_type_of(&pointer, &element) ? place_type_bytes(&element) : 0;
	} while (++parts < PLACE_PARTS_MAX && places_next(&member));
	return 0;
}

/* If TYPE, with the leaves L, is a slice in two registers, sets the result and returns true. */
static bool result_is_slice(Dwarf_Die *type, const struct place_leaves *l,
			    struct place_arguments *ret)
{
	const char *name = place_die_name(type);
	bool address_first = l->n == 2 && strchr("pS", l->list[0].kind);
	const struct place_leaf *address = &l->list[!address_first], *number;
	uint64_t unit;

	if (!name || l->n != 2 || !result_is_name_of_slice(name))
		return false;
	number = &l->list[address_first];
	unit = result_slice_unit(type);
	if (!strchr("pS", address->kind) || number->kind != 'u' || number->bytes != PLACE_WORD ||
	    number->width || unit == 0 || unit > UINT16_MAX)
		return false;
	ret->result =
		(struct place_argument){ .kind = address_first ? 'L' : 'V', .bytes = PLACE_WORD };
	ret->result_unit = (uint32_t)unit;
	return true;
}

/* ---- all ---- */

/*
 * Returns true if it is unknown where a result of TYPE with CLASSES is: it is larger than the
 * vector registers of processors without AVX, so on these it is in memory, and on others in a
 * vector register. The debug information does not say for which processors the code is. (LLVM uses
 * two registers for a vector, but not for a structure.)
 */
static bool result_is_ambiguous(const struct place_convention *c, Dwarf_Die *type,
				const struct place_classes *classes)
{
	return classes->words[0] == PLACE_CLASS_VECTOR && classes->bytes > 2 * PLACE_WORD &&
	       (!c->is_llvm || place_leaves_is_structure(type));
}

/*
 * Returns true if a result with CLASSES, whose only value is LEAF, is one number in a general
 * register.
 */
static bool result_is_number(const struct place_classes *classes, const struct place_leaf *leaf)
{
	return classes->words[0] == PLACE_CLASS_GENERAL && classes->words[1] == PLACE_CLASS_NONE &&
	       leaf->at == 0 && leaf->width == 0 && strchr("iuchbpeSU", leaf->kind) &&
	       (leaf->bytes == 1 || leaf->bytes == 2 || leaf->bytes == 4 ||
		leaf->bytes == PLACE_WORD);
}

void place_convention_result(Dwarf_Die *function, struct place_convention *c,
			     struct place_arguments *ret)
{
	struct place_argument *result = &ret->result;
	struct place_classes classes;
	struct place_leaves l = { .n = 0 };
	Dwarf_Die type;

	if (!place_type_of(function, &type))
		return;
	place_type_classify(&type, &classes);
	c->is_unknown |= classes.is_unknown || result_is_ambiguous(c, &type, &classes);
	if (c->is_foreign &&
	    (place_leaves_is_structure(&type) || dwarf_tag(&type) == DW_TAG_array_type)) {
		*result = (struct place_argument){ .kind = 'u',
						   .bytes = PLACE_WORD,
						   .reason = PLACE_REASON_NOT_WHOLE };
		return;
	}
	if (classes.words[0] == PLACE_CLASS_MEMORY ||
	    (place_leaves_is_structure(&type) && place_type_is_by_address(&type))) {
		c->registers++; /* the register for the address */
		/* (a small packed structure is in memory in C, but Rust returns it in registers) */
		c->is_unknown |= c->is_rust && classes.bytes <= 2 * PLACE_WORD;
		*result = (struct place_argument){ .kind = 'p', .bytes = PLACE_WORD };
		if (!c->is_unknown)
			result_add_members(&type, NULL, ret);
		return;
	}
	place_leaves_collect(&l, &type, "", 0, 0);
	/* (Rust returns a value of up to a word in a register; for larger values, the convention is
	 * not fixed) */
	c->is_unknown |= c->is_rust && classes.bytes > PLACE_WORD &&
			 !place_convention_rust_is_certain(&type, &l);
	if (l.n == 0 && classes.words[0] == PLACE_CLASS_NONE)
		return;
	/* (structures that are too deep, and Rust's enumerations with data, have no leaves here) */
	if (l.n == 1 && result_is_number(&classes, &l.list[0])) {
		/* (a union has one leaf: a number with all its bits) */
		result->kind = l.list[0].kind == 'U' ? 'u' : l.list[0].kind;
		result->bytes = l.list[0].bytes;
		result->words = TAKE_PTR(l.list[0].words);
	} else if (l.n == 1 && l.list[0].kind == 'f' && l.list[0].bytes <= PLACE_WORD) {
		result->kind = 'f';
		result->bytes = l.list[0].bytes;
		result->reason = PLACE_REASON_VECTOR;
	} else if (!c->is_unknown && l.n == 2 && l.list[0].is_half &&
		   !place_leaves_is_structure(&type)) {
		result->kind = l.list[1].kind;
		result->bytes = 2 * PLACE_WORD;
	} else if (c->is_unknown || !result_is_in_registers(&type, &classes) ||
		   (c->is_rust && !place_convention_rust_is_certain(&type, &l)) ||
		   (!result_is_slice(&type, &l, ret) &&
		    !result_add_members(&type, &classes, ret))) {
		result->kind = 'u';
		result->bytes = PLACE_WORD;
		result->reason = classes.bytes > PLACE_WORD               ? PLACE_REASON_WIDE
				 : classes.words[0] == PLACE_CLASS_VECTOR ? PLACE_REASON_VECTOR
									  : PLACE_REASON_NOT_WHOLE;
	}
	place_leaves_deinit(&l);
}
