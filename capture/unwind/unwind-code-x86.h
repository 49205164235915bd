/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine code of x86-64, as far as it concerns the frames of functions: the length of each
 * instruction, its successors, and its effect on the stack pointer and the frame pointer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum code_kind {
	CODE_PLAIN,   /* the next instruction follows */
	CODE_BRANCH,  /* the next instruction or `target` follows */
	CODE_JUMP,    /* `target` follows */
	CODE_GO,      /* an instruction follows whose address is in a register or in memory */
	CODE_CALL,    /* the next instruction follows, after the function at `target` */
	CODE_CALL_BY, /* likewise, after a function whose address is in a register or in memory */
	CODE_RETURN,
	CODE_END, /* nothing follows: a trap */
};

/* The effect on the stack pointer (SP) and the frame pointer (BP). `n` is a number of bytes. */
enum code_effect {
	CODE_NONE,
	CODE_MOVE_SP,       /* SP += n; push has -8 */
	CODE_PUSH_BP,       /* SP -= 8; BP is stored there */
	CODE_POP_BP,        /* BP is loaded from SP; SP += 8 */
	CODE_STORE_BP,      /* BP is stored at SP + n */
	CODE_LOAD_BP,       /* BP is loaded from SP + n */
	CODE_LOAD_BP_AT_BP, /* BP is loaded from BP + n */
	CODE_BP_FROM_SP,    /* BP = SP + n */
	CODE_SP_FROM_BP,    /* SP = BP + n */
	CODE_LEAVE,         /* SP = BP; then as CODE_POP_BP */
	CODE_LOSE_SP,       /* SP gets a value that is not known */
	CODE_LOSE_BP,       /* BP gets a value that is not known */
	CODE_LOSE_BOTH,     /* SP and BP get values that are not known */
};

struct code_instruction {
	uint8_t length;  /* bytes */
	uint8_t kind;    /* enum code_kind */
	uint8_t effect;  /* enum code_effect */
	bool is_padding; /* does nothing: nop and int3, between functions */
	bool is_syscall;
	bool has_slot;   /* the operand is the word at `slot` */
	int32_t n;       /* of the effect */
	int32_t number;  /* the constant that the instruction loads into eax; -1 = none */
	uint64_t target; /* of a jump, branch or call */
	uint64_t slot;
};

/*
 * Decodes the instruction at P, where there are N bytes of code. The instruction is loaded at
 * ADDRESS. Returns false if the instruction is invalid, or unknown here.
 */
bool code_x86_read(const uint8_t *p, size_t n, uint64_t address, struct code_instruction *ret);
