/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-rows-x86.h"

#include <dwarf.h>

#include "bpf/unwind.h"
#include "capture/unwind/byte-reader.h"

/* Numbers of registers as the ABI has them for DWARF. */
enum { X86_BP = 6, X86_SP = 7, X86_RETURN = 16 };

enum {
	WORD = 8,
	BP_WORDS_MAX = UNWIND_BP_AT_BP - 1,
	/*
	 * Where rt_sigreturn() finds them, from the stack pointer on: struct ucontext in the
	 * kernel.
	 */
	SIGNAL_BP = 120,
	SIGNAL_SP = 160,
	SIGNAL_IP = 168,
};

static uint32_t unsupported(unsigned why)
{
	return UNWIND_RULE(UNWIND_UNSUPPORTED, 0, why);
}

/* ---- expressions ---- */

/* Nothing where RULE is none. */
static struct byte_reader expression_of(const struct cfi_rule *rule)
{
	if (rule->kind != CFI_EXPRESSION && rule->kind != CFI_VAL_EXPRESSION)
		return (struct byte_reader){ 0 };
	return (struct byte_reader){ rule->expression, rule->expression + rule->n, false };
}

/* The next operation is OP; it is passed over then. */
static bool expression_next_is(struct byte_reader *r, uint8_t op)
{
	if (r->at == r->end || *r->at != op)
		return false;
	r->at++;
	return true;
}

static bool expression_next_is_register(struct byte_reader *r, unsigned number, int64_t *ret_offset)
{
	if (!expression_next_is(r, (uint8_t)(DW_OP_breg0 + number)))
		return false;
	*ret_offset = byte_reader_sleb(r);
	return true;
}

static bool expression_ends(const struct byte_reader *r)
{
	return r->at == r->end && !r->bad;
}

/* RULE is a register plus an offset, and nothing else. */
static bool is_at_register(const struct cfi_rule *rule, unsigned number, int64_t *ret_offset)
{
	struct byte_reader r = expression_of(rule);

	return expression_next_is_register(&r, number, ret_offset) && expression_ends(&r);
}

/* ---- the CFA ---- */

static uint32_t rule_with_offset(uint32_t kind, uint8_t bp, int64_t offset)
{
	if (offset % WORD != 0 || offset / WORD > INT16_MAX || offset / WORD < INT16_MIN)
		return unsupported(UNWIND_WHY_OFFSET);
	return UNWIND_RULE(kind, bp, offset / WORD);
}

/*
 * What linkers write for a PLT: SP + 8 + (((IP & 15) >= N) << 3). An entry pushes its number, and
 * the instruction behind that begins at its Nth byte.
 */
static bool is_plt(const struct cfi_rule *cfa, uint8_t *ret_threshold)
{
	static const uint8_t behind[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };
	struct byte_reader r = expression_of(cfa);
	int64_t offset;
	uint8_t op;

	if (!expression_next_is_register(&r, X86_SP, &offset) || offset != WORD ||
	    !expression_next_is_register(&r, X86_RETURN, &offset) || offset != 0 ||
	    !expression_next_is(&r, DW_OP_lit15) || !expression_next_is(&r, DW_OP_and))
		return false;
	op = byte_reader_u8(&r);
	if (op < DW_OP_lit0 || op > DW_OP_lit15 || byte_reader_left(&r) != sizeof(behind) ||
	    memcmp(r.at, behind, sizeof(behind)) != 0)
		return false;
	*ret_threshold = (uint8_t)(op - DW_OP_lit0);
	return true;
}

/* "plus 8" in one of its spellings, and nothing behind it. */
static bool is_plus_word(struct byte_reader r)
{
	if (expression_next_is(&r, DW_OP_plus_uconst))
		return byte_reader_uleb(&r) == WORD && expression_ends(&r);
	return expression_next_is(&r, DW_OP_lit8) && expression_next_is(&r, DW_OP_plus) &&
	       expression_ends(&r);
}

/* A CFA that is a word on the stack, or 8 more than that. */
static uint32_t rule_of_expression(const struct cfi_rule *cfa, uint8_t bp)
{
	struct byte_reader r = expression_of(cfa);
	int64_t offset;
	bool is_bp = expression_next_is_register(&r, X86_BP, &offset);

	if (!is_bp && !expression_next_is_register(&r, X86_SP, &offset))
		return unsupported(UNWIND_WHY_EXPRESSION);
	if (expression_ends(&r))
		return rule_with_offset(is_bp ? UNWIND_BP : UNWIND_SP, bp, offset);
	if (!expression_next_is(&r, DW_OP_deref))
		return unsupported(UNWIND_WHY_EXPRESSION);
	if (expression_ends(&r))
		return rule_with_offset(is_bp ? UNWIND_BP_DEREF : UNWIND_SP_DEREF, bp, offset);
	if (!is_plus_word(r))
		return unsupported(UNWIND_WHY_EXPRESSION);
	return rule_with_offset(is_bp ? UNWIND_BP_DEREF_8 : UNWIND_SP_DEREF_8, bp, offset);
}

static uint32_t rule_of_cfa(const struct cfi_rule *cfa, uint8_t bp)
{
	uint8_t threshold;

	switch (cfa->kind) {
	case CFI_REGISTER:
		if (cfa->n >= UNWIND_REGISTERS)
			return unsupported(UNWIND_WHY_REGISTER);
		return rule_with_offset(cfa->n == X86_SP   ? UNWIND_SP
					: cfa->n == X86_BP ? UNWIND_BP
							   : UNWIND_REGISTER((uint32_t)cfa->n),
					bp, cfa->offset);
	case CFI_VAL_EXPRESSION:
		if (is_plt(cfa, &threshold))
			return UNWIND_RULE(UNWIND_PLT, bp, threshold);
		return rule_of_expression(cfa, bp);
	}
	return unsupported(UNWIND_WHY_DAMAGED);
}

/* ---- registers ---- */

static bool is_saved_at(const struct cfi_rule *rule, int64_t offset)
{
	int64_t said;

	return rule->kind == CFI_EXPRESSION && is_at_register(rule, X86_SP, &said) &&
	       said == offset;
}

/* All is in the frame that the kernel made. The handler has returned, so SP is at the ucontext. */
static bool is_signal_frame(const struct cfi_cie *cie, const struct cfi_state *state)
{
	struct byte_reader r = expression_of(&state->cfa);
	int64_t offset;

	return cie->is_signal_frame && state->cfa.kind == CFI_VAL_EXPRESSION &&
	       expression_next_is_register(&r, X86_SP, &offset) && offset == SIGNAL_SP &&
	       expression_next_is(&r, DW_OP_deref) && expression_ends(&r) &&
	       is_saved_at(&state->registers[X86_RETURN], SIGNAL_IP) &&
	       is_saved_at(&state->registers[X86_BP], SIGNAL_BP);
}

/*
 * The offset from the CFA where RULE says that a register is saved; false if it says so in no such
 * way.
 */
static bool saved_below_cfa(const struct cfi_rule *rule, const struct cfi_rule *cfa,
			    int64_t *ret_offset)
{
	if (rule->kind == CFI_OFFSET) {
		*ret_offset = rule->offset;
		return true;
	}
	/* By the register that the CFA is counted from, too. */
	return rule->kind == CFI_EXPRESSION && cfa->kind == CFI_REGISTER &&
	       (cfa->n == X86_SP || cfa->n == X86_BP) && is_at_register(rule, cfa->n, ret_offset) &&
	       !__builtin_sub_overflow(*ret_offset, cfa->offset, ret_offset);
}

/* Where the caller's BP is, as a rule has it. False if that cannot be said. */
static bool find_bp(const struct cfi_state *state, uint8_t *ret)
{
	const struct cfi_rule *rule = &state->registers[X86_BP];
	int64_t offset;

	if (rule->kind == CFI_UNSPECIFIED || rule->kind == CFI_SAME ||
	    rule->kind == CFI_UNDEFINED) {
		*ret = UNWIND_BP_SAME;
		return true;
	}
	if (rule->kind == CFI_EXPRESSION && is_at_register(rule, X86_BP, &offset) && offset == 0) {
		*ret = UNWIND_BP_AT_BP;
		return true;
	}
	if (!saved_below_cfa(rule, &state->cfa, &offset) || offset % WORD != 0 || offset >= 0 ||
	    offset / WORD < -BP_WORDS_MAX)
		return false;
	*ret = (uint8_t)(-offset / WORD);
	return true;
}

/* The caller's SP is the CFA, as it is everywhere but in signal frames. */
static bool sp_is_cfa(const struct cfi_rule *sp)
{
	return sp->kind == CFI_UNSPECIFIED || (sp->kind == CFI_VAL_OFFSET && sp->offset == 0);
}

static bool returns_below_cfa(const struct cfi_state *state)
{
	int64_t offset;

	return saved_below_cfa(&state->registers[X86_RETURN], &state->cfa, &offset) &&
	       offset == -WORD;
}

/* The return address is in a register, and the CFA is counted from SP. */
static bool returns_in_register(const struct cfi_state *state)
{
	const struct cfi_rule *rule = &state->registers[X86_RETURN];

	return rule->kind == CFI_REGISTER && rule->n < UNWIND_REGISTERS && rule->n != X86_BP &&
	       rule->n != X86_SP && state->cfa.kind == CFI_REGISTER && state->cfa.n == X86_SP;
}

uint32_t unwind_rule_x86(const struct cfi_cie *cie, const struct cfi_state *state)
{
	uint8_t bp;

	if (cie->return_register != X86_RETURN)
		return unsupported(UNWIND_WHY_RETURN);
	if (state->registers[X86_RETURN].kind == CFI_UNDEFINED)
		return UNWIND_RULE(UNWIND_END, 0, 0);
	if (is_signal_frame(cie, state))
		return UNWIND_RULE(UNWIND_SIGNAL, 0, 0);
	if (state->cfa.kind == CFI_UNSPECIFIED)
		return unsupported(UNWIND_WHY_DAMAGED);
	if (!sp_is_cfa(&state->registers[X86_SP]) ||
	    (!returns_below_cfa(state) && !returns_in_register(state)))
		return unsupported(UNWIND_WHY_RETURN);
	if (!find_bp(state, &bp))
		return unsupported(UNWIND_WHY_BP);
	if (returns_in_register(state))
		return rule_with_offset(UNWIND_RETURN_IN(state->registers[X86_RETURN].n), bp,
					state->cfa.offset);
	return rule_of_cfa(&state->cfa, bp);
}
