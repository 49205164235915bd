/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Unwind tables: how the frames of code without frame pointers are found, as user space makes them
 * (capture/unwind) and the programs read them (bpf/unwind.bpf.c). Both sides include this, as
 * record.h.
 *
 * A table is what .eh_frame of one ELF file says, for each address of code: how to compute the
 * canonical frame address (CFA, the stack pointer of the caller after the return), and where the
 * caller's frame pointer is saved. The return address stands right below the CFA.
 *
 * Rows are sorted by address, and each one holds up to the next. They lie in blocks of one size, the
 * elements of an array map. Block 0 is the root: the first address of each group of blocks.
 */
#pragma once

#if !defined(__bpf__)
#include <linux/types.h>
#endif

/* ---- rows ---- */

struct unwind_row {
	__u32 address; /* from where on, counted from the table's first address */
	__u32 rule;    /* UNWIND_RULE() */
};

/* How the CFA is found. OFFSET is that of the rule, in units of eight bytes unless said otherwise. */
#define UNWIND_NONE        0 /* nothing is known here: no code, or code that nobody has described */
#define UNWIND_END         1 /* there is no caller: a thread begins here */
#define UNWIND_SP          2 /* SP + OFFSET */
#define UNWIND_BP          3 /* BP + OFFSET */
#define UNWIND_SP_DEREF    4 /* what stands at SP + OFFSET */
#define UNWIND_SP_DEREF_8  5 /* likewise, plus 8 */
#define UNWIND_BP_DEREF    6 /* what stands at BP + OFFSET */
#define UNWIND_BP_DEREF_8  7 /* likewise, plus 8 */
#define UNWIND_PLT         8 /* SP + 8, and 8 more where the low four bits of IP are OFFSET (bytes) or above */
#define UNWIND_SIGNAL      9 /* a signal's frame: registers are in the ucontext at SP */
#define UNWIND_UNSUPPORTED 10 /* described, but in no way that a row can hold: OFFSET is UNWIND_WHY_* */
#define _UNWIND_KINDS      11

/* Why a row cannot hold it. */
#define UNWIND_WHY_REGISTER   0 /* the CFA depends on another register */
#define UNWIND_WHY_OFFSET     1 /* an offset is no multiple of 8, or too large */
#define UNWIND_WHY_EXPRESSION 2 /* the CFA is an expression that no row is for */
#define UNWIND_WHY_RETURN     3 /* the return address is not right below the CFA */
#define UNWIND_WHY_BP         4 /* the frame pointer is saved in a way that no row is for */
#define UNWIND_WHY_DAMAGED    5 /* the description contradicts itself */
#define _UNWIND_WHYS          6

/* Where the caller's BP is: the rule's middle byte. */
#define UNWIND_BP_SAME   0   /* in BP */
#define UNWIND_BP_AT_BP  255 /* what stands at BP */
/* 1 to 254: at CFA - 8 * that */

/* KIND in the low byte, then BP, then the signed OFFSET in the upper half. */
#define UNWIND_RULE(kind, bp, offset)                                                              \
	((__u32)(kind) | (__u32)(bp) << 8 | (__u32)(__u16)(__s16)(offset) << 16)
#define UNWIND_RULE_KIND(rule)   ((rule) & 0xff)
#define UNWIND_RULE_BP(rule)     ((rule) >> 8 & 0xff)
#define UNWIND_RULE_OFFSET(rule) ((__s16)((rule) >> 16))

/* ---- tables ---- */

#define UNWIND_BLOCK_ROWS 512
#define UNWIND_ROOT_SLOTS 1022
#define UNWIND_NO_ADDRESS 0xffffffffu /* of rows and slots that there are none of */

struct unwind_block {
	struct unwind_row rows[UNWIND_BLOCK_ROWS];
};

struct unwind_root {
	__u32 n_blocks; /* of rows */
	__u32 shift;    /* a slot stands for 1 << SHIFT blocks, and this is at most UNWIND_SHIFT_MAX */
	__u32 first[UNWIND_ROOT_SLOTS]; /* the address of the first row */
};
_Static_assert(sizeof(struct unwind_block) == 4096 && sizeof(struct unwind_root) == 4096, "ABI");

#define UNWIND_SHIFT_MAX 4
#define UNWIND_ROWS_MAX  ((UNWIND_ROOT_SLOTS << UNWIND_SHIFT_MAX) * UNWIND_BLOCK_ROWS)
