/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which registers can have an address of the function's own stack: values of its stack pointer,
 * words of its stack, and copies of both. These registers are followed along the branches of the
 * function.
 */
#pragma once

#include "capture/probes/elf-image.h"
#include "capture/probes/instruction.h"

/* Registers have their numbers in machine code. A set of registers has a bit for each number. */
struct stack_flow_step {
	uint32_t at;     /* the offset of the instruction in the code */
	uint32_t target; /* the step to which it can jump; STACK_FLOW_NONE = not in this code */
	/* Registers that can have an address of the function's own stack before the instruction. */
	uint16_t own;
	uint16_t written; /* registers to which the instruction gives another value */
	uint16_t kept;    /* if it is a call: registers that the called function does not write */
	uint8_t kind;     /* enum instruction_kind */
	bool is_read;     /* the called function was read */
	bool is_computed; /* the target of the jump is not in the instruction */
	bool is_target;   /* a jump of this code leads to the instruction */
	bool is_padding;  /* does nothing: it can be between two parts of the code */
	struct instruction_stack stack;
	/* If it is a call: the address of the function; 0 = not in the instruction. */
	uint64_t callee;
};

#define STACK_FLOW_NONE UINT32_MAX

struct stack_flow {
	const struct elf_image *image;     /* borrowed */
	struct disassembler *disassembler; /* borrowed */
	const uint64_t *starts;            /* starts of functions; sorted, borrowed */
	size_t n_starts;
	/* Instructions of the code that was read last; sorted by offset. */
	struct stack_flow_step *steps;
	size_t n, room;
	uint16_t begin; /* registers that can have an address of the own stack at the beginning */
	bool reads_callees;
	size_t n_read; /* number of bytes of called functions that were read */
	/*
	 * Registers that can have an address of the own stack at places to which no known jump
	 * leads.
	 */
	uint16_t loose;
};

/*
 * Reads the N bytes of code at P, which are loaded at VADDR. IS_BEGIN says that a function is known
 * to begin there, or a part of a function that the compiler has moved away. Returns 0 or -ENOMEM.
 */
int stack_flow_read(struct stack_flow *f, const uint8_t *p, size_t n, uint64_t vaddr,
		    bool is_begin);

/*
 * Follows the code again, and also reads the called functions to find out which registers they
 * write. This takes long, because at most calls, an address of the stack is in a register.
 */
void stack_flow_read_callees(struct stack_flow *f);

void stack_flow_deinit(struct stack_flow *f);

/* Returns the number of known functions that begin at or before VADDR. */
size_t stack_flow_count_before(const struct stack_flow *f, uint64_t vaddr);
