/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machine code of x86-64, one instruction at a time, with the details that the placement of probes
 * requires. This module uses Capstone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct disassembler;

/*
 * Loads Capstone, so that a sandboxed child, which cannot open files, has it. Returns 0, or -ENOPKG
 * if the library is missing or damaged.
 */
int disassembler_load(void);

/* Says what to do about -ENOPKG. */
const char *disassembler_missing(void);

/*
 * Returns 0, -ENOMEM, -ENOPKG like disassembler_load(), or -EOPNOTSUPP if the library was built
 * without x86.
 */
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
	bool aligns; /* rounds the stack pointer down */
	/* Sets the stack pointer, in another way than push, pop, leave, call and sums. */
	bool is_loaded;
	bool is_popped;   /* is_loaded: by pop */
	bool from_memory; /* is_loaded: with a value from memory */
	bool is_stored;   /* copies the stack pointer to memory, in another way than push */
	bool uses_frame;  /* uses memory below the frame pointer */
	/* is_loaded: the register that has the value, or its address; -1 = no register. */
	int8_t from;
	int8_t saved_to; /* the register to which the stack pointer is copied; -1 = no register */
	/* The register that gets a word of the stack, or a copy; -1 = no register. */
	int8_t restores;
	int8_t copy_of; /* the register whose copy `restores` gets; -1 = no register */
};

/*
 * How an instruction computes an address for a jump. Registers have their numbers in machine code;
 * -1 = no register.
 */
struct instruction_sum {
	int8_t address_to; /* the register that gets `address` of the instruction */
	int8_t to, of;     /* register `of` is added to register `to` */
	int8_t jump;       /* the jump leads to the address in this register */
	/* The register whose new value is no sum with its earlier value: cmov, and, sub. */
	int8_t loses;
};

struct instruction {
	size_t length; /* bytes */
	enum instruction_kind kind;
	uint64_t target; /* target of a branch, jump or call; 0 = not in the instruction */
	/* For a jump and a call: the address of the word that holds the target; 0 = no such word */
	uint64_t slot;
	/* An address that the instruction computes relative to itself; 0 = none. */
	uint64_t address;
	/*
	 * For mov and jump: the word that the register gets, or that holds the target, is this far
	 * from the address in another register; 0 = no such word
	 */
	uint32_t word_at;
	bool emulated; /* under a probe, the kernel emulates it, which is cheap */
	/* Writes the stack pointer or one of the first four argument registers */
	bool disturbs;
	bool writes_result;   /* writes rax, or a part of it */
	bool refused;         /* the kernel sets no probe on it, because of a prefix */
	bool moves_stack;     /* writes the stack pointer */
	bool switches_stack;  /* writes an address of another stack to the stack pointer */
	bool reads_stack_top; /* reads the word at the stack pointer */
	/*
	 * General registers whose new value is no sum with their earlier value: a bit for each
	 * number
	 */
	uint16_t written;
	struct instruction_stack stack;
	struct instruction_sum sum;
};

/*
 * Decodes the instruction at P, where there are N bytes of code. The instruction is loaded at
 * ADDRESS. Returns false if the instruction is invalid.
 */
bool disassembler_read(struct disassembler *d, const uint8_t *p, size_t n, uint64_t address,
		       struct instruction *ret);
