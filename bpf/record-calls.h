/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Calls of functions: what user space asks the programs for, and their records. A part of
 * bpf/record.h, which includes it.
 */
#pragma once

#define CALL_FUNCTIONS_MAX 4096
#define CALL_ARGUMENTS     8
#define CALL_TEXTS_MAX     3   /* arguments of a call whose memory is copied, ... */
#define CALL_TEXT_BYTES    256 /* ... so much of it */

#define CALL_SYSCALLS_MAX 512 /* numbers that are looked at */

/* The cookie of a probe: the place in call_functions, above the bits of MEMORY_COOKIE_*. */
#define CALL_COOKIE(at)        ((at) << 9)
#define CALL_COOKIE_AT(cookie) ((__u32)(cookie) >> 9)
#define CALL_COOKIE_TAIL       1 /* the probe is at a jump that ends the function */

/* Memory of which an argument has the address. */
struct call_memory {
	__u8 arg;
	__u8 count_arg; /* the argument that says how many bytes, where `count` is 0 */
	__u8 is_string; /* it ends with NUL; else it has so many bytes */
	/* 0: it is bytes, of which the call writes as many as it returns. Else it has so many of
	   UNIT bytes, whatever is returned. */
	__u8 unit;
	__u32 count;
};
_Static_assert(sizeof(struct call_memory) == 8, "ABI");

/* What the condition of a function compares, CALL_OP_*; the register is cut to its bits. */
#define CALL_OP_NONE 0
#define CALL_OP_EQ   1
#define CALL_OP_NE   2
#define CALL_OP_LT   3
#define CALL_OP_LE   4
#define CALL_OP_GT   5
#define CALL_OP_GE   6
#define CALL_OP_AND  7 /* any of these bits is set */
#define CALL_OP_MAX  8

/* Where an argument is that is not in the register of its number, CALL_ORIGIN_*. */
#define CALL_ORIGIN_NONE     0 /* nowhere: its value is 0 */
#define CALL_ORIGIN_REGISTER 1 /* the register, plus offset, without its lowest bits */
#define CALL_ORIGIN_MEMORY   2 /* what is at the address that this is */
#define CALL_ORIGIN_CONSTANT 3 /* the offset itself */

struct call_origin {
	__u8 kind;
	__u8 shift;
	__u8 register_at; /* bytes, in struct pt_regs */
	__u8 bytes;       /* of memory: 1 to 8 */
	__u32 pad_0;
	__s64 offset;
};
_Static_assert(sizeof(struct call_origin) == 16, "ABI");

/* A function whose calls are recorded, in call_functions. */
struct call_watch {
	struct call_memory texts[CALL_TEXTS_MAX];
	__u16 n_texts; /* copied at the entry, ... */
	__u16 n_outs;  /* ... and, behind these, at the return */
	__u8 op;       /* CALL_OP_* */
	__u8 op_arg;
	__u8 op_shift;  /* bits of the register that do not count */
	__u8 op_signed; /* 1: the comparison is one of signed numbers */
	__u64 op_value;
	__u32 n_origins; /* 0: all arguments are in the registers of their numbers */
	__u32 is_point;  /* 1: nothing returns */
	__u32 limit;     /* calls a second that are recorded; 0 = all */
	__u32 loops;     /* 1: it jumps to its own begin, so not each entry is a call */
	struct call_origin origins[CALL_ARGUMENTS];
};
_Static_assert(sizeof(struct call_watch) == 184, "ABI");

/* What the limit of a function has let pass in this second, and what it has ever left out. */
struct call_share {
	__u64 second;
	__u64 n;
	__u64 left_out;
};
_Static_assert(sizeof(struct call_share) == 24, "ABI");

/* What was copied of the memory that an argument has the address of. */
struct call_text {
	__s32 bytes; /* of a string without its NUL; negative = it could not be read */
	__u32 cut;   /* 1: there is more */
	char text[CALL_TEXT_BYTES];
};
_Static_assert(sizeof(struct call_text) == 264, "ABI");

/* head's thread enters a function. Only n_texts of the texts are there. */
struct rec_call {
	struct rec_head head;
	__u32 function; /* its place in call_functions */
	__u32 n_texts;
	__u64 sp;     /* where the return address stands */
	__u64 caller; /* that address; 0 = it could not be read */
	__u64 stack;  /* the id of its stack; 0 = none was taken */
	__u64 args[CALL_ARGUMENTS];
	__u32 unreadable; /* bits, by argument: its memory cannot be read */
	__u32 pad_0;
	struct call_text texts[CALL_TEXTS_MAX];
};
_Static_assert(sizeof(struct rec_call) == 920, "ABI");
#define REC_CALL_BYTES(n_texts) (128 + (n_texts)*264)

/* It leaves one. */
struct rec_call_end {
	struct rec_head head;
	__u32 function;
	__u32 n_texts;
	__u64 sp; /* as when it was entered */
	__u64 result;
	struct call_text
		texts[CALL_TEXTS_MAX]; /* by slot: those that are read now, others negative */
};
_Static_assert(sizeof(struct rec_call_end) == 840, "ABI");
#define REC_CALL_END_BYTES(n_texts) (48 + (n_texts)*264)

/* Memory that is to be read when a call returns. */
struct call_pending_key {
	__u64 thread; /* as bpf_get_current_pid_tgid() has it */
	__u64 place;  /* the stack pointer, and the function in its upper bits */
};

struct call_pending {
	__u32 function;
	__u32 n;      /* slots: those behind have none */
	__u64 caller; /* the return address */
	struct {
		__u64 address;   /* 0 = none is to be read */
		__u32 bytes;     /* CALL_PENDING_STRING: it ends with NUL */
		__u32 is_whole;  /* 1: the result does not say how much is there */
	} texts[CALL_TEXTS_MAX]; /* by slot */
};
_Static_assert(sizeof(struct call_pending) == 64, "ABI");
#define CALL_PENDING_STRING 0xffffffffu
#define CALL_PENDING_MAX    16384

/* Stacks of calls that are walked on a CPU at once: their threads may take it from each other. */
#define CALL_ROOMS 4
