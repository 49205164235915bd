/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machine code of x86-64, one instruction at a time, with the details that the placement of probes
 * requires. It uses Capstone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct disassembler;

/* Returns 0, -ENOMEM, or -EOPNOTSUPP if the library was built without x86. */
int disassembler_new(struct disassembler **ret);
struct disassembler *disassembler_free(struct disassembler *d);
DEFINE_CLEANUP(struct disassembler *, disassembler_free)

enum instruction_kind {
	INSTRUCTION_PLAIN,  /* the next instruction follows */
	INSTRUCTION_BRANCH, /* the next instruction or `target` follows */
	INSTRUCTION_JUMP,   /* `target` follows */
	INSTRUCTION_CALL,   /* the next instruction follows, after the called function */
	INSTRUCTION_RETURN,
	INSTRUCTION_END, /* nothing follows: a trap */
};

/* The use of the stack pointer by an instruction. Registers have their numbers in machine code. */
struct instruction_stack {
	bool aligns;      /* rounds it down */
	bool is_loaded;   /* it is given a value, other than by push, pop, leave, call and sums */
	bool is_popped;   /* ... by pop */
	bool from_memory; /* ... which is in memory */
	bool is_stored;   /* it is copied to memory, other than by push */
	bool uses_frame;  /* uses memory below the frame pointer */
	int8_t from;      /* ... in, or at an address in, this register; -1 = none */
	int8_t saved_to;  /* the register that it is copied to; -1 = none */
	int8_t restores;  /* the register that gets a word of the stack, or ... ; -1 = none */
	int8_t copy_of;   /* ... a copy of this register; -1 = none */
};

/* How an instruction computes an address for a jump. Registers as above; -1 = none. */
struct instruction_sum {
	int8_t address_to; /* gets `address` of the instruction */
	int8_t to, of;     /* `of` is added to `to` */
	int8_t jump;       /* the jump leads to the address in this register */
	int8_t loses;      /* gets no sum with its earlier value: cmov, and, sub */
};

struct instruction {
	size_t length; /* bytes */
	enum instruction_kind kind;
	uint64_t target; /* target of a branch, jump or call; 0 = not in the instruction */
	/* Of jump and call: the address of the word that holds the target; 0 = none */
	uint64_t slot;
	uint64_t address; /* an address that it computes relative to itself; 0 = none */
	/*
	 * Of mov and jump: the offset of the word that a register gets, or that holds the target,
	 * from the address in another register; 0 = none
	 */
	uint32_t word_at;
	bool emulated; /* the kernel emulates it under a probe, which is cheap */
	/* Writes the stack pointer or one of the first four argument registers */
	bool disturbs;
	bool writes_result;   /* writes rax, or a part of it */
	bool refused;         /* the kernel sets no probe on it, because of a prefix */
	bool moves_stack;     /* writes the stack pointer */
	bool switches_stack;  /* writes the stack pointer with a value for another stack */
	bool reads_stack_top; /* reads the word at the stack pointer */
	/* General registers that get another value than a sum with it: a bit for each number */
	uint16_t written;
	struct instruction_stack stack;
	struct instruction_sum sum;
};

/* Decodes the instruction at P, of N bytes, which is loaded at ADDRESS. False if it is invalid. */
bool disassembler_read(struct disassembler *d, const uint8_t *p, size_t n, uint64_t address,
		       struct instruction *ret);
