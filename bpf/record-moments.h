/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Moments: points of programs where registers and memory are collected. What user space asks the
 * programs for, and their records. A part of bpf/record.h, which includes it.
 */
#pragma once

#define MOMENT_POINTS_MAX 64
#define MOMENT_LOADS_MAX  32 /* of one point */
#define MOMENT_STEPS_MAX  4

/* Bytes of one block, and where the last one may begin. */
#define MOMENT_BLOCK_BYTES_MAX 8192
#define MOMENT_BEGIN_MAX       8192
#define MOMENT_PIECE_BYTES     1024 /* of a block that may end earlier than it says */

/*
 * Registers by DWARF's numbers: rax rdx rcx rbx rsi rdi rbp rsp r8 to r15 rip; then eflags,
 * fs_base, gs_base.
 */
#define MOMENT_REGISTERS 20
#define MOMENT_REG_SP    7
#define MOMENT_REG_IP    16

#define MOMENT_BASE_ZERO     0
#define MOMENT_BASE_REGISTER 1
#define MOMENT_BASE_IMAGE    2 /* how far the file lies from its own addresses */
#define MOMENT_BASE_MAX      3

#define MOMENT_LOAD_VALUE  (1U << 0) /* the bytes are those of the address itself, at most 8 */
#define MOMENT_LOAD_STRING (1U << 1) /* it ends with a NUL */
#define MOMENT_LOAD_PIECES (1U << 2) /* what can be read of it, in pieces */
#define MOMENT_LOAD_QUIET  (1U << 3) /* not for the record: a condition, or a count of others */

/*
 * An address is base + offset; then, for each step, what is in memory there + steps[i]. BYTES are
 * read from it.
 */
struct moment_load {
	__u8 base; /* MOMENT_BASE_* */
	__u8 reg;  /* below MOMENT_REGISTERS */
	__u8 n_steps;
	__u8 flags;     /* MOMENT_LOAD_* */
	__u32 bytes;    /* with a count: the most */
	__u32 count_at; /* the load that says how many elements there are, from 1 on; 0 = none */
	__u32 element_bytes;
	__s64 offset;
	__s64 steps[MOMENT_STEPS_MAX];
};
_Static_assert(sizeof(struct moment_load) == 56, "ABI");

struct moment_point {
	__u64 vaddr;  /* of the point, in the file's own addresses */
	__u64 max;    /* so many times; 0 = each time */
	__u64 hits;   /* for which the condition held; of the programs */
	__u64 value;  /* of the condition */
	__u32 if_at;  /* the load that it compares, from 1 on; 0 = there is none */
	__u8 if_op;   /* CALL_OP_* */
	__u8 if_bits; /* of it that count */
	__u8 if_signed;
	__u8 pad_0;
	__u32 n_loads;
	__u32 pad_1;
	struct moment_load loads[MOMENT_LOADS_MAX];
};
_Static_assert(sizeof(struct moment_point) == 48 + MOMENT_LOADS_MAX * 56, "ABI");

/* What one load has brought; the bytes stand behind it, and it ends at a multiple of 8. */
struct moment_block {
	__u64 address;
	__u32 load;  /* its number */
	__s32 bytes; /* negative: a negative errno, and none */
};
_Static_assert(sizeof(struct moment_block) == 16, "ABI");

/* What the bytes of a block take. */
#define MOMENT_ROUND(bytes) ((bytes) > 0 ? ((__u32)(bytes) + 7) & ~7u : 0)

/* head's thread has come by a point. Only BYTES of the data are there. */
struct rec_moment {
	struct rec_head head;
	__u64 hit;   /* its number, from 1 on */
	__u64 stack; /* the id of its stack; 0 = it could not be taken */
	__u32 point; /* its number */
	__u32 bytes;
	__u64 registers[MOMENT_REGISTERS];
	/* (more than there is ever: see moment_read()) */
	__u8 data[MOMENT_BEGIN_MAX + sizeof(struct moment_block) + 2 * MOMENT_BLOCK_BYTES_MAX];
};
#define REC_MOMENT_BYTES(bytes) (sizeof(struct rec_head) + 24 + MOMENT_REGISTERS * 8 + (bytes))
_Static_assert(__builtin_offsetof(struct rec_moment, data) == REC_MOMENT_BYTES(0), "ABI");
