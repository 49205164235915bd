/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The registers of a value that is passed or returned, by the System V ABI for x86-64, section
 * 3.2.3. It is classified by its type, word by word. Classes that the C++ ABI passes by their
 * address are not considered here (place-passing.h).
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

enum place_class {
	PLACE_CLASS_NONE, /* padding only, so no register */
	PLACE_CLASS_GENERAL,
	PLACE_CLASS_VECTOR,
	PLACE_CLASS_VECTOR_UP, /* next word in the register of the previous word */
	PLACE_CLASS_X87,       /* in memory, if it is an argument */
	PLACE_CLASS_X87_UP,
	PLACE_CLASS_MEMORY,
};

struct place_classes {
	uint64_t bytes;
	uint64_t alignment; /* alignment on the stack */
	/* Classes of the first two words. MEMORY: the whole value is in memory. */
	enum place_class words[2];
	bool is_unknown; /* a class is only declared in its unit, so the result is a guess */
};

/* Classifies TYPE. An unspecified type is that of nullptr. */
void place_type_classify(Dwarf_Die *type, struct place_classes *ret);
