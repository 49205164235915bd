/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "reader/places/place-arguments-parts.h"
#include "reader/places/place-classes.h"
#include "reader/places/place-expression.h"
#include "reader/places/place-passing.h"
#include "reader/places/place-types.h"
#include "reader/places/places-parts.h"

enum {
	REGISTER_SP = 7,
	REGISTERS_OF_ARGUMENTS = 6,
	REGISTERS_OF_VECTORS = 8,
	LANGUAGE_RUST_OLD = 0x9000, /* Rust, before DWARF had a number for it */
	/* Values of DW_AT_calling_convention whose arguments are passed as in C; elfutils has no
	 * names for them. */
	LLVM_CC_X86_64_SYSV = 0xc2,
	LLVM_CC_PRESERVE_MOST = 0xc9,
	LLVM_CC_PRESERVE_ALL = 0xca,
};

/* The registers of arguments by DWARF's numbers: rdi, rsi, rdx, rcx, r8, r9. */
static const uint8_t argument_registers[REGISTERS_OF_ARGUMENTS] = { 5, 4, 1, 2, 8, 9 };

bool place_convention_rust_is_certain(Dwarf_Die *type, const struct place_leaves *l)
{
	uint64_t bytes = place_type_bytes(type);
	int tag = dwarf_tag(type);

	if (bytes == 0 || (tag != DW_TAG_array_type && tag != DW_TAG_union_type &&
			   !place_leaves_is_structure(type)))
		return true;
	for (size_t i = 0; i < l->n; i++)
		if (!strchr("iuchbfpeS", l->list[i].kind) || l->list[i].is_half)
			return false;
	return (l->n == 1 && l->list[0].bytes == bytes) ||
	       (l->n == 2 && l->list[0].bytes == PLACE_WORD && l->list[1].bytes == PLACE_WORD &&
		bytes == 2 * PLACE_WORD);
}

/*
 * Returns true if Rust splits a value with CLASSES into two arguments: its first word is in the
 * last free register, and its second word on the stack. (In C, both words are on the stack then.)
 */
static bool arguments_rust_splits(const struct place_convention *c,
				  const struct place_classes *classes)
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
 * Returns true if PARAMETER, with CLASSES, is passed by its address in the next register. If a Rust
 * function has the convention of C, a copy is on the stack instead. So this is only assumed if the
 * compiler's location says so.
 */
static bool arguments_rust_is_by_address(const struct place_convention *c,
					 const struct place_context *context, Dwarf_Die *parameter,
					 const struct place_classes *classes)
{
	struct place_location location;
	const struct place_load *load = &location.loads[0];

	return classes->bytes > 2 * PLACE_WORD && c->registers < REGISTERS_OF_ARGUMENTS &&
	       place_expression_locate(context, parameter, classes->bytes, &location) ==
		       PLACE_REASON_NONE &&
	       !*location.formula && location.n_loads == 1 && location.n_gaps == 0 &&
	       load->base == PLACE_REGISTER && load->reg == argument_registers[c->registers] &&
	       !load->is_value && load->offset == 0 && load->n_steps == 0;
}

/* Returns the language of the unit of FUNCTION; -1 = unknown. */
static int arguments_convention_language(Dwarf_Die *function)
{
	Dwarf_Die unit;

	return dwarf_diecu(function, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;
}

static bool arguments_language_is_fortran(int language)
{
	return language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 ||
	       language == DW_LANG_Fortran95 || language == DW_LANG_Fortran03 ||
	       language == DW_LANG_Fortran08;
}

/*
 * Returns true if FUNCTION was not compiled by gcc. Nearly all other compilers use LLVM, under
 * their own names (clang, rustc, flang, LDC, Zig, Swift).
 */
static bool arguments_convention_is_llvm(Dwarf_Die *function)
{
	Dwarf_Die unit;
	Dwarf_Attribute attribute;
	const char *producer;

	if (!dwarf_diecu(function, &unit, NULL, NULL) ||
	    !dwarf_attr(&unit, DW_AT_producer, &attribute))
		return true;
	producer = dwarf_formstring(&attribute);
	return !producer || strncmp(producer, "GNU ", 4) != 0;
}

/*
 * Returns true if FUNCTION has another convention than C's, such as that of Windows: LLVM notes
 * this in the debug information. (DW_CC_nocall does not count: it means that the arguments were
 * changed, see place-arguments.c.)
 */
static bool arguments_convention_is_other(Dwarf_Die *function)
{
	uint64_t value;

	if (!place_type_number(function, DW_AT_calling_convention, &value))
		return false;
	return value != DW_CC_normal && value != DW_CC_program && value != DW_CC_nocall &&
	       value != LLVM_CC_X86_64_SYSV && value != LLVM_CC_PRESERVE_MOST &&
	       value != LLVM_CC_PRESERVE_ALL;
}

struct place_convention place_convention_of(Dwarf_Die *function)
{
	int language = arguments_convention_language(function);

	return (struct place_convention){ .is_rust = language == DW_LANG_Rust ||
						     language == LANGUAGE_RUST_OLD,
					  .is_fortran = arguments_language_is_fortran(language),
					  .is_foreign = language == DW_LANG_Pascal83,
					  .is_llvm = arguments_convention_is_llvm(function),
					  .is_unknown = arguments_convention_is_other(function) };
}

/*
 * Returns true if a number of 128 bits of TYPE, with the leaves L, is not where the convention puts
 * it: after the arguments so far, LLVM before version 18 puts one half into the last register and
 * the other half on the stack, where it does not align it.
 */
static bool arguments_convention_splits(const struct place_convention *c, Dwarf_Die *type,
					const struct place_leaves *l)
{
	return c->is_llvm && l->n > 0 && l->list[0].is_half && !place_leaves_is_structure(type) &&
	       c->registers + 2 > REGISTERS_OF_ARGUMENTS;
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

/* Assigns the leaves of one argument, whose type has CLASSES, to registers or to the stack. */
static void arguments_convention_place(struct place_convention *c,
				       const struct place_classes *classes, struct place_leaves *l,
				       struct place_arguments *a)
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
		struct place_leaf *leaf = &l->list[i];
		uint64_t word = leaf->at / PLACE_WORD;
		struct place_argument *to = place_arguments_add(a, leaf);

		if (!to || to->reason)
			continue;
		if (in_memory) {
			to->load = arguments_stack(PLACE_WORD + c->stack + leaf->at, to->bytes);
		} else if (word < 2 && classes->words[word] == PLACE_CLASS_GENERAL) {
			to->load = arguments_register(at_word[word], to->bytes);
			to->shift += (uint8_t)(leaf->at % PLACE_WORD * 8);
		} else {
			to->reason = PLACE_REASON_VECTOR;
		}
	}
	if (in_memory) {
		c->stack += (classes->bytes + PLACE_WORD - 1) / PLACE_WORD * PLACE_WORD;
	} else {
		c->registers += need;
		c->vectors += vectors;
	}
}

/*
 * Returns the load in LOCATION that contains byte AT of a variable; NULL = none. *RET_AT is the
 * first byte of that load.
 */
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
	bool is_changed;  /* the compiler has changed the function's arguments */
	bool frame_moves; /* locations in memory use registers that change after the entry */
};

/*
 * Returns true if locations in memory are wrong at the entry. LLVM describes them by the stack or
 * frame pointer after the function's first instructions, if the function has no frame pointer, or
 * aligns the stack. gcc describes them by the address of the frame (CFA), which is known at the
 * entry, too.
 */
static bool arguments_frame_moves(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t n;

	return dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) &&
	       dwarf_getlocation(&attribute, &ops, &n) == 0 &&
	       !(n == 1 && ops[0].atom == DW_OP_call_frame_cfa);
}

/*
 * Replaces the place of LEAF, a part of an argument, by the compiler's location, since a compiler
 * that knows all callers can ignore the calling convention. Of locations in memory, only the
 * arguments on the stack are used: the function has not stored any other value yet.
 */
static void arguments_correct(const struct correction *c, const struct place_leaf *leaf,
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
		   part->offset >= PLACE_WORD) {
		to->load = arguments_stack((uint64_t)part->offset + at - begin, to->bytes);
		to->shift = leaf->bit;
		to->reason = PLACE_REASON_NONE;
	}
}

/*
 * Corrects the values of A from FIRST on, which are the leaves L of PARAMETER, by the compiler's
 * locations. UNKNOWN = the convention does not say where these values are.
 */
static void arguments_correct_all(const struct place_context *context, Dwarf_Die *parameter,
				  const struct place_leaves *l, size_t first, bool unknown,
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
	 * If the location is unavailable, a structure keeps the places of the convention: a part
	 * can be in a vector register, and compilers describe members late or in other ways.
	 */
	if (reason &&
	    (reason == PLACE_REASON_VECTOR || (place_leaves_is_structure(&type) &&
					       dwarf_hasattr_integrate(parameter, DW_AT_location))))
		return;
	for (size_t i = first; i < a->n; i++) {
		const struct place_leaf *leaf = &l->list[i - first];

		/*
		 * (for the halves of a number of 128 bits, gcc gives the places after the
		 * function's first instructions, even at its entry, so these places are not used)
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

static bool arguments_is_register(uint8_t reg)
{
	return memchr(argument_registers, reg, sizeof(argument_registers)) != NULL;
}

/*
 * Returns true if PARAMETER, of TYPE with BYTES, is passed by its address, as in Fortran: it is an
 * array, or by the compiler's location, its address is in the next register, or was stored by the
 * function. If the compiler has CHANGED the arguments, the address can be in any register of
 * arguments; *REG is then that register.
 */
static bool arguments_convention_is_reference(const struct place_convention *c,
					      const struct place_context *context,
					      Dwarf_Die *parameter, Dwarf_Die *type, uint64_t bytes,
					      bool changed, uint8_t *reg)
{
	struct place_location location;
	const struct place_load *load = &location.loads[0];
	bool is_next;

	if (c->is_fortran && dwarf_tag(type) == DW_TAG_array_type)
		return true;
	if (place_expression_locate(context, parameter, bytes ?: 1, &location) !=
		    PLACE_REASON_NONE ||
	    *location.formula || location.n_loads != 1 || location.n_gaps > 0 || load->is_value ||
	    load->base != PLACE_REGISTER)
		return false;
	/* (a stored address is used unchanged; AddressSanitizer stores the address of its frame
	 * instead, to which a number must be added) */
	if (load->n_steps == 1 && load->steps[0] == 0)
		return true;
	if (load->n_steps > 0 || load->offset != 0 || !arguments_is_register(load->reg))
		return false;
	is_next = c->registers < REGISTERS_OF_ARGUMENTS &&
		  load->reg == argument_registers[c->registers];
	if (changed)
		*reg = load->reg;
	return is_next || changed;
}

/*
 * Places a structure with leaves L that is passed by its address in register REG: its values are in
 * the memory there. REG 0 = the address is on the stack: reading the values would need two steps,
 * so the address itself is the only value.
 */
static void arguments_convention_place_by_address(struct place_convention *c,
						  struct place_leaves *l, const char *name,
						  uint8_t reg, struct place_arguments *a)
{
	const struct place_classes classes = {
		PLACE_WORD, PLACE_WORD, { PLACE_CLASS_GENERAL }, false
	};
	struct place_leaf leaf = { .kind = 'p', .bytes = PLACE_WORD };
	struct place_leaves address = { .n = 1 };

	if (!reg || l->n == 0) {
		snprintf(leaf.name, sizeof(leaf.name), "%s", name);
		address.list[0] = leaf;
		arguments_convention_place(c, &classes, &address, a);
		return;
	}
	if (c->registers < REGISTERS_OF_ARGUMENTS)
		c->registers++;
	for (size_t i = 0; i < l->n; i++) {
		struct place_argument *to = place_arguments_add(a, &l->list[i]);

		if (to && !to->reason)
			to->load = (struct place_load){ .base = PLACE_REGISTER,
							.reg = reg,
							.offset = (int64_t)l->list[i].at,
							.bytes = to->bytes };
	}
}

void place_convention_argument(struct place_convention *c, const struct place_context *context,
			       Dwarf_Die *parameter, Dwarf_Die *type, struct place_arguments *a)
{
	const char *name = place_die_name(parameter) ?: "unnamed";
	struct place_leaves l = { .n = 0 };
	struct place_classes classes;
	uint8_t reg = c->registers < REGISTERS_OF_ARGUMENTS ? argument_registers[c->registers] : 0;
	uint64_t stack = c->stack;
	size_t first = a->n;

	place_leaves_collect(&l, type, name, 0, 0);
	place_type_classify(type, &classes);
	if (c->is_rust && !c->is_unknown
		    ? arguments_rust_is_by_address(c, context, parameter, &classes)
		    : (place_leaves_is_structure(type) && place_type_is_by_address(type)) ||
			      arguments_convention_is_reference(c, context, parameter, type,
								classes.bytes, a->is_changed,
								&reg)) {
		arguments_convention_place_by_address(c, &l, name, reg, a);
		/* (if it is unknown where the arguments before are, the address's register is
		 * unknown, too) */
		for (size_t i = first; (c->is_foreign || c->is_unknown) && i < a->n; i++)
			a->list[i].reason = PLACE_REASON_COMPLEX;
		place_leaves_deinit(&l);
		return;
	}
	c->is_unknown |= classes.is_unknown || arguments_convention_splits(c, type, &l);
	c->is_unknown |= c->is_rust && (!place_convention_rust_is_certain(type, &l) ||
					arguments_rust_splits(c, &classes));
	arguments_convention_place(c, &classes, &l, a);
	for (size_t i = first; c->is_foreign && i < a->n; i++)
		a->list[i].reason = PLACE_REASON_COMPLEX;
	if (!c->is_foreign)
		arguments_correct_all(context, parameter, &l, first,
				      c->is_unknown || (c->has_wide_vector && c->stack != stack),
				      a);
	c->has_wide_vector |=
		classes.words[0] == PLACE_CLASS_VECTOR && classes.bytes > 2 * PLACE_WORD;
	place_leaves_deinit(&l);
}
