/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/places/place-expression.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_MAX = 16, NESTED_MAX = 4, WORD_BYTES = 8 };

/* A number that is known only at run time: the address that a load computes, or a formula of
 * loads. */
struct term {
	struct place_load load;
	char formula[PLACE_FORMULA_MAX]; /* "" = the number is LOAD's address */
	/* Bits of the type to which the number was converted; 0 = it was not converted. */
	uint8_t bits;
	bool is_signed;
};

struct evaluation {
	const struct place_context *context;
	struct term stack[STACK_MAX];
	size_t depth;
	struct place_load inputs[PLACE_LOADS_MAX]; /* loads that formulas use */
	size_t n_inputs;
	unsigned nested;
	bool in_register;           /* the topmost term is a register's content, not an address */
	bool is_value;              /* the topmost term is the value itself */
	Dwarf_Attribute *attribute; /* the attribute with the expression */
};

static enum place_reason expression_run(struct evaluation *e, Dwarf_Op *ops, size_t n);

/* ---- terms ---- */

static enum place_reason expression_push(struct evaluation *e, uint8_t base, uint64_t reg,
					 uint64_t offset)
{
	if (e->depth == STACK_MAX)
		return PLACE_REASON_COMPLEX;
	if (base == PLACE_REGISTER && reg >= PLACE_REGISTERS)
		return PLACE_REASON_VECTOR;
	e->stack[e->depth++] = (struct term){
		.load = { .base = base, .reg = (uint8_t)reg, .offset = (int64_t)offset }
	};
	return PLACE_REASON_NONE;
}

static bool expression_is_constant(const struct term *t)
{
	return !*t->formula && t->load.base == PLACE_ZERO && t->load.n_steps == 0;
}

static void expression_add(struct place_load *load, uint64_t n)
{
	int64_t *last = load->n_steps ? &load->steps[load->n_steps - 1] : &load->offset;

	*last = (int64_t)((uint64_t)*last + n);
}

bool place_load_follow(struct place_load *load)
{
	if (load->is_value) {
		load->is_value = false;
		return true;
	}
	if (load->n_steps == PLACE_STEPS_MAX)
		return false;
	load->steps[load->n_steps++] = 0;
	return true;
}

/* Writes T as a formula to TO. */
static enum place_reason expression_formula(struct evaluation *e, const struct term *t,
					    char to[static PLACE_FORMULA_MAX])
{
	struct place_load *input;

	if (*t->formula) {
		memcpy(to, t->formula, PLACE_FORMULA_MAX);
		return PLACE_REASON_NONE;
	}
	if (expression_is_constant(t)) {
		bool negative = t->load.offset < 0;
		uint64_t n = negative ? -(uint64_t)t->load.offset : (uint64_t)t->load.offset;

		snprintf(to, PLACE_FORMULA_MAX, "%" PRIu64 "%s", n, negative ? " n" : "");
		return PLACE_REASON_NONE;
	}
	if (e->n_inputs == PLACE_LOADS_MAX)
		return PLACE_REASON_COMPLEX;
	input = &e->inputs[e->n_inputs];
	*input = t->load;
	input->is_value = true;
	input->bytes = WORD_BYTES;
	snprintf(to, PLACE_FORMULA_MAX, "#%zu", e->n_inputs++);
	return PLACE_REASON_NONE;
}

/* Reduces T to the bits of its type, and extends its sign. */
static enum place_reason expression_normalise(struct evaluation *e, struct term *t)
{
	char a[PLACE_FORMULA_MAX];
	unsigned unused = t->bits ? 64u - t->bits : 0;
	enum place_reason reason;

	if (unused == 0)
		return PLACE_REASON_NONE;
	reason = expression_formula(e, t, a);
	if (reason)
		return reason;
	return snprintf(t->formula, sizeof(t->formula), "%s %u << %u %s", a, unused, unused,
			t->is_signed ? "s>>" : ">>") < (int)sizeof(t->formula)
		       ? PLACE_REASON_NONE
		       : PLACE_REASON_COMPLEX;
}

/* Returns true if OP, computed with 64 bits, has the same result as in T's type. */
static bool expression_has_op(const struct term *t, const char *op)
{
	if (t->bits == 0)
		return true;
	if (strcmp(op, ">>") == 0)
		return !t->is_signed;
	/* Formulas compare and divide signed numbers, which is wrong for unsigned numbers of 64
	 * bits. */
	return t->is_signed || t->bits < 64 || !strpbrk(op, "/%=<>") || strcmp(op, "<<") == 0 ||
	       strcmp(op, "==") == 0;
}

/* Replaces the two topmost terms by the result of OP. */
static enum place_reason expression_binary(struct evaluation *e, const char *op)
{
	char a[PLACE_FORMULA_MAX], b[PLACE_FORMULA_MAX];
	struct term *left, *right;
	enum place_reason reason;
	int n;

	if (e->depth < 2)
		return PLACE_REASON_COMPLEX;
	right = &e->stack[--e->depth];
	left = &e->stack[e->depth - 1];
	if (!expression_has_op(left, op))
		return PLACE_REASON_COMPLEX;
	if ((*op == '+' || *op == '-') && left->bits == 0 && !*left->formula &&
	    expression_is_constant(right)) {
		uint64_t offset = (uint64_t)right->load.offset;

		expression_add(&left->load, *op == '+' ? offset : -offset);
		return PLACE_REASON_NONE;
	}
	if (*op == '+' && left->bits == 0 && right->bits == 0 && expression_is_constant(left) &&
	    !*right->formula) {
		expression_add(&right->load, (uint64_t)left->load.offset);
		*left = *right;
		return PLACE_REASON_NONE;
	}
	reason = expression_formula(e, left, a) ?: expression_formula(e, right, b);
	if (reason)
		return reason;
	n = snprintf(left->formula, sizeof(left->formula), "%s %s %s", a, b, op);
	return n < (int)sizeof(left->formula) ? expression_normalise(e, left)
					      : PLACE_REASON_COMPLEX;
}

static enum place_reason expression_unary(struct evaluation *e, const char *op)
{
	char a[PLACE_FORMULA_MAX];
	struct term *t = e->depth ? &e->stack[e->depth - 1] : NULL;
	enum place_reason reason = t ? expression_formula(e, t, a) : PLACE_REASON_COMPLEX;

	if (reason)
		return reason;
	return snprintf(t->formula, sizeof(t->formula), "%s %s", a, op) < (int)sizeof(t->formula)
		       ? expression_normalise(e, t)
		       : PLACE_REASON_COMPLEX;
}

/* Converts the topmost term to the type that OP names. */
static enum place_reason expression_convert(struct evaluation *e, const Dwarf_Op *op)
{
	struct term *t = e->depth ? &e->stack[e->depth - 1] : NULL;
	bool is_type = op->atom == DW_OP_regval_type || op->atom == DW_OP_GNU_regval_type ||
		       op->number != 0;
	Dwarf_Word encoding = 0;
	Dwarf_Attribute attribute;
	Dwarf_Die type;
	int bytes;

	if (!t)
		return PLACE_REASON_COMPLEX;
	t->bits = 0;
	if (!is_type)
		return PLACE_REASON_NONE;
	if (!e->attribute || dwarf_getlocation_die(e->attribute, op, &type) != 0 ||
	    !dwarf_attr(&type, DW_AT_encoding, &attribute) ||
	    dwarf_formudata(&attribute, &encoding) != 0)
		return PLACE_REASON_COMPLEX;
	bytes = dwarf_bytesize(&type);
	t->is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	if (bytes < 1 || bytes > WORD_BYTES || encoding == DW_ATE_float ||
	    encoding == DW_ATE_complex_float)
		return PLACE_REASON_COMPLEX;
	t->bits = (uint8_t)(8 * bytes);
	return expression_normalise(e, t);
}

/* ---- frames ---- */

/* Evaluates OPS, which must leave exactly one further term. *RET_IS_VALUE = true if this term is a
 * value, not an address. Resets in_register and is_value. */
static enum place_reason expression_nest(struct evaluation *e, Dwarf_Op *ops, size_t n,
					 bool *ret_is_value)
{
	size_t depth = e->depth;
	enum place_reason reason;

	if (e->nested == NESTED_MAX || n == 0)
		return PLACE_REASON_COMPLEX;
	e->nested++;
	reason = expression_run(e, ops, n);
	e->nested--;
	if (!reason && e->depth != depth + 1)
		reason = PLACE_REASON_COMPLEX;
	*ret_is_value = e->in_register || e->is_value;
	e->in_register = e->is_value = false;
	return reason;
}

static Dwarf_Frame *expression_frame(const struct evaluation *e)
{
	const struct places *p = e->context->places;
	Dwarf_Frame *frame = NULL;
	Dwarf_CFI *more;

	if (p->frames && dwarf_cfi_addrframe(p->frames, e->context->vaddr, &frame) == 0)
		return frame;
	more = p->dwarf ? dwarf_getcfi(p->dwarf) : NULL;
	return more && dwarf_cfi_addrframe(more, e->context->vaddr, &frame) == 0 ? frame : NULL;
}

static enum place_reason expression_cfa(struct evaluation *e)
{
	Dwarf_Frame *frame = expression_frame(e);
	enum place_reason reason;
	Dwarf_Op *ops;
	bool is_value;
	size_t n;

	if (!frame)
		return PLACE_REASON_NO_FRAME;
	if (dwarf_frame_cfa(frame, &ops, &n) != 0 || n == 0)
		reason = PLACE_REASON_NO_FRAME;
	else
		reason = expression_nest(e, ops, n, &is_value);
	free(frame);
	return reason;
}

static enum place_reason expression_frame_base(struct evaluation *e, uint64_t offset)
{
	Dwarf_Attribute attribute;
	enum place_reason reason;
	Dwarf_Op *ops;
	bool is_value;
	size_t n;

	if (!e->context->function ||
	    !dwarf_attr_integrate(e->context->function, DW_AT_frame_base, &attribute) ||
	    dwarf_getlocation_addr(&attribute, e->context->vaddr, &ops, &n, 1) != 1)
		return PLACE_REASON_NO_FRAME;
	reason = expression_nest(e, ops, n, &is_value);
	if (!reason && *e->stack[e->depth - 1].formula)
		reason = PLACE_REASON_COMPLEX;
	if (!reason)
		expression_add(&e->stack[e->depth - 1].load, offset);
	return reason;
}

/* Pushes the value that register REG had when the function was called. */
static enum place_reason expression_entry_register(struct evaluation *e, uint64_t reg)
{
	Dwarf_Addr entry;
	Dwarf_Op room[3], *ops;
	Dwarf_Frame *frame;
	enum place_reason reason;
	bool is_value;
	size_t n;

	if (e->context->function &&
	    places_entry(e->context->places, e->context->function, &entry) &&
	    entry == e->context->vaddr)
		return expression_push(e, PLACE_REGISTER, reg, 0);
	frame = expression_frame(e);
	if (!frame || reg > INT32_MAX || dwarf_frame_register(frame, (int)reg, room, &ops, &n) != 0)
		reason = PLACE_REASON_NOT_KEPT;
	else if (n == 0)
		reason = ops ? PLACE_REASON_NOT_KEPT : expression_push(e, PLACE_REGISTER, reg, 0);
	else
		reason = expression_nest(e, ops, n, &is_value);
	if (!reason && n > 0 && !is_value && !place_load_follow(&e->stack[e->depth - 1].load))
		reason = PLACE_REASON_COMPLEX;
	free(frame);
	return reason;
}

static enum place_reason expression_entry_value(struct evaluation *e, const Dwarf_Op *op)
{
	Dwarf_Attribute inner;
	Dwarf_Op *ops;
	size_t n;

	if (!e->attribute || dwarf_getlocation_attr(e->attribute, op, &inner) != 0 ||
	    dwarf_getlocation(&inner, &ops, &n) != 0 || n != 1)
		return PLACE_REASON_NOT_KEPT;
	if (ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31)
		return expression_entry_register(e, ops->atom - DW_OP_reg0);
	return ops->atom == DW_OP_regx ? expression_entry_register(e, ops->number)
				       : PLACE_REASON_NOT_KEPT;
}

static enum place_reason expression_address(struct evaluation *e, const Dwarf_Op *op)
{
	Dwarf_Attribute address;
	Dwarf_Addr value;

	if (op->atom == DW_OP_addr)
		return expression_push(e, PLACE_IMAGE, 0, op->number);
	if (!e->attribute || dwarf_getlocation_attr(e->attribute, op, &address) != 0 ||
	    dwarf_formaddr(&address, &value) != 0)
		return PLACE_REASON_COMPLEX;
	return expression_push(e, op->atom == DW_OP_addrx ? PLACE_IMAGE : PLACE_ZERO, 0, value);
}

/* ---- operations ---- */

static const struct binary_row {
	uint8_t atom;
	const char *op;
} binary_rows[] = {
	{ DW_OP_plus, "+" }, { DW_OP_minus, "-" }, { DW_OP_mul, "*" },    { DW_OP_div, "/" },
	{ DW_OP_mod, "%" },  { DW_OP_and, "&" },   { DW_OP_or, "|" },     { DW_OP_xor, "^" },
	{ DW_OP_shl, "<<" }, { DW_OP_shr, ">>" },  { DW_OP_shra, "s>>" }, { DW_OP_eq, "==" },
	{ DW_OP_ne, "!=" },  { DW_OP_lt, "<" },    { DW_OP_le, "<=" },    { DW_OP_gt, ">" },
	{ DW_OP_ge, ">=" },
};

static enum place_reason expression_arithmetic(struct evaluation *e, uint8_t atom)
{
	for (size_t i = 0; i < ARRAY_SIZE(binary_rows); i++)
		if (binary_rows[i].atom == atom)
			return expression_binary(e, binary_rows[i].op);
	switch (atom) {
	case DW_OP_not:
		return expression_unary(e, "~");
	case DW_OP_neg:
		return expression_unary(e, "n");
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		return PLACE_REASON_POINTS_NOWHERE;
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address:
		return PLACE_REASON_IN_THREAD;
	default:
		return PLACE_REASON_COMPLEX;
	}
}

static enum place_reason expression_dereference(struct evaluation *e)
{
	struct term *t = e->depth ? &e->stack[e->depth - 1] : NULL;

	return t && !*t->formula && place_load_follow(&t->load) ? PLACE_REASON_NONE
								: PLACE_REASON_COMPLEX;
}

/* Pushes a copy of the term that is BELOW terms below the topmost one. */
static enum place_reason expression_copy(struct evaluation *e, size_t below)
{
	if (e->depth <= below || e->depth == STACK_MAX)
		return PLACE_REASON_COMPLEX;
	e->stack[e->depth] = e->stack[e->depth - 1 - below];
	e->depth++;
	return PLACE_REASON_NONE;
}

static enum place_reason expression_swap(struct evaluation *e)
{
	struct term top;

	if (e->depth < 2)
		return PLACE_REASON_COMPLEX;
	top = e->stack[e->depth - 1];
	e->stack[e->depth - 1] = e->stack[e->depth - 2];
	e->stack[e->depth - 2] = top;
	return PLACE_REASON_NONE;
}

static enum place_reason expression_drop(struct evaluation *e)
{
	if (e->depth == 0)
		return PLACE_REASON_COMPLEX;
	e->depth--;
	return PLACE_REASON_NONE;
}

static enum place_reason expression_plus(struct evaluation *e, uint64_t n)
{
	return expression_push(e, PLACE_ZERO, 0, n) ?: expression_binary(e, "+");
}

static enum place_reason expression_step(struct evaluation *e, const Dwarf_Op *op)
{
	uint8_t atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return expression_push(e, PLACE_ZERO, 0, atom - DW_OP_lit0);
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return expression_push(e, PLACE_REGISTER, atom - DW_OP_breg0, op->number);
	if ((atom >= DW_OP_reg0 && atom <= DW_OP_reg31) || atom == DW_OP_regx) {
		e->in_register = true;
		if (atom == DW_OP_regx)
			return expression_push(e, PLACE_REGISTER, op->number, 0);
		return expression_push(e, PLACE_REGISTER, atom - DW_OP_reg0, 0);
	}
	/* (dwarf.h has no name for this range, but the numbers of constants are consecutive) */
	if (atom >= DW_OP_const1u && atom <= DW_OP_consts)
		return expression_push(e, PLACE_ZERO, 0, op->number);
	switch (atom) {
	case DW_OP_addr:
	case DW_OP_addrx:
	case DW_OP_constx:
	case DW_OP_GNU_addr_index:
		return expression_address(e, op);
	case DW_OP_bregx:
		return expression_push(e, PLACE_REGISTER, op->number, op->number2);
	case DW_OP_fbreg:
		return expression_frame_base(e, op->number);
	case DW_OP_call_frame_cfa:
		return expression_cfa(e);
	case DW_OP_deref:
		return expression_dereference(e);
	case DW_OP_deref_size:
		return op->number == WORD_BYTES ? expression_dereference(e) : PLACE_REASON_COMPLEX;
	case DW_OP_dup:
		return expression_copy(e, 0);
	case DW_OP_over:
		return expression_copy(e, 1);
	case DW_OP_swap:
		return expression_swap(e);
	case DW_OP_drop:
		return expression_drop(e);
	case DW_OP_plus_uconst:
		return expression_plus(e, op->number);
	case DW_OP_convert:
	case DW_OP_GNU_convert:
	case DW_OP_reinterpret:
	case DW_OP_GNU_reinterpret:
		return expression_convert(e, op);
	case DW_OP_regval_type:
	case DW_OP_GNU_regval_type:
		return expression_push(e, PLACE_REGISTER, op->number, 0)
			       ?: expression_convert(e, op);
	case DW_OP_stack_value:
		e->is_value = true;
		return PLACE_REASON_NONE;
	case DW_OP_nop:
		return PLACE_REASON_NONE;
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return expression_entry_value(e, op);
	default:
		return expression_arithmetic(e, atom);
	}
}

static enum place_reason expression_run(struct evaluation *e, Dwarf_Op *ops, size_t n)
{
	enum place_reason reason = PLACE_REASON_NONE;

	for (size_t i = 0; !reason && i < n; i++)
		reason = expression_step(e, &ops[i]);
	return reason;
}

/* ---- locations ---- */

static enum place_reason expression_location_add(struct place_location *l,
						 const struct place_load *load)
{
	if (l->n_loads == PLACE_LOADS_MAX)
		return PLACE_REASON_COMPLEX;
	l->loads[l->n_loads++] = *load;
	return PLACE_REASON_NONE;
}

/* Adds a load of BYTES at the expression's result, or its formula, to L. */
static enum place_reason expression_location_add_bytes(struct evaluation *e, uint64_t bytes,
						       struct place_location *l)
{
	struct term *t = e->depth ? &e->stack[e->depth - 1] : NULL;

	if (!t)
		return PLACE_REASON_OPTIMISED;
	if (*t->formula) {
		if (!e->is_value || l->n_loads > 0)
			return PLACE_REASON_COMPLEX;
		/* A formula of constants has no load, but each variable needs one. */
		if (e->n_inputs == 0)
			e->inputs[e->n_inputs++] =
				(struct place_load){ .is_value = true, .bytes = WORD_BYTES };
		memcpy(l->formula, t->formula, sizeof(l->formula));
		memcpy(l->loads, e->inputs, sizeof(l->loads));
		l->n_loads = e->n_inputs;
		return PLACE_REASON_NONE;
	}
	t->load.is_value = e->in_register || e->is_value;
	if (t->load.is_value && bytes > WORD_BYTES)
		return PLACE_REASON_COMPLEX;
	t->load.bytes = bytes < PLACE_LOAD_BYTES_MAX ? (uint32_t)bytes : PLACE_LOAD_BYTES_MAX;
	return expression_location_add(l, &t->load);
}

/* Adds a constant of N bytes at DATA to L, word by word. */
static enum place_reason expression_location_constant(const void *data, uint64_t n,
						      struct place_location *l)
{
	enum place_reason reason = PLACE_REASON_NONE;

	for (uint64_t at = 0; !reason && at < n; at += WORD_BYTES) {
		struct place_load load = { .is_value = true };

		load.bytes = n - at < WORD_BYTES ? (uint32_t)(n - at) : WORD_BYTES;
		memcpy(&load.offset, (const char *)data + at, load.bytes);
		reason = expression_location_add(l, &load);
	}
	return reason;
}

static enum place_reason expression_location_implicit(struct evaluation *e, const Dwarf_Op *op,
						      struct place_location *l)
{
	Dwarf_Block block;

	if (!e->attribute || dwarf_getlocation_implicit_value(e->attribute, op, &block) != 0)
		return PLACE_REASON_COMPLEX;
	return expression_location_constant(block.data, block.length, l);
}

/*
 * Returns the reason why the value of OPS is unavailable: a special one if OPS has one, otherwise
 * that OPS are too complex.
 */
static enum place_reason expression_explain(const Dwarf_Op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++)
		switch (ops[i].atom) {
		case DW_OP_reg17 ... DW_OP_reg31:
			return PLACE_REASON_VECTOR;
		case DW_OP_regval_type:
		case DW_OP_GNU_regval_type:
			if (ops[i].number >= PLACE_REGISTERS)
				return PLACE_REASON_VECTOR;
			break;
		case DW_OP_entry_value:
		case DW_OP_GNU_entry_value:
			return PLACE_REASON_NOT_KEPT;
		case DW_OP_GNU_parameter_ref:
			return PLACE_REASON_OPTIMISED;
		default:
			break;
		}
	return PLACE_REASON_COMPLEX;
}

/* Evaluates OPS from *I up to the end or up to a piece operation, and moves *I behind it. */
static enum place_reason expression_location_piece(struct evaluation *e, Dwarf_Op *ops, size_t n,
						   size_t *i, uint64_t bytes, uint32_t *at,
						   struct place_location *l)
{
	size_t from = *i;
	uint64_t size = bytes;
	enum place_reason reason;

	e->depth = 0;
	e->in_register = e->is_value = false;
	while (*i < n && ops[*i].atom != DW_OP_piece && ops[*i].atom != DW_OP_bit_piece)
		++*i;
	if (*i < n) {
		bool bits = ops[*i].atom == DW_OP_bit_piece;

		size = ops[*i].number / (bits ? 8 : 1);
		if (bits && (ops[*i].number % 8 != 0 || ops[*i].number2 != 0))
			return PLACE_REASON_COMPLEX;
	}
	if (size > PLACE_LOAD_BYTES_MAX)
		size = PLACE_LOAD_BYTES_MAX;
	if (*i == from) {
		++*i;
		if (l->n_gaps == PLACE_GAPS_MAX)
			return PLACE_REASON_COMPLEX;
		l->gaps[l->n_gaps].at = *at;
		l->gaps[l->n_gaps++].n = (uint32_t)size;
		*at += (uint32_t)size;
		return PLACE_REASON_NONE;
	}
	if (ops[from].atom == DW_OP_implicit_value)
		reason = expression_location_implicit(e, &ops[from], l);
	else
		reason = expression_run(e, ops + from, *i - from)
				 ?: expression_location_add_bytes(e, size, l);
	if (reason == PLACE_REASON_COMPLEX)
		reason = expression_explain(ops + from, *i - from);
	++*i;
	*at += (uint32_t)size;
	return reason;
}

static enum place_reason expression_location_of_ops(struct evaluation *e, Dwarf_Op *ops, size_t n,
						    uint64_t bytes, struct place_location *l)
{
	enum place_reason reason = PLACE_REASON_NONE;
	uint32_t at = 0;
	size_t i = 0;

	if (n == 0)
		return PLACE_REASON_OPTIMISED;
	while (!reason && i < n) {
		if (*l->formula)
			return PLACE_REASON_COMPLEX;
		reason = expression_location_piece(e, ops, n, &i, bytes, &at, l);
	}
	if (!reason && l->n_loads == 0)
		reason = PLACE_REASON_OPTIMISED;
	return reason;
}

static enum place_reason expression_location_of_constant(Dwarf_Attribute *attribute, uint64_t bytes,
							 struct place_location *l)
{
	Dwarf_Block block;
	Dwarf_Sword value;

	if (dwarf_formsdata(attribute, &value) == 0)
		return expression_location_constant(
			&value, bytes < sizeof(value) ? bytes : sizeof(value), l);
	if (dwarf_formblock(attribute, &block) == 0)
		return expression_location_constant(block.data, block.length, l);
	return PLACE_REASON_COMPLEX;
}

enum place_reason place_expression_locate(const struct place_context *context, Dwarf_Die *die,
					  uint64_t bytes, struct place_location *ret)
{
	struct evaluation *e = calloc(1, sizeof(*e));
	Dwarf_Attribute attribute;
	enum place_reason reason;
	Dwarf_Op *ops;
	size_t n;

	*ret = (struct place_location){ 0 };
	if (!e)
		return PLACE_REASON_NO_MEMORY;
	e->context = context;
	e->attribute = &attribute;
	if (dwarf_attr_integrate(die, DW_AT_location, &attribute))
		reason = dwarf_getlocation_addr(&attribute, context->vaddr, &ops, &n, 1) == 1
				 ? expression_location_of_ops(e, ops, n, bytes, ret)
				 : PLACE_REASON_OPTIMISED;
	else if (dwarf_attr_integrate(die, DW_AT_const_value, &attribute))
		reason = expression_location_of_constant(&attribute, bytes, ret);
	else
		reason = PLACE_REASON_OPTIMISED;
	free(e);
	return reason;
}

/* Finds the number if an attribute refers to DIE, a variable with the number. */
static enum place_reason expression_of_variable(const struct place_context *context, Dwarf_Die *die,
						struct place_load *ret)
{
	struct place_location location;
	enum place_reason reason = place_expression_locate(context, die, WORD_BYTES, &location);

	if (reason)
		return reason;
	if (location.n_loads != 1 || location.n_gaps || *location.formula)
		return PLACE_REASON_COMPLEX;
	*ret = location.loads[0];
	return PLACE_REASON_NONE;
}

enum place_reason place_expression_number(const struct place_context *context, Dwarf_Die *die,
					  unsigned name, struct place_load *ret)
{
	struct evaluation *e;
	Dwarf_Attribute attribute;
	enum place_reason reason = PLACE_REASON_NONE;
	Dwarf_Die variable;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr_integrate(die, name, &attribute))
		return PLACE_REASON_COMPLEX;
	if (dwarf_formref_die(&attribute, &variable))
		return expression_of_variable(context, &variable, ret);
	if (dwarf_getlocation(&attribute, &ops, &n) != 0)
		return PLACE_REASON_COMPLEX;
	e = calloc(1, sizeof(*e));
	if (!e)
		return PLACE_REASON_NO_MEMORY;
	e->context = context;
	e->attribute = &attribute;
	reason = expression_run(e, ops, n);
	if (!reason && (e->depth != 1 || *e->stack[0].formula))
		reason = PLACE_REASON_COMPLEX;
	if (!reason) {
		*ret = e->stack[0].load;
		ret->is_value = true;
		ret->bytes = WORD_BYTES;
	}
	free(e);
	return reason;
}
