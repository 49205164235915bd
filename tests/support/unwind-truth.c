/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/unwind-truth.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

enum { DW_BP = 6, DW_SP = 7, DW_IP = 16, STACK_MAX = 16 };

#define SP_VALUE UINT64_C(0x7ffc12340008)
#define BP_VALUE UINT64_C(0x7ffc98765430)

static uint64_t word_at(uint64_t address)
{
	uint64_t x = address * UINT64_C(0x9e3779b97f4a7c15);

	return (x ^ x >> 29) & ~UINT64_C(7);
}

static uint64_t register_value(uint64_t number, uint64_t address)
{
	switch (number) {
	case DW_SP:
		return SP_VALUE;
	case DW_BP:
		return BP_VALUE;
	case DW_IP:
		return address;
	}
	return (number + 1) << 52;
}

/* ---- libdw ---- */

struct evaluation {
	uint64_t address, cfa;
	uint64_t stack[STACK_MAX];
	unsigned depth;
	bool is_value; /* not where it is saved */
	bool failed;
};

static void push(struct evaluation *e, uint64_t value)
{
	if (e->depth == STACK_MAX)
		e->failed = true;
	else
		e->stack[e->depth++] = value;
}

static uint64_t pop(struct evaluation *e)
{
	if (e->depth == 0) {
		e->failed = true;
		return 0;
	}
	return e->stack[--e->depth];
}

static void evaluate_two(struct evaluation *e, const Dwarf_Op *op)
{
	uint64_t b = pop(e), a = pop(e);

	switch (op->atom) {
	case DW_OP_plus:
		return push(e, a + b);
	case DW_OP_minus:
		return push(e, a - b);
	case DW_OP_and:
		return push(e, a & b);
	case DW_OP_ge:
		return push(e, (int64_t)a >= (int64_t)b);
	case DW_OP_shl:
		return push(e, a << (b & 63));
	}
	e->failed = true;
}

static void evaluate_one(struct evaluation *e, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push(e, register_value(op->atom - DW_OP_breg0, e->address) + op->number);
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(e, op->atom - DW_OP_lit0);
	switch (op->atom) {
	case DW_OP_bregx:
		return push(e, register_value(op->number, e->address) + op->number2);
	case DW_OP_call_frame_cfa:
		return push(e, e->cfa);
	case DW_OP_plus_uconst:
		return push(e, pop(e) + op->number);
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_constu:
	case DW_OP_consts:
		return push(e, op->number);
	case DW_OP_deref:
		return push(e, word_at(pop(e)));
	case DW_OP_stack_value:
		e->is_value = true;
		return;
	}
	evaluate_two(e, op);
}

static uint64_t evaluate(struct evaluation *e, const Dwarf_Op *ops, size_t n)
{
	e->depth = 0;
	e->is_value = false;
	for (size_t i = 0; i < n && !e->failed; i++)
		evaluate_one(e, &ops[i]);
	return pop(e);
}

/* The caller's value of register NUMBER; *RET_LAST if it has none. */
static uint64_t evaluate_register(struct evaluation *e, Dwarf_Frame *frame, int number,
				  bool *ret_undefined)
{
	Dwarf_Op memory[3], *ops;
	uint64_t value;
	size_t n;

	*ret_undefined = false;
	if (dwarf_frame_register(frame, number, memory, &ops, &n) != 0) {
		e->failed = true;
		return 0;
	}
	if (n == 0 && ops == memory) {
		*ret_undefined = true;
		return 0;
	}
	if (n == 0)
		return register_value((uint64_t)number, e->address);
	if (n == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		return register_value(ops[0].atom - DW_OP_reg0, e->address);
	if (n == 1 && ops[0].atom == DW_OP_regx)
		return register_value(ops[0].number, e->address);
	value = evaluate(e, ops, n);
	return e->is_value ? value : word_at(value);
}

static Dwarf_Frame *find_frame(const struct unwind_truth *truth, uint64_t address)
{
	Dwarf_Frame *frame = NULL;

	if (truth->eh_frame && dwarf_cfi_addrframe(truth->eh_frame, address, &frame) == 0)
		return frame;
	if (truth->debug_frame && dwarf_cfi_addrframe(truth->debug_frame, address, &frame) == 0)
		return frame;
	return NULL;
}

bool unwind_truth_caller(const struct unwind_truth *truth, uint64_t address,
			 struct unwind_caller *ret)
{
	_cleanup_free_ Dwarf_Frame *frame = find_frame(truth, address);
	struct evaluation e = { .address = address };
	bool undefined;
	Dwarf_Op *ops;
	size_t n;

	*ret = (struct unwind_caller){ .known = frame };
	if (!frame)
		return true;
	ret->ip = evaluate_register(&e, frame, DW_IP, &ret->last);
	if (ret->last)
		return !e.failed;
	e.failed = false;
	if (dwarf_frame_cfa(frame, &ops, &n) != 0)
		return false;
	ret->cfa = e.cfa = evaluate(&e, ops, n);
	ret->ip = evaluate_register(&e, frame, DW_IP, &undefined);
	ret->bp = evaluate_register(&e, frame, DW_BP, &undefined);
	if (undefined)
		ret->bp = BP_VALUE;
	return !e.failed;
}

int unwind_truth_init(struct unwind_truth *truth, int fd)
{
	*truth = (struct unwind_truth){ 0 };
	elf_version(EV_CURRENT);
	truth->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!truth->elf)
		return -ENOEXEC;
	truth->eh_frame = dwarf_getcfi_elf(truth->elf);
	truth->dwarf = dwarf_begin_elf(truth->elf, DWARF_C_READ, NULL);
	truth->debug_frame = truth->dwarf ? dwarf_getcfi(truth->dwarf) : NULL;
	return 0;
}

void unwind_truth_deinit(struct unwind_truth *truth)
{
	if (truth->eh_frame)
		dwarf_cfi_end(truth->eh_frame);
	dwarf_end(truth->dwarf);
	elf_end(truth->elf);
	*truth = (struct unwind_truth){ 0 };
}

/* ---- rows ---- */

static uint64_t rule_cfa(uint32_t rule, uint64_t address)
{
	uint64_t offset = (uint64_t)(int64_t)UNWIND_RULE_OFFSET(rule);

	switch (UNWIND_RULE_KIND(rule)) {
	case UNWIND_SP:
		return SP_VALUE + 8 * offset;
	case UNWIND_BP:
		return BP_VALUE + 8 * offset;
	case UNWIND_SP_DEREF:
		return word_at(SP_VALUE + 8 * offset);
	case UNWIND_SP_DEREF_8:
		return word_at(SP_VALUE + 8 * offset) + 8;
	case UNWIND_BP_DEREF:
		return word_at(BP_VALUE + 8 * offset);
	case UNWIND_BP_DEREF_8:
		return word_at(BP_VALUE + 8 * offset) + 8;
	case UNWIND_PLT:
		return SP_VALUE + 8 + ((address & 15) >= offset ? 8 : 0);
	case UNWIND_SIGNAL:
		return word_at(SP_VALUE + 160);
	}
	if (UNWIND_RULE_KIND(rule) >= UNWIND_RETURN_IN(0))
		return SP_VALUE + 8 * offset;
	if (UNWIND_RULE_KIND(rule) >= UNWIND_REGISTER(0))
		return register_value(UNWIND_RULE_KIND(rule) - UNWIND_REGISTER(0), address) +
		       8 * offset;
	abort();
}

void unwind_rule_caller(uint32_t rule, uint64_t address, struct unwind_caller *ret)
{
	uint32_t kind = UNWIND_RULE_KIND(rule), bp = UNWIND_RULE_BP(rule);

	*ret = (struct unwind_caller){ .known = kind != UNWIND_NONE, .last = kind == UNWIND_END };
	if (!ret->known || ret->last)
		return;
	ret->cfa = rule_cfa(rule, address);
	ret->ip = kind >= UNWIND_RETURN_IN(0) ? register_value(kind - UNWIND_RETURN_IN(0), address)
					      : word_at(ret->cfa - 8);
	if (bp == UNWIND_BP_SAME)
		ret->bp = BP_VALUE;
	else if (bp == UNWIND_BP_AT_BP)
		ret->bp = word_at(BP_VALUE);
	else
		ret->bp = word_at(ret->cfa - 8 * bp);
	if (kind == UNWIND_SIGNAL) {
		ret->ip = word_at(SP_VALUE + 168);
		ret->bp = word_at(SP_VALUE + 120);
	}
}
