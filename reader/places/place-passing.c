/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/places/place-passing.h"

#include <dwarf.h>
#include <string.h>

#include "reader/places/place-types.h"
#include "reader/places/places-parts.h"

enum {
	PASSING_DEPTH_MAX = 16,
	PASSING_VISITED_MAX = 4096, /* members examined, at all depths */
};

/*
 * Returns true if the compiler has made FUNCTION, a method: such a function copies memory, or does
 * nothing.
 */
static bool passing_is_trivial(Dwarf_Die *function)
{
	uint64_t value;

	return dwarf_hasattr(function, DW_AT_artificial) ||
	       (place_type_number(function, DW_AT_defaulted, &value) &&
		value == DW_DEFAULTED_in_class);
}

/*
 * Returns true if NAME is the name of constructors of TYPE: that of the type without template
 * arguments.
 */
static bool passing_is_constructor(Dwarf_Die *type, const char *name)
{
	const char *its = place_die_name(type);

	return its && strlen(name) == strcspn(its, "<") && strncmp(name, its, strlen(name)) == 0;
}

/* Returns true if the constructor FUNCTION has one parameter, a reference to TYPE: it copies or
 * moves. */
static bool passing_is_copy(Dwarf_Die *type, Dwarf_Die *function)
{
	unsigned n_parameters = 0, n_visited = 0;
	bool is_reference = false;
	Dwarf_Die die, target;

	if (dwarf_child(function, &die) != 0)
		return false;
	do {
		if (dwarf_tag(&die) != DW_TAG_formal_parameter ||
		    dwarf_hasattr(&die, DW_AT_artificial))
			continue;
		n_parameters++;
		if (!place_type_of(&die, &target) ||
		    (dwarf_tag(&target) != DW_TAG_reference_type &&
		     dwarf_tag(&target) != DW_TAG_rvalue_reference_type))
			continue;
		is_reference = place_type_of(&target, &target) &&
			       dwarf_dieoffset(&target) == dwarf_dieoffset(type);
	} while (++n_visited < PASSING_VISITED_MAX && places_next(&die));
	return n_parameters == 1 && is_reference;
}

/* Returns true if FUNCTION makes TYPE non-trivial: a destructor, or a constructor that copies or
 * moves, that must be called. */
static bool passing_needs(Dwarf_Die *type, Dwarf_Die *function)
{
	const char *name = place_die_name(function);

	/*
	 * A class with virtual functions is never trivial, since each copy needs a pointer to them.
	 */
	if (dwarf_hasattr(function, DW_AT_virtuality))
		return true;
	if (!name || passing_is_trivial(function))
		return false;
	return *name == '~' ||
	       (passing_is_constructor(type, name) && passing_is_copy(type, function));
}

static bool passing_classify(Dwarf_Die *type, unsigned depth, unsigned *n_visited)
{
	Dwarf_Die die, its;
	uint64_t value;
	int tag = dwarf_tag(type);

	if (tag == DW_TAG_array_type)
		return depth < PASSING_DEPTH_MAX && place_type_of(type, &its) &&
		       passing_classify(&its, depth + 1, n_visited);
	if (tag != DW_TAG_structure_type && tag != DW_TAG_class_type)
		return false;
	if (place_type_number(type, DW_AT_calling_convention, &value))
		return value == DW_CC_pass_by_reference;
	if (depth == PASSING_DEPTH_MAX || dwarf_child(type, &die) != 0)
		return false;
	do {
		tag = dwarf_tag(&die);
		if (tag == DW_TAG_subprogram) {
			if (passing_needs(type, &die))
				return true;
			continue;
		}
		if (!place_type_is_member(&die))
			continue;
		if (tag == DW_TAG_inheritance && dwarf_hasattr(&die, DW_AT_virtuality))
			return true;
		if (place_type_of(&die, &its) && passing_classify(&its, depth + 1, n_visited))
			return true;
	} while (++*n_visited < PASSING_VISITED_MAX && places_next(&die));
	return false;
}

bool place_type_is_by_address(Dwarf_Die *type)
{
	unsigned n_visited = 0;

	return passing_classify(type, 0, &n_visited);
}
