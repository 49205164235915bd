/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Registers of x86-64 as a block of a trace file, and the target description for this block.
 *
 * GDB treats registers after the end of the block (floating point, vectors, orig_rax, fs_base,
 * gs_base) as unavailable. A block with fs_base would also need the registers before fs_base, which
 * are not recorded. So fs_base could only be stored as a trace state variable.
 */
#pragma once

#include <stddef.h>

#include "writer/tfile/tfile-model.h"

/* The registers, in the order of the block. */
struct tfile_x86_64 {
	uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rip;
	uint32_t eflags, cs, ss, ds, es, fs, gs;
};

enum { TFILE_X86_64_BYTES = 164 }; /* value of register_bytes */

/* Writes REGS as TFILE_X86_64_BYTES bytes to TO. */
void tfile_x86_64_put(uint8_t *to, const struct tfile_x86_64 *regs);

/* Returns the target description for struct tfile_head: *RET_N static lines. */
const char *const *tfile_x86_64_description(size_t *ret_n);

/*
 * The names of the registers, in the order of the block. The first TFILE_X86_64_WIDE registers have
 * eight bytes, the others four. This is valid only if tfile_x86_64_is() returns true.
 */
enum { TFILE_X86_64_REGISTERS = 24, TFILE_X86_64_WIDE = 17 };
extern const char *const tfile_x86_64_names[TFILE_X86_64_REGISTERS];

/* Returns true if the description of HEAD has these registers at the begin of its register
 * blocks. */
bool tfile_x86_64_is(const struct tfile_head *head);
