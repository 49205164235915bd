/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Moments: at certain points of a program, registers and memory are collected. This file has the
 * settings of the eBPF programs, and the records that these programs write. bpf/record.h includes
 * this file.
 */
#pragma once

#define MOMENT_POINTS_MAX     64
#define MOMENT_LOADS_MAX      32 /* maximum number of loads of a point */
#define MOMENT_STEPS_MAX      4
#define MOMENT_CONDITIONS_MAX 4
#define MOMENT_TSVS_MAX       8  /* maximum number of trace state variables of a point */
#define MOMENT_COUNTERS_MAX   32 /* maximum number of trace state variables of all points */

/* The maximum size of a block, and the maximum offset of the last block in a record. */
#define MOMENT_BLOCK_BYTES_MAX 8192
#define MOMENT_BEGIN_MAX       8192
#define MOMENT_PIECE_BYTES     1024 /* bytes of a piece of a block with MOMENT_LOAD_PIECES */

/*
 * Registers in the order of DWARF: rax rdx rcx rbx rsi rdi rbp rsp r8 to r15 rip; then eflags,
 * fs_base, gs_base.
 */
#define MOMENT_REGISTERS 20
#define MOMENT_REG_SP    7
#define MOMENT_REG_IP    16

#define MOMENT_BASE_ZERO     0
#define MOMENT_BASE_REGISTER 1
#define MOMENT_BASE_IMAGE    2 /* address in the process minus address in the file */
#define MOMENT_BASE_MAX      3

#define MOMENT_LOAD_VALUE  (1U << 0) /* the value is the address itself, at most 8 bytes */
#define MOMENT_LOAD_STRING (1U << 1) /* the memory ends with a NUL */
#define MOMENT_LOAD_PIECES (1U << 2) /* the memory is read in pieces, as far as possible */
#define MOMENT_LOAD_QUIET                                                                          \
	(1U << 3) /* not recorded: for a condition, or for the count of another load */
#define MOMENT_LOAD_SIGNED (1U << 4) /* a count that is negative if its highest bit is set */

/*
 * A load reads BYTES from an address. The address begins as base + offset, plus the register INDEX
 * multiplied by SCALE. Each step replaces the address by the word in memory at that address, plus
 * steps[i].
 */
struct moment_load {
	__u8 base; /* MOMENT_BASE_* */
	__u8 reg;  /* below MOMENT_REGISTERS */
	__u8 n_steps;
	__u8 flags;  /* MOMENT_LOAD_* */
	__u32 bytes; /* number of bytes; for a load with a count, the maximum */
	/* Number, from 1 on, of the load that has the count of elements; 0 = no count. */
	__u16 count_at;
	__u8 index; /* below MOMENT_REGISTERS */
	__u8 scale; /* 1, 2, 4 or 8; 0 = no index */
	__u32 element_bytes;
	__s64 offset;
	__s64 steps[MOMENT_STEPS_MAX];
};
_Static_assert(sizeof(struct moment_load) == 56, "ABI");

/* A condition of a point. All conditions of a point must hold. */
struct moment_condition {
	__u64 value;
	/*
	 * Number of the compared load, from 1 on. Numbers above MOMENT_LOADS_MAX are numbers of
	 * trace state variables. 0 = there are no more conditions.
	 */
	__u32 at;
	__u8 op;   /* CALL_OP_* */
	__u8 bits; /* number of bits of the value that are compared */
	__u8 is_signed;
	__u8 pad_0;
};
_Static_assert(sizeof(struct moment_condition) == 16, "ABI");

/* Actions besides collecting, at a certain hit. */
#define MOMENT_ACTION_SNAPSHOT 0
#define MOMENT_ACTION_STOP     1
#define MOMENT_ACTIONS         2

struct moment_point {
	__u64 vaddr; /* address of the point in the file's own addresses */
	__u64 max;   /* maximum number of hits that are collected */
	__u64 hits;  /* hits for which the conditions held; counted by the eBPF programs */
	__u64 actions[MOMENT_ACTIONS]; /* the hit that triggers each action; 0 = never */
	/* Bits 1 << MOMENT_ACTION_*: the eBPF programs have triggered the action. */
	__u32 notified_actions;
	__u32 goes_on; /* 1: hits are counted after the last collected one */
	__u32 n_loads;
	__u32 n_tsvs;
	__u8 tsvs[MOMENT_TSVS_MAX]; /* indices of counters */
	__u32 counted;              /* bits: the variables of tsvs[] that each hit increments */
	__u32 pad_0;
	struct moment_condition conditions[MOMENT_CONDITIONS_MAX];
	struct moment_load loads[MOMENT_LOADS_MAX];
};
_Static_assert(sizeof(struct moment_point) ==
		       72 + MOMENT_CONDITIONS_MAX * 16 + MOMENT_LOADS_MAX * 56,
	       "ABI");

/*
 * The bytes that a load has read, or the value of a trace state variable (the blocks of variables
 * come first). The bytes follow, padded to a multiple of 8.
 */
struct moment_block {
	__u64 address;
	/* Index of the load; from MOMENT_LOADS_MAX on, of a trace state variable of the point. */
	__u32 load;
	__s32 bytes; /* number of bytes; if negative, an errno, and no bytes follow */
};
_Static_assert(sizeof(struct moment_block) == 16, "ABI");

/* The padded size of a block's bytes. */
#define MOMENT_ROUND(bytes) ((bytes) > 0 ? ((__u32)(bytes) + 7) & ~7u : 0)

/* head's thread has hit a point. The record contains only BYTES of the data. */
struct rec_moment {
	struct rec_head head;
	__u64 hit;   /* number of the hit, from 1 on */
	__u64 stack; /* the id of its stack; 0 = unknown */
	__u32 point; /* index of the point */
	__u32 bytes;
	__u64 registers[MOMENT_REGISTERS];
	/*
	 * This array is larger than the data of any record, because the verifier requires it (see
	 * moment_read()).
	 */
	__u8 data[MOMENT_BEGIN_MAX + sizeof(struct moment_block) + 2 * MOMENT_BLOCK_BYTES_MAX];
};
#define REC_MOMENT_BYTES(bytes) (sizeof(struct rec_head) + 24 + MOMENT_REGISTERS * 8 + (bytes))
_Static_assert(__builtin_offsetof(struct rec_moment, data) == REC_MOMENT_BYTES(0), "ABI");
