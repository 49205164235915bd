/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which registers can have an address of the function's own stack: values of its stack pointer,
 * words of its stack, and copies of both. They are followed along the branches of the function.
 */
#pragma once

#include "capture/probes/elf-image.h"
#include "capture/probes/instruction.h"

/* Registers have their numbers in machine code, in sets a bit for each. */
struct stack_flow_step {
	uint32_t at;      /* the offset of the instruction in the code */
	uint32_t target;  /* the step to which it can jump; STACK_FLOW_NONE = not in this code */
	uint16_t own;     /* registers with such an address before it */
	uint16_t written; /* registers that it gives another value */
	uint16_t kept;    /* for a call: registers that the called function does not write */
	uint8_t kind;     /* enum instruction_kind */
	bool is_read;     /* the called function was read */
	bool is_computed; /* its target is not in the instruction */
	bool is_target;   /* a jump of this code leads to it */
	bool is_padding;  /* does nothing: it can be between two parts of the code */
	struct instruction_stack stack;
	uint64_t callee; /* for a call: the address of the function; 0 = not in the instruction */
};

#define STACK_FLOW_NONE UINT32_MAX

struct stack_flow {
	const struct elf_image *image;     /* borrowed */
	struct disassembler *disassembler; /* borrowed */
	const uint64_t *starts;            /* starts of functions; sorted, borrowed */
	size_t n_starts;
	struct stack_flow_step *steps; /* steps of the code that was read last; sorted by offset */
	size_t n, room;
	uint16_t begin; /* registers with such an address at the beginning */
	bool reads_callees;
	size_t n_read;  /* bytes of called functions */
	uint16_t loose; /* registers with such an address where no known jump leads */
};

/*
 * Reads the N bytes of code at P, which are loaded at VADDR. IS_BEGIN: a function, or a part of one
 * that the compiler has moved away, is known to begin there. Returns 0 or -ENOMEM.
 */
int stack_flow_read(struct stack_flow *f, const uint8_t *p, size_t n, uint64_t vaddr,
		    bool is_begin);

/*
 * Follows the code again, and reads which registers the functions write that it calls. (Most calls
 * have an address of the stack in a register: this takes long.)
 */
void stack_flow_read_callees(struct stack_flow *f);

void stack_flow_deinit(struct stack_flow *f);

/* The number of known functions that begin at or before VADDR. */
size_t stack_flow_count_before(const struct stack_flow *f, uint64_t vaddr);
