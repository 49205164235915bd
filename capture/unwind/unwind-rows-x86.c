/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-rows-x86.h"

#include <dwarf.h>

#include "bpf/record-unwind.h"
#include "capture/unwind/byte-reader.h"

/* The numbers of registers in DWARF, as the ABI defines them. */
enum { X86_BP = 6, X86_SP = 7, X86_RETURN = 16 };

enum {
	WORD = 8,
	BP_WORDS_MAX = UNWIND_BP_AT_BP - 1,
	/*
	 * rt_sigreturn() finds the registers at these offsets from the stack pointer, in the
	 * kernel's struct ucontext.
	 */
	SIGNAL_BP = 120,
	SIGNAL_SP = 160,
	SIGNAL_IP = 168,
};

static uint32_t unwind_rows_x86_unsupported(unsigned why)
{
	return UNWIND_RULE(UNWIND_UNSUPPORTED, 0, why);
}

/* ---- expressions ---- */

/* Returns the expression of RULE; it is empty if RULE is not an expression. */
static struct byte_reader unwind_rows_x86_expression_of(const struct cfi_rule *rule)
{
	if (rule->kind != CFI_EXPRESSION && rule->kind != CFI_VAL_EXPRESSION)
		return (struct byte_reader){ 0 };
	return (struct byte_reader){ rule->expression, rule->expression + rule->n, false };
}

/* Returns true if the next operation is OP, which is then skipped. */
static bool unwind_rows_x86_expression_next_is(struct byte_reader *r, uint8_t op)
{
	if (r->at == r->end || *r->at != op)
		return false;
	r->at++;
	return true;
}

static bool unwind_rows_x86_expression_next_is_register(struct byte_reader *r, unsigned number,
							int64_t *ret_offset)
{
	if (!unwind_rows_x86_expression_next_is(r, (uint8_t)(DW_OP_breg0 + number)))
		return false;
	*ret_offset = byte_reader_sleb(r);
	return true;
}

static bool unwind_rows_x86_expression_ends(const struct byte_reader *r)
{
	return r->at == r->end && !r->bad;
}

/* Returns true if RULE is a register plus an offset, and nothing else. */
static bool unwind_rows_x86_is_at_register(const struct cfi_rule *rule, unsigned number,
					   int64_t *ret_offset)
{
	struct byte_reader r = unwind_rows_x86_expression_of(rule);

	return unwind_rows_x86_expression_next_is_register(&r, number, ret_offset) &&
	       unwind_rows_x86_expression_ends(&r);
}

/* ---- the CFA ---- */

static uint32_t unwind_rows_x86_rule_with_offset(uint32_t kind, uint8_t bp, int64_t offset)
{
	if (kind == UNWIND_SP && offset % WORD == 0 && offset / WORD > INT16_MAX &&
	    offset / WORD <= UNWIND_SP_FAR_MAX)
		return UNWIND_SP_FAR_RULE(bp, (uint32_t)(offset / WORD));
	if (offset % WORD != 0 || offset / WORD > INT16_MAX || offset / WORD < INT16_MIN)
		return unwind_rows_x86_unsupported(UNWIND_WHY_OFFSET);
	return UNWIND_RULE(kind, bp, offset / WORD);
}

/*
 * Returns true if CFA is the expression that linkers write for a PLT: SP + 8 + (((IP & 15) >= N) <<
 * 3). An entry of the PLT pushes its number; the next instruction begins at byte N of the entry.
 */
static bool unwind_rows_x86_is_plt(const struct cfi_rule *cfa, uint8_t *ret_threshold)
{
	static const uint8_t behind[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };
	struct byte_reader r = unwind_rows_x86_expression_of(cfa);
	int64_t offset;
	uint8_t op;

	if (!unwind_rows_x86_expression_next_is_register(&r, X86_SP, &offset) || offset != WORD ||
	    !unwind_rows_x86_expression_next_is_register(&r, X86_RETURN, &offset) || offset != 0 ||
	    !unwind_rows_x86_expression_next_is(&r, DW_OP_lit15) ||
	    !unwind_rows_x86_expression_next_is(&r, DW_OP_and))
		return false;
	op = byte_reader_u8(&r);
	if (op < DW_OP_lit0 || op > DW_OP_lit15 || byte_reader_left(&r) != sizeof(behind) ||
	    memcmp(r.at, behind, sizeof(behind)) != 0)
		return false;
	*ret_threshold = (uint8_t)(op - DW_OP_lit0);
	return true;
}

/* Returns true if R is "plus 8", in one of its encodings, and nothing else. */
static bool unwind_rows_x86_is_plus_word(struct byte_reader r)
{
	if (unwind_rows_x86_expression_next_is(&r, DW_OP_plus_uconst))
		return byte_reader_uleb(&r) == WORD && unwind_rows_x86_expression_ends(&r);
	return unwind_rows_x86_expression_next_is(&r, DW_OP_lit8) &&
	       unwind_rows_x86_expression_next_is(&r, DW_OP_plus) &&
	       unwind_rows_x86_expression_ends(&r);
}

/* Returns the rule for a CFA that is a register plus an offset, a word on the stack, or such a word
 * plus 8. */
static uint32_t unwind_rows_x86_rule_of_expression(const struct cfi_rule *cfa, uint8_t bp)
{
	struct byte_reader r = unwind_rows_x86_expression_of(cfa);
	int64_t offset;
	bool is_bp = unwind_rows_x86_expression_next_is_register(&r, X86_BP, &offset);

	if (!is_bp && !unwind_rows_x86_expression_next_is_register(&r, X86_SP, &offset))
		return unwind_rows_x86_unsupported(UNWIND_WHY_EXPRESSION);
	if (unwind_rows_x86_expression_ends(&r))
		return unwind_rows_x86_rule_with_offset(is_bp ? UNWIND_BP : UNWIND_SP, bp, offset);
	if (!unwind_rows_x86_expression_next_is(&r, DW_OP_deref))
		return unwind_rows_x86_unsupported(UNWIND_WHY_EXPRESSION);
	if (unwind_rows_x86_expression_ends(&r))
		return unwind_rows_x86_rule_with_offset(is_bp ? UNWIND_BP_DEREF : UNWIND_SP_DEREF,
							bp, offset);
	if (!unwind_rows_x86_is_plus_word(r))
		return unwind_rows_x86_unsupported(UNWIND_WHY_EXPRESSION);
	return unwind_rows_x86_rule_with_offset(is_bp ? UNWIND_BP_DEREF_8 : UNWIND_SP_DEREF_8, bp,
						offset);
}

static uint32_t unwind_rows_x86_rule_of_cfa(const struct cfi_rule *cfa, uint8_t bp)
{
	uint8_t threshold;

	switch (cfa->kind) {
	case CFI_REGISTER:
		if (cfa->n >= UNWIND_REGISTERS)
			return unwind_rows_x86_unsupported(UNWIND_WHY_REGISTER);
		return unwind_rows_x86_rule_with_offset(cfa->n == X86_SP ? UNWIND_SP
							: cfa->n == X86_BP
								? UNWIND_BP
								: UNWIND_REGISTER((uint32_t)cfa->n),
							bp, cfa->offset);
	case CFI_VAL_EXPRESSION:
		if (unwind_rows_x86_is_plt(cfa, &threshold))
			return UNWIND_RULE(UNWIND_PLT, bp, threshold);
		return unwind_rows_x86_rule_of_expression(cfa, bp);
	}
	return unwind_rows_x86_unsupported(UNWIND_WHY_DAMAGED);
}

/* ---- registers ---- */

static bool unwind_rows_x86_is_saved_at(const struct cfi_rule *rule, int64_t offset)
{
	int64_t actual;

	return rule->kind == CFI_EXPRESSION &&
	       unwind_rows_x86_is_at_register(rule, X86_SP, &actual) && actual == offset;
}

/*
 * Returns true if the FDE describes a signal frame. The kernel has stored all registers in that
 * frame. The handler has returned, so SP is at the ucontext.
 */
static bool unwind_rows_x86_is_signal_frame(const struct cfi_cie *cie,
					    const struct cfi_state *state)
{
	struct byte_reader r = unwind_rows_x86_expression_of(&state->cfa);
	int64_t offset;

	return cie->is_signal_frame && state->cfa.kind == CFI_VAL_EXPRESSION &&
	       unwind_rows_x86_expression_next_is_register(&r, X86_SP, &offset) &&
	       offset == SIGNAL_SP && unwind_rows_x86_expression_next_is(&r, DW_OP_deref) &&
	       unwind_rows_x86_expression_ends(&r) &&
	       unwind_rows_x86_is_saved_at(&state->registers[X86_RETURN], SIGNAL_IP) &&
	       unwind_rows_x86_is_saved_at(&state->registers[X86_BP], SIGNAL_BP);
}

/*
 * Gets the offset from the CFA at which RULE saves a register. Returns false if RULE has another
 * form.
 */
static bool unwind_rows_x86_saved_below_cfa(const struct cfi_rule *rule, const struct cfi_rule *cfa,
					    int64_t *ret_offset)
{
	if (rule->kind == CFI_OFFSET) {
		*ret_offset = rule->offset;
		return true;
	}
	/* The offset can also be relative to the register of the CFA. */
	return rule->kind == CFI_EXPRESSION && cfa->kind == CFI_REGISTER &&
	       (cfa->n == X86_SP || cfa->n == X86_BP) &&
	       unwind_rows_x86_is_at_register(rule, cfa->n, ret_offset) &&
	       !__builtin_sub_overflow(*ret_offset, cfa->offset, ret_offset);
}

/*
 * Finds the place of the caller's BP, as rules express it. Returns false if a rule cannot express
 * it.
 */
static bool unwind_rows_x86_find_bp(const struct cfi_state *state, uint8_t *ret)
{
	const struct cfi_rule *rule = &state->registers[X86_BP];
	int64_t offset;

	if (rule->kind == CFI_UNSPECIFIED || rule->kind == CFI_SAME ||
	    rule->kind == CFI_UNDEFINED) {
		*ret = UNWIND_BP_SAME;
		return true;
	}
	if (rule->kind == CFI_EXPRESSION && unwind_rows_x86_is_at_register(rule, X86_BP, &offset) &&
	    offset == 0) {
		*ret = UNWIND_BP_AT_BP;
		return true;
	}
	if (!unwind_rows_x86_saved_below_cfa(rule, &state->cfa, &offset) || offset % WORD != 0 ||
	    offset >= 0 || offset / WORD < -BP_WORDS_MAX)
		return false;
	*ret = (uint8_t)(-offset / WORD);
	return true;
}

/* Returns true if the caller's SP is the CFA, as in all frames except signal frames. */
static bool unwind_rows_x86_sp_is_cfa(const struct cfi_rule *sp)
{
	return sp->kind == CFI_UNSPECIFIED || (sp->kind == CFI_VAL_OFFSET && sp->offset == 0);
}

static bool unwind_rows_x86_returns_below_cfa(const struct cfi_state *state)
{
	int64_t offset;

	return unwind_rows_x86_saved_below_cfa(&state->registers[X86_RETURN], &state->cfa,
					       &offset) &&
	       offset == -WORD;
}

/* Returns true if the return address is in a register, and the CFA is relative to SP. */
static bool unwind_rows_x86_returns_in_register(const struct cfi_state *state)
{
	const struct cfi_rule *rule = &state->registers[X86_RETURN];

	return rule->kind == CFI_REGISTER && rule->n < UNWIND_REGISTERS && rule->n != X86_BP &&
	       rule->n != X86_SP && state->cfa.kind == CFI_REGISTER && state->cfa.n == X86_SP;
}

uint32_t unwind_rule_x86(const struct cfi_cie *cie, const struct cfi_state *state)
{
	uint8_t bp;

	if (cie->return_register != X86_RETURN)
		return unwind_rows_x86_unsupported(UNWIND_WHY_RETURN);
	if (state->registers[X86_RETURN].kind == CFI_UNDEFINED)
		return UNWIND_RULE(UNWIND_END, 0, 0);
	if (unwind_rows_x86_is_signal_frame(cie, state))
		return UNWIND_RULE(UNWIND_SIGNAL, 0, 0);
	if (state->cfa.kind == CFI_UNSPECIFIED)
		return unwind_rows_x86_unsupported(UNWIND_WHY_DAMAGED);
	if (!unwind_rows_x86_sp_is_cfa(&state->registers[X86_SP]) ||
	    (!unwind_rows_x86_returns_below_cfa(state) &&
	     !unwind_rows_x86_returns_in_register(state)))
		return unwind_rows_x86_unsupported(UNWIND_WHY_RETURN);
	if (!unwind_rows_x86_find_bp(state, &bp))
		return unwind_rows_x86_unsupported(UNWIND_WHY_BP);
	if (unwind_rows_x86_returns_in_register(state))
		return unwind_rows_x86_rule_with_offset(
			UNWIND_RETURN_IN(state->registers[X86_RETURN].n), bp, state->cfa.offset);
	return unwind_rows_x86_rule_of_cfa(&state->cfa, bp);
}
