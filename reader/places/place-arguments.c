/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/places/place-arguments.h"

#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/function-clone.h"
#include "reader/places/place-classes.h"
#include "reader/places/place-expression.h"
#include "reader/places/place-functions.h"
#include "reader/places/place-passing.h"
#include "reader/places/place-types.h"
#include "reader/places/places-parts.h"

enum {
	ARGUMENT_DEPTH_MAX = 4,
	WORD = 8,
	REGISTER_SP = 7,
	REGISTERS_OF_ARGUMENTS = 6,
	REGISTERS_OF_VECTORS = 8,
	PARTS_MAX = 1024,
	LANGUAGE_RUST_OLD = 0x9000, /* before it had a number */
};

/* DWARF's numbers of rdi, rsi, rdx, rcx, r8, r9. */
static const uint8_t argument_registers[REGISTERS_OF_ARGUMENTS] = { 5, 4, 1, 2, 8, 9 };

void place_arguments_deinit(struct place_arguments *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->list[i].words);
	free(a->result.words);
	*a = (struct place_arguments){ 0 };
}

/* ---- the values in a type ---- */

/* A number, a pointer, or an unavailable value, AT bytes from the beginning of a variable. */
struct leaf {
	char name[PLACE_ARGUMENT_NAME_MAX];
	uint64_t at;
	char kind;
	uint8_t bytes;
	uint8_t bit, width; /* of a bit field, from `at` on; width 0 = it is none */
	bool is_half;       /* of a number of two words */
	char *words;        /* owned */
};

struct leaves {
	struct leaf list[PLACE_ARGUMENTS_MAX];
	size_t n;
	bool cut;
	size_t n_visited; /* members examined; structures without members can make this large */
};

static void arguments_leaves_deinit(struct leaves *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->list[i].words);
}

/* The text between the braces of SHAPE. */
static char *arguments_leaves_words(const char *shape)
{
	const char *open = strchr(shape, '{'), *close = strrchr(shape, '}');

	return open && close > open ? strndup(open + 1, (size_t)(close - open - 1)) : NULL;
}

/* The last one is a number of two words, which are its values. */
static void arguments_leaves_split(struct leaves *l)
{
	struct leaf *low = &l->list[l->n - 1], *high = low + 1;
	char name[PLACE_ARGUMENT_NAME_MAX];

	low->is_half = true;
	if (l->n == PLACE_ARGUMENTS_MAX ||
	    strlen(low->name) + sizeof(".high") > PLACE_ARGUMENT_NAME_MAX)
		return;
	memcpy(name, low->name, sizeof(name));
	*high = (struct leaf){
		.at = low->at + WORD, .kind = low->kind, .bytes = WORD, .is_half = true
	};
	*low = (struct leaf){ .at = low->at, .kind = 'u', .bytes = WORD, .is_half = true };
	snprintf(high->name, sizeof(high->name), "%.*s.high", (int)sizeof(name) - 7, name);
	snprintf(low->name, sizeof(low->name), "%.*s.low", (int)sizeof(name) - 7, name);
	l->n++;
}

/* Returns NULL if there are too many. */
static struct leaf *arguments_leaves_add(struct leaves *l, Dwarf_Die *type, const char *name,
					 uint64_t at)
{
	uint64_t bytes = place_type_bytes(type);
	struct outbuf shape = { 0 };
	struct leaf *leaf;

	if (l->n == PLACE_ARGUMENTS_MAX) {
		l->cut = true;
		return NULL;
	}
	leaf = &l->list[l->n++];
	*leaf = (struct leaf){ .at = at,
			       .kind = 'x',
			       .bytes = bytes <= 2 * WORD ? (uint8_t)bytes : 0 };
	snprintf(leaf->name, sizeof(leaf->name), "%s", name);
	if (place_type_shape(type, &shape) == 0 && outbuf_append(&shape, "", 1) == 0) {
		const char *text = (const char *)shape.data;

		leaf->kind = *text;
		if (*text == 'p') {
			leaf->bytes = WORD;
			if (strcmp(text, "p8c1") == 0 || strcmp(text, "p8h1") == 0)
				leaf->kind = 'S';
		}
		if (*text == 'e')
			leaf->words = arguments_leaves_words(text);
	}
	outbuf_deinit(&shape);
	return leaf;
}

static bool arguments_leaves_is_structure(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

static void arguments_leaves_collect(struct leaves *l, Dwarf_Die *type, const char *name,
				     uint64_t at, unsigned depth);

/*
 * Adds a bit field of TYPE. It is in a part of the memory that has the size of TYPE, but at most a
 * word, and such an address. If it is in two of them, it counts as no number: in a packed
 * structure, or with a type of two words.
 */
static void arguments_leaves_bits(struct leaves *l, Dwarf_Die *type, const char *name, uint64_t bit,
				  uint64_t bits)
{
	uint64_t bytes = place_type_bytes(type), room = 8 * (bytes < WORD ? bytes : WORD);
	struct leaf *leaf;

	if (room == 0)
		return;
	leaf = arguments_leaves_add(l, type, name, bit / room * (room / 8));
	if (!leaf)
		return;
	leaf->bytes = (uint8_t)(room / 8);
	/* (the sum of a file's numbers can overflow) */
	if (bits > room || bit % room > room - bits) {
		leaf->kind = 'x';
		return;
	}
	leaf->bit = (uint8_t)(bit % room);
	leaf->width = (uint8_t)bits;
}

static void arguments_leaves_member(struct leaves *l, Dwarf_Die *member, const char *name,
				    uint64_t at, unsigned depth)
{
	const char *its = dwarf_tag(member) == DW_TAG_inheritance ? NULL : place_die_name(member);
	char whole[PLACE_ARGUMENT_NAME_MAX];
	uint64_t bit, bits;
	Dwarf_Die type;

	if (!place_type_of(member, &type) ||
	    (!place_type_member(member, place_type_bytes(&type), &bit, &bits) && bits == 0))
		return;
	if (snprintf(whole, sizeof(whole), "%s%s%s", name, its && *name ? "." : "", its ?: "") >=
	    (int)sizeof(whole))
		return;
	if (bits)
		arguments_leaves_bits(l, &type, whole, at * 8 + bit, bits);
	else
		arguments_leaves_collect(l, &type, whole, at + bit / 8, depth + 1);
}

/* Collects the values in TYPE, except for arrays and unions. */
static void arguments_leaves_collect(struct leaves *l, Dwarf_Die *type, const char *name,
				     uint64_t at, unsigned depth)
{
	Dwarf_Die member;

	if (!arguments_leaves_is_structure(type)) {
		const struct leaf *leaf = arguments_leaves_add(l, type, name, at);

		if (leaf && strchr("iu", leaf->kind) && leaf->bytes == 2 * WORD)
			arguments_leaves_split(l);
		return;
	}
	if (depth == ARGUMENT_DEPTH_MAX || dwarf_child(type, &member) != 0)
		return;
	do {
		int tag = dwarf_tag(&member);

		if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
		    !dwarf_hasattr(&member, DW_AT_declaration) &&
		    !dwarf_hasattr(&member, DW_AT_external))
			arguments_leaves_member(l, &member, name, at, depth);
	} while (!l->cut && ++l->n_visited < PARTS_MAX && places_next(&member));
}

/* ---- calling convention ---- */

struct convention {
	unsigned registers; /* used */
	unsigned vectors;
	uint64_t stack; /* bytes used, from the return address on */
	bool is_rust;
	bool is_unknown; /* from here on, arguments are only where the compiler says */
};

/*
 * Whether Rust passes a value of TYPE, with the leaves L, as the convention of C does. Its own
 * convention for other types is not fixed: they are in registers, or behind an address. The debug
 * information does not say which convention a function has: one for C can have a mangled name, and
 * one for Rust none. So only values that both pass in the same way are certain.
 */
static bool arguments_rust_is_certain(Dwarf_Die *type, const struct leaves *l)
{
	uint64_t bytes = place_type_bytes(type);
	int tag = dwarf_tag(type);

	if (bytes == 0 || (tag != DW_TAG_array_type && tag != DW_TAG_union_type &&
			   !arguments_leaves_is_structure(type)))
		return true;
	for (size_t i = 0; i < l->n; i++)
		if (!strchr("iuchbfpeS", l->list[i].kind) || l->list[i].is_half)
			return false;
	return (l->n == 1 && l->list[0].bytes == bytes) ||
	       (l->n == 2 && l->list[0].bytes == WORD && l->list[1].bytes == WORD &&
		bytes == 2 * WORD);
}

/*
 * Whether Rust passes the words of a value with CLASSES in different places, as two arguments: the
 * first in the last free register, and the second on the stack. In C, both are on the stack then.
 */
static bool arguments_rust_splits(const struct convention *c, const struct place_classes *classes)
{
	unsigned registers = c->registers, vectors = c->vectors;

	if (classes->words[0] >= PLACE_CLASS_X87)
		return false;
	for (size_t i = 0; i < 2; i++) {
		registers += classes->words[i] == PLACE_CLASS_GENERAL;
		vectors += classes->words[i] == PLACE_CLASS_VECTOR;
	}
	return (registers > REGISTERS_OF_ARGUMENTS || vectors > REGISTERS_OF_VECTORS) &&
	       ((registers > c->registers && c->registers < REGISTERS_OF_ARGUMENTS) ||
		(vectors > c->vectors && c->vectors < REGISTERS_OF_VECTORS));
}

/*
 * Whether PARAMETER, with CLASSES, is passed by its address in the next register. A function for C
 * has a copy on the stack instead, so the compiler must say that it is at this address.
 */
static bool arguments_rust_is_by_address(const struct convention *c,
					 const struct place_context *context, Dwarf_Die *parameter,
					 const struct place_classes *classes)
{
	struct place_location location;
	const struct place_load *load = &location.loads[0];

	return classes->bytes > 2 * WORD && c->registers < REGISTERS_OF_ARGUMENTS &&
	       place_expression_locate(context, parameter, classes->bytes, &location) ==
		       PLACE_REASON_NONE &&
	       !*location.formula && location.n_loads == 1 && location.n_gaps == 0 &&
	       load->base == PLACE_REGISTER && load->reg == argument_registers[c->registers] &&
	       !load->is_value && load->offset == 0 && load->n_steps == 0;
}

/* Whether FUNCTION is in a unit of Rust. */
static bool arguments_are_rust(Dwarf_Die *function)
{
	Dwarf_Die unit;
	int language;

	if (!dwarf_diecu(function, &unit, NULL, NULL))
		return false;
	language = dwarf_srclang(&unit);
	return language == DW_LANG_Rust || language == LANGUAGE_RUST_OLD;
}

static struct place_argument *arguments_add(struct place_arguments *a, struct leaf *leaf)
{
	struct place_argument *to;

	if (a->n == PLACE_ARGUMENTS_MAX) {
		a->cut = true;
		return NULL;
	}
	to = &a->list[a->n++];
	*to = (struct place_argument){
		.kind = leaf->kind, .bytes = leaf->bytes, .shift = leaf->bit, .width = leaf->width
	};
	memcpy(to->name, leaf->name, sizeof(to->name));
	to->words = TAKE_PTR(leaf->words);
	/* (long double has ten bytes of its own format) */
	if (!strchr("iuchbfpeS", leaf->kind) || leaf->bytes == 0 ||
	    (leaf->kind == 'f' && leaf->bytes > WORD) ||
	    (leaf->kind != 'f' && leaf->bytes != 1 && leaf->bytes != 2 && leaf->bytes != 4 &&
	     leaf->bytes != WORD))
		to->reason = PLACE_REASON_NOT_WHOLE;
	return to;
}

static struct place_load arguments_register(unsigned i, uint8_t bytes)
{
	return (struct place_load){ .base = PLACE_REGISTER,
				    .reg = argument_registers[i],
				    .is_value = true,
				    .bytes = bytes };
}

static struct place_load arguments_stack(uint64_t at, uint8_t bytes)
{
	return (struct place_load){
		.base = PLACE_REGISTER, .reg = REGISTER_SP, .offset = (int64_t)at, .bytes = bytes
	};
}

/* Assigns places to the leaves of one argument with CLASSES. */
static void arguments_convention_place(struct convention *c, const struct place_classes *classes,
				       struct leaves *l, struct place_arguments *a)
{
	bool in_memory = classes->words[0] >= PLACE_CLASS_X87;
	unsigned need = 0, vectors = 0, at_word[2] = { 0 };

	for (size_t i = 0; !in_memory && i < 2; i++) {
		at_word[i] = c->registers + need;
		need += classes->words[i] == PLACE_CLASS_GENERAL;
		vectors += classes->words[i] == PLACE_CLASS_VECTOR;
	}
	if (need + vectors > 0 && (c->registers + need > REGISTERS_OF_ARGUMENTS ||
				   c->vectors + vectors > REGISTERS_OF_VECTORS))
		in_memory = true;
	if (in_memory)
		c->stack = (c->stack + classes->alignment - 1) / classes->alignment *
			   classes->alignment;
	for (size_t i = 0; i < l->n; i++) {
		struct leaf *leaf = &l->list[i];
		uint64_t word = leaf->at / WORD;
		struct place_argument *to = arguments_add(a, leaf);

		if (!to || to->reason)
			continue;
		if (in_memory) {
			to->load = arguments_stack(WORD + c->stack + leaf->at, to->bytes);
		} else if (word < 2 && classes->words[word] == PLACE_CLASS_GENERAL) {
			to->load = arguments_register(at_word[word], to->bytes);
			to->shift += (uint8_t)(leaf->at % WORD * 8);
		} else {
			to->reason = PLACE_REASON_VECTOR;
		}
	}
	if (in_memory) {
		c->stack += (classes->bytes + WORD - 1) / WORD * WORD;
	} else {
		c->registers += need;
		c->vectors += vectors;
	}
}

/* The part of LOCATION that contains byte AT of a variable; NULL = none. *RET_AT is its
 * beginning. */
static const struct place_load *arguments_part(const struct place_location *location, uint64_t at,
					       uint64_t *ret_at)
{
	uint64_t begin = 0;
	size_t gap = 0;

	for (size_t i = 0; i < location->n_loads; i++) {
		while (gap < location->n_gaps && location->gaps[gap].at == begin)
			begin += location->gaps[gap++].n;
		if (at >= begin && at - begin < location->loads[i].bytes) {
			*ret_at = begin;
			return &location->loads[i];
		}
		begin += location->loads[i].bytes;
	}
	return NULL;
}

/* The compiler's location for an argument. */
struct correction {
	struct place_location location;
	bool is_changed;  /* the function's arguments were changed by the compiler */
	bool frame_moves; /* the function's frame begins at the stack pointer */
};

/*
 * LLVM describes the memory of a function without a frame pointer by the stack pointer that it has
 * after its first instructions.
 */
static bool arguments_frame_moves(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t n;

	return dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) &&
	       dwarf_getlocation(&attribute, &ops, &n) == 0 && n == 1 &&
	       (ops[0].atom == DW_OP_reg0 + REGISTER_SP ||
		ops[0].atom == DW_OP_breg0 + REGISTER_SP);
}

/*
 * The compiler's location for LEAF of an argument overrides the calling convention, which the
 * compiler can ignore if it knows all callers. Locations in memory are ignored, except for
 * arguments on the stack: the function has not stored the value there yet.
 */
static void arguments_correct(const struct correction *c, const struct leaf *leaf,
			      struct place_argument *to)
{
	uint64_t begin, at = leaf->at;
	const struct place_load *part = arguments_part(&c->location, at, &begin);

	if (*c->location.formula || !part) {
		if (c->is_changed)
			to->reason = part ? PLACE_REASON_COMPLEX : PLACE_REASON_OPTIMISED;
		return;
	}
	if (part->n_steps > 0)
		return;
	if (part->is_value && to->bytes <= part->bytes) {
		to->load = *part;
		to->load.bytes = to->bytes;
		to->shift = (uint8_t)((at - begin) * 8 + leaf->bit);
		to->reason = PLACE_REASON_NONE;
	} else if (!part->is_value && c->frame_moves) {
		if (c->is_changed)
			to->reason = PLACE_REASON_COMPLEX;
	} else if (!part->is_value && part->base == PLACE_REGISTER && part->reg == REGISTER_SP &&
		   part->offset >= WORD) {
		to->load = arguments_stack((uint64_t)part->offset + at - begin, to->bytes);
		to->shift = leaf->bit;
		to->reason = PLACE_REASON_NONE;
	}
}

/*
 * Corrects the values of A from FIRST on, which are those of PARAMETER with the leaves L. UNKNOWN:
 * they are not where the convention says.
 */
static void arguments_correct_all(const struct place_context *context, Dwarf_Die *parameter,
				  const struct leaves *l, size_t first, bool unknown,
				  struct place_arguments *a)
{
	struct correction c = { .is_changed = a->is_changed,
				.frame_moves = arguments_frame_moves(context->function) };
	Dwarf_Die type;
	enum place_reason reason;

	for (size_t i = first; unknown && i < a->n; i++)
		if (a->list[i].reason != PLACE_REASON_NOT_WHOLE)
			a->list[i].reason = PLACE_REASON_COMPLEX;
	if (!place_type_of(parameter, &type))
		return;
	reason = place_expression_locate(context, parameter, place_type_bytes(&type), &c.location);
	/*
	 * Structures keep the places of the convention: a part can be in a vector register, and
	 * compilers describe the places of members late or in other ways.
	 */
	if (reason &&
	    (reason == PLACE_REASON_VECTOR || (arguments_leaves_is_structure(&type) &&
					       dwarf_hasattr_integrate(parameter, DW_AT_location))))
		return;
	for (size_t i = first; i < a->n; i++) {
		const struct leaf *leaf = &l->list[i - first];

		/*
		 * (gcc describes the halves of a number of 128 bits where they are after its first
		 * instructions, also at the entry)
		 */
		if (a->list[i].reason == PLACE_REASON_NOT_WHOLE ||
		    (leaf->is_half && !a->is_changed))
			continue;
		if (reason || leaf->is_half)
			a->list[i].reason = reason ?: PLACE_REASON_COMPLEX;
		else
			arguments_correct(&c, leaf, &a->list[i]);
	}
}

/*
 * Places a structure with leaves L that is passed by its address: its values are in memory there.
 * If the address is on the stack, the values would need two steps, so the address is the value.
 */
static void arguments_convention_place_by_address(struct convention *c, struct leaves *l,
						  const char *name, struct place_arguments *a)
{
	const struct place_classes classes = { WORD, WORD, { PLACE_CLASS_GENERAL }, false };
	struct leaf leaf = { .kind = 'p', .bytes = WORD };
	struct leaves address = { .n = 1 };
	uint8_t reg;

	if (c->registers == REGISTERS_OF_ARGUMENTS || l->n == 0) {
		snprintf(leaf.name, sizeof(leaf.name), "%s", name);
		address.list[0] = leaf;
		arguments_convention_place(c, &classes, &address, a);
		return;
	}
	reg = argument_registers[c->registers++];
	for (size_t i = 0; i < l->n; i++) {
		struct place_argument *to = arguments_add(a, &l->list[i]);

		if (to && !to->reason)
			to->load = (struct place_load){ .base = PLACE_REGISTER,
							.reg = reg,
							.offset = (int64_t)l->list[i].at,
							.bytes = to->bytes };
	}
}

static void arguments_convention_argument(struct convention *c, const struct place_context *context,
					  Dwarf_Die *parameter, Dwarf_Die *type,
					  struct place_arguments *a)
{
	const char *name = place_die_name(parameter) ?: "unnamed";
	struct leaves l = { .n = 0 };
	struct place_classes classes;
	size_t first = a->n;

	arguments_leaves_collect(&l, type, name, 0, 0);
	place_type_classify(type, &classes);
	if (c->is_rust && !c->is_unknown
		    ? arguments_rust_is_by_address(c, context, parameter, &classes)
		    : arguments_leaves_is_structure(type) && place_type_is_by_address(type)) {
		arguments_convention_place_by_address(c, &l, name, a);
		arguments_leaves_deinit(&l);
		return;
	}
	c->is_unknown |= classes.is_unknown;
	c->is_unknown |= c->is_rust && (!arguments_rust_is_certain(type, &l) ||
					arguments_rust_splits(c, &classes));
	arguments_convention_place(c, &classes, &l, a);
	arguments_correct_all(context, parameter, &l, first, c->is_unknown, a);
	arguments_leaves_deinit(&l);
}

/* ---- functions ---- */

/* Whether LEAF, the only value of a result with CLASSES, is the number in its general register. */
static bool arguments_result_is_number(const struct place_classes *classes, const struct leaf *leaf)
{
	return classes->words[0] == PLACE_CLASS_GENERAL && classes->words[1] == PLACE_CLASS_NONE &&
	       leaf->at == 0 && leaf->width == 0 && strchr("iuchbpeSU", leaf->kind) &&
	       (leaf->bytes == 1 || leaf->bytes == 2 || leaf->bytes == 4 || leaf->bytes == WORD);
}

/*
 * A result in memory is represented by its address, which the function returns. Of other
 * structures, only those with a single number are a result.
 */
static void arguments_result(Dwarf_Die *function, struct convention *c, struct place_arguments *ret)
{
	struct place_argument *result = &ret->result;
	struct place_classes classes;
	struct leaves l = { .n = 0 };
	Dwarf_Die type;

	if (!place_type_of(function, &type))
		return;
	place_type_classify(&type, &classes);
	c->is_unknown = classes.is_unknown;
	if (classes.words[0] == PLACE_CLASS_MEMORY ||
	    (arguments_leaves_is_structure(&type) && place_type_is_by_address(&type))) {
		c->registers++; /* for the address */
		/* (Rust returns a small packed structure, which is in memory in C, in registers) */
		c->is_unknown |= c->is_rust && classes.bytes <= 2 * WORD;
		*result = (struct place_argument){ .kind = 'p', .bytes = WORD };
		return;
	}
	arguments_leaves_collect(&l, &type, "", 0, 0);
	/* (Rust returns a value of up to a word in a register, and a large one in memory) */
	c->is_unknown |=
		c->is_rust && classes.bytes > WORD && !arguments_rust_is_certain(&type, &l);
	if (l.n == 0)
		return;
	if (l.n == 1 && arguments_result_is_number(&classes, &l.list[0])) {
		/* (of a union, these are all bits) */
		result->kind = l.list[0].kind == 'U' ? 'u' : l.list[0].kind;
		result->bytes = l.list[0].bytes;
		result->words = TAKE_PTR(l.list[0].words);
	} else if (l.n == 1 && l.list[0].kind == 'f') {
		result->kind = 'f';
		result->bytes = l.list[0].bytes;
		result->reason = PLACE_REASON_VECTOR;
	} else {
		result->kind = 'u';
		result->bytes = WORD;
		result->reason = PLACE_REASON_NOT_WHOLE;
	}
	arguments_leaves_deinit(&l);
}

/*
 * Whether the compiler has changed the arguments of FUNCTION at VADDR, since it knows all callers.
 * LLVM says so in the debug information, gcc in the name.
 */
static bool arguments_are_changed(struct places *p, Dwarf_Die *function, uint64_t vaddr)
{
	struct place_functions f;
	uint64_t value;
	bool changed;

	if (place_type_number(function, DW_AT_calling_convention, &value) && value == DW_CC_nocall)
		return true;
	if (place_functions_around(p, vaddr, &f) < 0)
		return false;
	changed = function_clone_is_changed(f.list[0].symbol);
	place_functions_deinit(&f);
	return changed;
}

int place_arguments_at_entry(struct places *p, uint64_t vaddr, struct place_arguments *ret)
{
	struct place_arguments a = { .n = 0 };
	struct convention c = { 0 };
	Dwarf_Die function, die, type;
	struct place_context context = { .places = p, .function = &function, .vaddr = vaddr };
	Dwarf_Addr entry;
	size_t parts = 0;

	if (!places_function(p, vaddr, &function) || !places_entry(p, &function, &entry) ||
	    entry != vaddr)
		return -ENODATA;
	a.is_changed = arguments_are_changed(p, &function, vaddr);
	c.is_rust = arguments_are_rust(&function);
	arguments_result(&function, &c, &a);
	if (dwarf_child(&function, &die) == 0)
		do {
			if (dwarf_tag(&die) == DW_TAG_formal_parameter &&
			    place_type_of_any(&die, &type))
				arguments_convention_argument(&c, &context, &die, &type, &a);
		} while (++parts < PARTS_MAX && places_next(&die));
	*ret = a;
	return 0;
}

/* ---- addresses ---- */

/* Takes V as an argument, if it is one value that one load provides. */
static int arguments_add_variable(struct place_arguments *a, const struct place_variable *v)
{
	struct leaf leaf = { .kind = 'u', .bytes = WORD };
	struct place_argument *to;
	const char *shape = v->shape;

	if (snprintf(leaf.name, sizeof(leaf.name), "%s", v->name) >= (int)sizeof(leaf.name))
		return 0;
	if (v->reason) {
		to = arguments_add(a, &leaf);
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
		leaf.words = arguments_leaves_words(shape);
	to = arguments_add(a, &leaf);
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
