/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of x86-64 as a block of a trace file, and the description of the target that says where
 * each stands in it.
 *
 * A block that ends before a register leaves it unavailable, so the description puts last all that
 * kymo does not collect (floating point, vectors): GDB says <unavailable> there, instead of showing
 * zeros.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* In the order of the block. Members 32 bits wide take four bytes in it, the others eight. */
struct tfile_x86_64 {
	uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rip;
	uint32_t eflags, cs, ss, ds, es, fs, gs;
	uint64_t orig_rax, fs_base, gs_base; /* only in blocks of TFILE_X86_64_BYTES */
};

enum {
	TFILE_X86_64_BYTES_CORE = 164, /* up to gs: for register_bytes */
	TFILE_X86_64_BYTES = 188,      /* all of the struct */
};

/* Writes N bytes to TO, N being one of the two sizes. */
void tfile_x86_64_put(uint8_t *to, size_t n, const struct tfile_x86_64 *regs);

/* The description, for struct tfile_head: static lines, *RET_N of them; right for either size. */
const char *const *tfile_x86_64_description(size_t *ret_n);
