/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/instruction.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "capture/probes/capstone-library.h"

/* rcx and r11 */
enum { WRITTEN_BY_SYSCALL = 1 << 1 | 1 << 11 };

struct disassembler {
	struct capstone_library capstone;
	csh handle;
	cs_insn *insn; /* the space for one instruction, used again for each */
};

int disassembler_load(void)
{
	struct capstone_library capstone;

	return capstone_library_load(&capstone);
}

const char *disassembler_missing(void)
{
	return CAPSTONE_SONAME " is missing or damaged; install the package " CAPSTONE_PACKAGE;
}

int disassembler_new(struct disassembler **ret)
{
	_cleanup_(disassembler_freep) struct disassembler *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	if (capstone_library_load(&d->capstone) < 0)
		return -ENOPKG;
	switch (d->capstone.open(CS_ARCH_X86, CS_MODE_64, &d->handle)) {
	case CS_ERR_OK:
		break;
	case CS_ERR_MEM:
		return -ENOMEM;
	default:
		return -EOPNOTSUPP;
	}
	if (d->capstone.option(d->handle, CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK)
		return -EOPNOTSUPP;
	d->insn = d->capstone.malloc(d->handle);
	if (!d->insn)
		return -ENOMEM;
	*ret = TAKE_PTR(d);
	return 0;
}

struct disassembler *disassembler_free(struct disassembler *d)
{
	if (!d)
		return NULL;
	if (d->insn)
		d->capstone.free(d->insn, 1);
	if (d->handle)
		d->capstone.close(&d->handle);
	return free_ptr(d);
}

/*
 * Returns true if arch/x86/kernel/uprobes.c emulates the instruction, since 4.20 at the latest:
 * push of a 64-bit register, nop, and jumps and calls of all widths that x86-64 has. If the
 * instruction has prefixes, the kernel refuses the probe or single-steps it, so only forms without
 * prefixes count. Longer nops are emulated only since 6.18.
 */
static bool instruction_is_emulated(const uint8_t *p, size_t n)
{
	if (n == 2 && p[0] == 0x41) /* REX.B */
		return p[1] >= 0x50 && p[1] <= 0x57;
	if (n == 1)
		return (p[0] >= 0x50 && p[0] <= 0x57) || p[0] == 0x90;
	if (n == 2)
		return (p[0] >= 0x70 && p[0] <= 0x7f) || p[0] == 0xeb;
	if (n == 5)
		return p[0] == 0xe8 || p[0] == 0xe9;
	return n == 6 && p[0] == 0x0f && p[1] >= 0x80 && p[1] <= 0x8f;
}

/*
 * Returns true if the N bytes at P begin with prefixes that arch/x86/kernel/uprobes.c refuses: lock
 * or a segment, also if other prefixes come first. (The kernel accepts fs and gs.)
 */
static bool instruction_is_refused(const uint8_t *p, size_t n)
{
	static const uint8_t refused[] = { 0xf0, 0x26, 0x2e, 0x36, 0x3e };
	static const uint8_t others[] = { 0xf2, 0xf3, 0x64, 0x65, 0x66, 0x67 };

	for (size_t i = 0; i < n; i++) {
		if (memchr(refused, p[i], sizeof(refused)))
			return true;
		if (!memchr(others, p[i], sizeof(others)))
			return false;
	}
	return false;
}

static bool instruction_is_kept(uint16_t reg)
{
	switch (reg) {
	case X86_REG_RSP:
	case X86_REG_ESP:
	case X86_REG_SP:
	case X86_REG_SPL:
	case X86_REG_RDI:
	case X86_REG_EDI:
	case X86_REG_DI:
	case X86_REG_DIL:
	case X86_REG_RSI:
	case X86_REG_ESI:
	case X86_REG_SI:
	case X86_REG_SIL:
	case X86_REG_RDX:
	case X86_REG_EDX:
	case X86_REG_DX:
	case X86_REG_DL:
	case X86_REG_DH:
	case X86_REG_RCX:
	case X86_REG_ECX:
	case X86_REG_CX:
	case X86_REG_CL:
	case X86_REG_CH:
		return true;
	default:
		return false;
	}
}

/*
 * Returns the number in machine code of the general register of which REG is a part; -1 = REG is no
 * part of such a register.
 */
static int instruction_whole_register(x86_reg reg)
{
	static const uint16_t low[][5] = {
		{ X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH },
		{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH },
		{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH },
		{ X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH },
		{ X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL },
		{ X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL },
		{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL },
		{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL },
	};
	static const uint16_t high[] = { X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B };

	for (size_t i = 0; i < ARRAY_SIZE(low); i++)
		for (size_t k = 0; k < ARRAY_SIZE(low[i]); k++)
			if (low[i][k] && low[i][k] == reg)
				return (int)i;
	for (size_t k = 0; k < ARRAY_SIZE(high); k++)
		if (reg >= high[k] && (unsigned)reg < high[k] + 8U)
			return (int)ARRAY_SIZE(low) + (int)(reg - high[k]);
	return -1;
}

/*
 * Returns true if the new value of a written register still contains its old value, which can be an
 * address.
 */
static bool instruction_is_sum(const struct disassembler *d)
{
	switch (d->insn->id) {
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_AND:
	case X86_INS_INC:
	case X86_INS_DEC:
		return true;
	default:
		return strncmp(d->insn->mnemonic, "cmov", strlen("cmov")) == 0;
	}
}

static void instruction_note_written(const struct disassembler *d, struct instruction *i)
{
	cs_regs read, written;
	uint8_t n_read, n_written;

	if (d->capstone.regs_access(d->handle, d->insn, read, &n_read, written, &n_written) !=
	    CS_ERR_OK) {
		i->disturbs = i->moves_stack = i->writes_result = true;
		return;
	}
	/*
	 * A system call must not precede a probe, since it changes registers. Capstone does not
	 * report that a system call writes rcx.
	 */
	i->disturbs = i->writes_result = d->insn->id == X86_INS_SYSCALL;
	if (d->insn->id == X86_INS_SYSCALL)
		i->written |= WRITTEN_BY_SYSCALL;
	for (unsigned k = 0; k < n_written; k++) {
		int whole = instruction_whole_register(written[k]);

		i->disturbs |= instruction_is_kept(written[k]);
		i->writes_result |= whole == 0;
		if (whole >= 0 && !instruction_is_sum(d))
			i->written |= (uint16_t)(1U << whole);
		i->moves_stack |= written[k] == X86_REG_RSP;
	}
}

static bool instruction_is_rsp(const cs_x86_op *op)
{
	return op->type == X86_OP_REG && op->reg == X86_REG_RSP;
}

/*
 * Returns true if the instruction can switch to another stack. A function restores its own stack
 * pointer from rbp or with lea, so these do not count.
 */
static bool instruction_switches_stack(const struct disassembler *d)
{
	const cs_x86 *x86 = &d->insn->detail->x86;
	const cs_x86_op *to = &x86->operands[0], *from = &x86->operands[1];

	switch (d->insn->id) {
	case X86_INS_MOV:
		return instruction_is_rsp(to) &&
		       !(from->type == X86_OP_REG && from->reg == X86_REG_RBP);
	case X86_INS_XCHG:
		return instruction_is_rsp(to) || instruction_is_rsp(from);
	case X86_INS_POP:
		return instruction_is_rsp(to);
	default:
		return false;
	}
}

/* Returns the number of REG in machine code; -1 = REG is no general register of 64 bits. */
static int8_t instruction_register(x86_reg reg)
{
	static const uint16_t registers[] = {
		X86_REG_RAX, X86_REG_RCX, X86_REG_RDX, X86_REG_RBX, X86_REG_RSP, X86_REG_RBP,
		X86_REG_RSI, X86_REG_RDI, X86_REG_R8,  X86_REG_R9,  X86_REG_R10, X86_REG_R11,
		X86_REG_R12, X86_REG_R13, X86_REG_R14, X86_REG_R15,
	};

	for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
		if (registers[i] == reg)
			return (int8_t)i;
	return -1;
}

static void instruction_set_loaded(struct instruction_stack *to, const cs_x86_op *from)
{
	if (from->type == X86_OP_IMM)
		return;
	to->is_loaded = true;
	to->from_memory = from->type == X86_OP_MEM;
	to->from = instruction_register(to->from_memory ? from->mem.base : from->reg);
}

/*
 * Returns true if a lea sets the stack pointer in an ordinary way: to a sum with its old value or
 * with the frame pointer, or with r10, r11 or r13. Functions that gcc compiles to align their
 * stack, and libffi, keep an address of their stack in one of these registers, and end with such a
 * lea.
 */
static bool instruction_is_ordinary_lea(const cs_x86_op *from)
{
	x86_reg base = from->mem.base;

	return from->mem.index == X86_REG_RBP || base == X86_REG_RSP || base == X86_REG_RBP ||
	       base == X86_REG_R10 || base == X86_REG_R11 ||
	       (base == X86_REG_R13 && from->mem.disp == -8);
}

static void instruction_note_lea(struct instruction_stack *i, const cs_x86_op *to,
				 const cs_x86_op *from)
{
	if (!instruction_is_rsp(to)) {
		if (from->mem.base == X86_REG_RSP)
			i->saved_to = instruction_register(to->reg);
		else
			i->restores = instruction_register(to->reg);
		if (from->mem.base != X86_REG_RBP)
			i->copy_of = instruction_register(from->mem.base);
		if (from->mem.base != X86_REG_RBP && i->copy_of < 0)
			i->restores = -1;
		return;
	}
	if (instruction_is_ordinary_lea(from))
		return;
	instruction_set_loaded(i, from);
	i->from_memory = false;
}

static bool instruction_is_of_stack(const cs_x86_op *op)
{
	return op->type == X86_OP_MEM &&
	       (op->mem.base == X86_REG_RSP || op->mem.base == X86_REG_RBP);
}

static void instruction_note_mov(struct instruction_stack *i, const cs_x86_op *to,
				 const cs_x86_op *from)
{
	bool is_frame = from->type == X86_OP_REG && from->reg == X86_REG_RBP;

	if (instruction_is_rsp(from)) {
		i->is_stored = to->type == X86_OP_MEM;
		i->saved_to = i->is_stored ? -1 : instruction_register(to->reg);
	} else if (instruction_is_rsp(to)) {
		if (!is_frame)
			instruction_set_loaded(i, from);
	} else if (to->type == X86_OP_REG) {
		i->copy_of = from->type == X86_OP_REG ? instruction_register(from->reg) : -1;
		if (i->copy_of >= 0 || instruction_is_of_stack(from))
			i->restores = instruction_register(to->reg);
	}
}

static bool instruction_uses_frame(const cs_x86 *x86)
{
	for (unsigned k = 0; k < x86->op_count; k++)
		if (x86->operands[k].type == X86_OP_MEM &&
		    x86->operands[k].mem.base == X86_REG_RBP && x86->operands[k].mem.disp < 0)
			return true;
	return false;
}

static struct instruction_stack instruction_stack_of(const struct disassembler *d)
{
	const cs_x86 *x86 = &d->insn->detail->x86;
	const cs_x86_op *to = &x86->operands[0], *from = &x86->operands[1];
	struct instruction_stack i = { .from = -1, .saved_to = -1, .restores = -1, .copy_of = -1 };

	switch (d->insn->id) {
	case X86_INS_MOV:
		instruction_note_mov(&i, to, from);
		break;
	case X86_INS_LEA:
		instruction_note_lea(&i, to, from);
		break;
	case X86_INS_XCHG:
		if (instruction_is_rsp(to) || instruction_is_rsp(from))
			instruction_set_loaded(&i, instruction_is_rsp(to) ? from : to);
		break;
	case X86_INS_POP:
		i.is_loaded = i.is_popped = instruction_is_rsp(to);
		break;
	case X86_INS_ADD:
		if (instruction_is_rsp(from) && to->type == X86_OP_REG)
			i.saved_to = instruction_register(to->reg);
		break;
	case X86_INS_AND:
		i.aligns = instruction_is_rsp(to);
		break;
	default:
		break;
	}
	i.uses_frame = instruction_uses_frame(x86);
	return i;
}

static bool instruction_reads_stack_top(const struct disassembler *d)
{
	const cs_x86_op *from = &d->insn->detail->x86.operands[1];

	return d->insn->id == X86_INS_MOV && from->type == X86_OP_MEM &&
	       from->mem.base == X86_REG_RSP && from->mem.index == X86_REG_INVALID &&
	       from->mem.disp == 0;
}

static enum instruction_kind instruction_kind_of(const struct disassembler *d)
{
	switch (d->insn->id) {
	case X86_INS_JMP:
	case X86_INS_LJMP:
		return INSTRUCTION_JUMP;
	case X86_INS_CALL:
	case X86_INS_LCALL:
		return INSTRUCTION_CALL;
	case X86_INS_RET:
		return INSTRUCTION_RETURN;
	case X86_INS_HLT:
	case X86_INS_UD2:
	case X86_INS_INT3:
	case X86_INS_RETF:
	case X86_INS_RETFQ:
	case X86_INS_IRET:
	case X86_INS_IRETD:
	case X86_INS_IRETQ:
		return INSTRUCTION_END;
	default:
		return d->capstone.insn_group(d->handle, d->insn, CS_GRP_JUMP) ? INSTRUCTION_BRANCH
									       : INSTRUCTION_PLAIN;
	}
}

/*
 * Returns the length of an operand in memory or in a register, from ModRM on, with its
 * displacement.
 */
static size_t instruction_operand_bytes(const uint8_t *p, size_t n)
{
	uint8_t mod = n > 0 ? p[0] >> 6 : 0, rm = n > 0 ? p[0] & 7 : 0;
	bool has_sib = mod != 3 && rm == 4;
	bool has_no_base = mod == 0 && (rm == 5 || (has_sib && n > 1 && (p[1] & 7) == 5));

	return 1 + has_sib + (mod == 1 ? 1 : mod == 2 || has_no_base ? 4 : 0);
}

/*
 * Returns the length of an instruction with a VEX or EVEX prefix, by Intel's manual; 0 = the
 * instruction has no such prefix. These are vector instructions, which never jump. Capstone does
 * not know all of them.
 */
static size_t instruction_vector_bytes(const uint8_t *p, size_t n)
{
	size_t at = n < 4 ? 0 : p[0] == 0xc5 ? 2 : p[0] == 0xc4 ? 3 : p[0] == 0x62 ? 4 : 0;
	uint8_t map = at == 2 ? 1 : at > 2 ? p[1] & (at == 3 ? 0x1f : 7) : 0, opcode;
	bool has_byte;

	if (map == 0 || map == 4 || map > (at == 4 ? 6 : 3) || at + 2 > n)
		return 0;
	opcode = p[at];
	has_byte = map == 3 || (map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
					     (opcode >= 0xc4 && opcode <= 0xc6)));
	at += 1 + instruction_operand_bytes(p + at + 1, n - at - 1) + has_byte;
	return at <= n ? at : 0;
}

/* Reads an instruction that Capstone does not know. The registers that it writes are unknown. */
static bool instruction_read_vector(const uint8_t *p, size_t n, struct instruction *ret)
{
	*ret = (struct instruction){
		.length = instruction_vector_bytes(p, n),
		.kind = INSTRUCTION_PLAIN,
		.disturbs = true,
		.writes_result = true,
		.moves_stack = true,
		.stack = { .from = -1, .saved_to = -1, .restores = -1, .copy_of = -1 },
		.sum = { -1, -1, -1, -1, -1 },
	};
	return ret->length > 0;
}

static struct instruction_sum instruction_sum_of(const struct disassembler *d)
{
	const cs_x86 *x86 = &d->insn->detail->x86;
	const cs_x86_op *to = &x86->operands[0], *from = &x86->operands[1];
	struct instruction_sum sum = { -1, -1, -1, -1, -1 };

	if (x86->op_count == 0 || to->type != X86_OP_REG)
		return sum;
	if (d->insn->id == X86_INS_LEA)
		sum.address_to = instruction_register(to->reg);
	else if (d->insn->id == X86_INS_JMP)
		sum.jump = instruction_register(to->reg);
	else if (d->insn->id == X86_INS_ADD && from->type == X86_OP_REG)
		sum = (struct instruction_sum){ -1, instruction_register(to->reg),
						instruction_register(from->reg), -1, -1 };
	else if (instruction_is_sum(d) && d->insn->id != X86_INS_ADD &&
		 d->insn->id != X86_INS_INC && d->insn->id != X86_INS_DEC)
		sum.loses = (int8_t)instruction_whole_register(to->reg);
	return sum;
}

static uint32_t instruction_word_at(const struct disassembler *d)
{
	const cs_x86 *x86 = &d->insn->detail->x86;
	const cs_x86_op *to = &x86->operands[0], *from = &x86->operands[1];

	if (d->insn->id == X86_INS_JMP)
		from = to;
	else if (d->insn->id != X86_INS_MOV || to->type != X86_OP_REG)
		return 0;
	if (from->type != X86_OP_MEM || from->size != sizeof(uint64_t) ||
	    instruction_register(from->mem.base) < 0 || from->mem.index != X86_REG_INVALID ||
	    from->mem.segment != X86_REG_INVALID || from->mem.disp <= 0 ||
	    from->mem.disp > INT32_MAX)
		return 0;
	return (uint32_t)from->mem.disp;
}

bool disassembler_read(struct disassembler *d, const uint8_t *p, size_t n, uint64_t address,
		       struct instruction *ret)
{
	const uint8_t *at = p;
	uint64_t next = address;
	size_t left = n;
	const cs_x86 *x86;

	if (!d->capstone.disasm_iter(d->handle, &at, &left, &next, d->insn))
		return instruction_read_vector(p, n, ret);
	x86 = &d->insn->detail->x86;
	*ret = (struct instruction){
		.length = d->insn->size,
		.kind = instruction_kind_of(d),
		.emulated = instruction_is_emulated(p, d->insn->size),
		.refused = instruction_is_refused(p, d->insn->size),
		.switches_stack = instruction_switches_stack(d),
		.reads_stack_top = instruction_reads_stack_top(d),
		.word_at = instruction_word_at(d),
		.stack = instruction_stack_of(d),
		.sum = instruction_sum_of(d),
	};
	instruction_note_written(d, ret);
	if (x86->op_count == 1 &&
	    (ret->kind == INSTRUCTION_BRANCH || ret->kind == INSTRUCTION_JUMP ||
	     ret->kind == INSTRUCTION_CALL)) {
		const cs_x86_op *op = &x86->operands[0];

		if (op->type == X86_OP_IMM)
			ret->target = (uint64_t)op->imm;
		else if (op->type == X86_OP_MEM && op->mem.base == X86_REG_RIP &&
			 op->mem.index == X86_REG_INVALID && op->mem.segment == X86_REG_INVALID)
			ret->slot = next + (uint64_t)op->mem.disp;
	}
	if (d->insn->id == X86_INS_LEA && x86->op_count == 2 &&
	    x86->operands[1].mem.base == X86_REG_RIP &&
	    x86->operands[1].mem.index == X86_REG_INVALID)
		ret->address = next + (uint64_t)x86->operands[1].mem.disp;
	return true;
}
