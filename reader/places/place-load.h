/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A load: a read of a register or of memory that needs no DWARF.
 *
 * The address of a load is computed in these steps:
 *
 *	address = base                                (of PLACE_REGISTER, PLACE_IMAGE or PLACE_ZERO)
 *	address += offset + register INDEX * scale
 *	for each of n_steps: address = *(uint64_t *)address + steps[i]
 *
 * Then BYTES are read at the address. If is_value is set, nothing is read: the value is the low
 * bytes of the address itself (a variable in a register, a constant). All sums are modulo 2^64.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	PLACE_STEPS_MAX = 4,
	PLACE_LOADS_MAX = 8, /* maximum number of loads of one variable */
	/* Maximum number of bytes of a load, and of all loads of a variable together. */
	PLACE_LOAD_BYTES_MAX = 1 << 16,
	PLACE_REGISTERS = 17, /* general registers, and the instruction pointer */
};

enum place_base {
	PLACE_ZERO,
	PLACE_REGISTER, /* the content of REG */
	PLACE_IMAGE,    /* address in memory minus address in the file (load bias) */
	PLACE_BASE_MAX,
};

/* Register numbers are those of DWARF for x86-64: rax rdx rcx rbx rsi rdi rbp rsp r8 to r15 rip. */
struct place_load {
	uint8_t base;  /* enum place_base */
	uint8_t reg;   /* register of PLACE_REGISTER, below PLACE_REGISTERS */
	uint8_t index; /* register, below PLACE_REGISTERS */
	uint8_t scale; /* 1, 2, 4 or 8; 0 = there is no index register */
	uint8_t n_steps;
	bool is_value; /* the value is the low bytes (at most 8) of the address */
	/*
	 * The memory is a string, which ends with a NUL or after BYTES. Such a load is always the
	 * last one of its variable. If the string is unreadable, the variable has the bytes of the
	 * other loads.
	 */
	bool is_string;
	uint32_t bytes;
	int64_t offset;
	int64_t steps[PLACE_STEPS_MAX];
};
