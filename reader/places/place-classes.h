/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kinds of registers in which a value is passed or returned, by the System V ABI for x86-64,
 * section 3.2.3. A value is classified by its type, word by word. Whether the C++ ABI passes a
 * structure by its address is in place-passing.h.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

enum place_class {
	PLACE_CLASS_NONE, /* padding only, so no register */
	PLACE_CLASS_GENERAL,
	PLACE_CLASS_VECTOR,
	PLACE_CLASS_VECTOR_UP, /* upper part of the register of the word before */
	PLACE_CLASS_X87,       /* in memory, if it is an argument */
	PLACE_CLASS_X87_UP,
	PLACE_CLASS_MEMORY,
};

struct place_classes {
	uint64_t bytes;
	uint64_t alignment; /* alignment on the stack */
	/* Classes of the first two words. words[0] MEMORY = the whole value is in memory. */
	enum place_class words[2];
	bool is_unknown; /* a class is only declared in its unit: a guess */
};

/* Classifies TYPE. An unspecified type counts as that of nullptr. */
void place_type_classify(Dwarf_Die *type, struct place_classes *ret);
