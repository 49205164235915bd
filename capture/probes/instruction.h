/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machine code of x86-64, an instruction at a time: as much as has to be known to find where a
 * function can be probed. By Capstone.
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
	INSTRUCTION_PLAIN,  /* the next one follows */
	INSTRUCTION_BRANCH, /* the next one follows, or `target` */
	INSTRUCTION_JUMP,   /* `target` follows */
	INSTRUCTION_CALL,   /* the next one follows, after what is called */
	INSTRUCTION_RETURN,
	INSTRUCTION_END, /* nothing follows: a trap */
};

struct instruction {
	size_t length; /* bytes */
	enum instruction_kind kind;
	uint64_t target; /* of branch, jump and call; 0 = not in the instruction */
	/* Of jump and call: the address of the word that holds the target; 0 = none */
	uint64_t slot;
	bool emulated; /* the kernel emulates it under a probe and need not step over it: cheap */
	/* Writes the stack pointer or one of the first four registers of arguments */
	bool disturbs;
};

/* What stands at the beginning of the N bytes at P, which are loaded at ADDRESS. False: that is no
 * instruction. */
bool disassembler_read(struct disassembler *d, const uint8_t *p, size_t n, uint64_t address,
		       struct instruction *ret);
