/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/places/place-arguments.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/function-clone.h"
#include "reader/places/place-arguments-parts.h"
#include "reader/places/place-functions.h"
#include "reader/places/place-types.h"
#include "reader/places/places-parts.h"

void place_arguments_deinit(struct place_arguments *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->list[i].words);
	free(a->result.words);
	for (size_t i = 0; i < a->n_members; i++)
		free(a->members[i].words);
	*a = (struct place_arguments){ 0 };
}

void place_argument_of_leaf(struct place_leaf *leaf, struct place_argument *to)
{
	*to = (struct place_argument){
		.kind = leaf->kind, .bytes = leaf->bytes, .shift = leaf->bit, .width = leaf->width
	};
	memcpy(to->name, leaf->name, sizeof(to->name));
	to->words = TAKE_PTR(leaf->words);
	/* (long double has ten bytes, in a format that is not supported) */
	if (!strchr("iuchbfpeS", leaf->kind) || leaf->bytes == 0 ||
	    (leaf->kind == 'f' && leaf->bytes > PLACE_WORD) ||
	    (leaf->kind != 'f' && leaf->bytes != 1 && leaf->bytes != 2 && leaf->bytes != 4 &&
	     leaf->bytes != PLACE_WORD))
		to->reason = PLACE_REASON_NOT_WHOLE;
}

struct place_argument *place_arguments_add(struct place_arguments *a, struct place_leaf *leaf)
{
	struct place_argument *to;

	if (a->n == PLACE_ARGUMENTS_MAX) {
		a->cut = true;
		return NULL;
	}
	to = &a->list[a->n++];
	place_argument_of_leaf(leaf, to);
	return to;
}

/* ---- functions ---- */

/*
 * True if the compiler has changed the arguments of FUNCTION at VADDR, since it knows all callers.
 * LLVM notes this in the debug information, gcc in the name of the symbol. *RET_RESULT = true if it
 * can have removed the result, too.
 */
static bool arguments_are_changed(struct places *p, Dwarf_Die *function, uint64_t vaddr,
				  bool *ret_result)
{
	struct place_functions f;
	uint64_t value;
	bool changed;

	*ret_result = true;
	if (place_type_number(function, DW_AT_calling_convention, &value) && value == DW_CC_nocall)
		return true;
	*ret_result = false;
	if (place_functions_around(p, vaddr, &f) < 0)
		return false;
	function_clone_changes(f.list[0].symbol, &changed, ret_result);
	place_functions_deinit(&f);
	return changed;
}

/*
 * Returns true if FUNCTION is written in assembly: debug information of assembly has no types.
 */
static bool arguments_are_of_assembly(Dwarf_Die *function)
{
	Dwarf_Die unit;

	return dwarf_diecu(function, &unit, NULL, NULL) &&
	       dwarf_srclang(&unit) == DW_LANG_Mips_Assembler;
}

int place_arguments_at_entry(struct places *p, uint64_t vaddr, struct place_arguments *ret)
{
	struct place_arguments a = { .n = 0 };
	struct place_convention c;
	Dwarf_Die function, die, type;
	struct place_context context = { .places = p, .function = &function, .vaddr = vaddr };
	Dwarf_Addr entry;
	size_t parts = 0;
	bool no_result;

	if (!places_function(p, vaddr, &function) || !places_entry(p, &function, &entry) ||
	    entry != vaddr || arguments_are_of_assembly(&function))
		return -ENODATA;
	a.is_changed = arguments_are_changed(p, &function, vaddr, &no_result);
	c = place_convention_of(&function);
	place_convention_result(&function, &c, &a);
	if (no_result && a.result.kind && !a.result.reason)
		a.result.reason = PLACE_REASON_OPTIMISED;
	if (dwarf_child(&function, &die) == 0)
		do {
			if (dwarf_tag(&die) == DW_TAG_formal_parameter &&
			    place_type_of_any(&die, &type))
				place_convention_argument(&c, &context, &die, &type, &a);
		} while (++parts < PLACE_PARTS_MAX && places_next(&die));
	*ret = a;
	return 0;
}

/* ---- addresses ---- */

/* Adds the variable V as an argument, if it is a single value that one load reads. Returns 0 or
 * -ENOMEM. */
static int arguments_add_variable(struct place_arguments *a, const struct place_variable *v)
{
	struct place_leaf leaf = { .kind = 'u', .bytes = PLACE_WORD };
	struct place_argument *to;
	const char *shape = v->shape;

	if (snprintf(leaf.name, sizeof(leaf.name), "%s", v->name) >= (int)sizeof(leaf.name))
		return 0;
	if (v->reason) {
		to = place_arguments_add(a, &leaf);
		if (to)
			to->reason = v->reason;
		return 0;
	}
	if (!strchr("iuchbfpe", *shape) && *shape != '(')
		return 0;
	leaf.kind = *shape == '(' ? 'u' : *shape;
	leaf.bytes = (uint8_t)v->loads[0].bytes;
	if (strcmp(shape, "p8c1") == 0 || strcmp(shape, "p8h1") == 0)
		leaf.kind = 'S';
	if (*shape == 'e')
		leaf.words = place_leaves_words(shape);
	to = place_arguments_add(a, &leaf);
	free(leaf.words);
	if (!to)
		return 0;
	to->load = v->loads[0];
	if (*shape == '(' || v->n_loads != 1 || to->load.n_steps > 0 ||
	    to->load.base != PLACE_REGISTER)
		to->reason = PLACE_REASON_COMPLEX;
	return 0;
}

int place_arguments_at(struct places *p, uint64_t vaddr, struct place_arguments *ret)
{
	static const char *const items[] = { "args", "locals" };
	struct place_query query = { .vaddr = vaddr, .items = items, .n_items = 2 };
	struct place_arguments a = { .n = 0 };
	struct place_locals locals;
	char why[PLACES_WHY_MAX];
	int r = place_locals_find(p, &query, &locals, why, sizeof(why));

	if (r < 0)
		return r == -ENOMEM ? r : -ENODATA;
	for (size_t i = 0; r == 0 && i < locals.n; i++)
		r = arguments_add_variable(&a, &locals.list[i]);
	place_locals_deinit(&locals);
	if (r < 0)
		place_arguments_deinit(&a);
	else
		*ret = a;
	return r;
}
