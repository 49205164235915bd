/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Calls of functions: the settings of the eBPF programs, and the records that these programs write.
 * bpf/record.h includes this file.
 */
#pragma once

#define CALL_FUNCTIONS_MAX 4096
#define CALL_ARGUMENTS     8
#define CALL_TEXTS_MAX     4   /* maximum number of texts of a call: copies of arguments' memory */
#define CALL_TEXT_BYTES    256 /* maximum number of copied bytes of one argument */
/* The eBPF programs copy pieces of this size, so a pack begins no piece beyond CALL_PACK_BYTES. */
#define CALL_PACK_PIECE   16
#define CALL_PACK_BYTES   (CALL_TEXT_BYTES - CALL_PACK_PIECE)
#define CALL_MEMORIES_MAX 8 /* maximum number of arguments whose memory shares one text */

#define CALL_SYSCALLS_MAX 512 /* numbers of system calls; larger numbers count as the last one */
/*
 * The result of a system call that a signal has interrupted and whose process is ending: the call
 * is not restarted. (No error has this number.)
 */
#define CALL_RESULT_KILLED (-4000)
/* Index of the argument with the call's number, in a record of a system call. */
#define CALL_NUMBER_ARG 6

/* The cookie of a probe: the index in call_functions, above the bits of MEMORY_COOKIE_*. */
#define CALL_COOKIE(at)        ((at) << 9)
#define CALL_COOKIE_AT(cookie) ((__u32)(cookie) >> 9)
#define CALL_COOKIE_TAIL       1 /* the probe is on a jump that ends the function (a tail call) */

/* The content of memory, and the form of its copy. */
#define CALL_MEMORY_BYTES  0 /* a known number of bytes */
#define CALL_MEMORY_STRING 1 /* the memory ends with NUL */
/*
 * Pointers to strings, up to NULL. The copy has for each string CALL_ARGV_STRING and the string
 * with its NUL. If the string is unreadable, the copy has CALL_ARGV_ADDRESS and the 8 bytes of the
 * string's address.
 */
#define CALL_MEMORY_ARGV  2
#define CALL_ARGV_STRING  1
#define CALL_ARGV_ADDRESS 2
/* Pointers up to NULL. The copy is their number, in 4 bytes. */
#define CALL_MEMORY_POINTERS 3
/* Entries of a directory, as getdents64() returns them. The copy is their number, in 4 bytes. */
#define CALL_MEMORY_ENTRIES 4
/*
 * An array of struct iovec. The copy has for each element the structure, and then at most
 * CALL_PART_BYTES() of its data. In the copy, CALL_PART_UNREADABLE in the length means that the
 * data was unreadable, and is missing.
 */
#define CALL_MEMORY_PARTS    5
#define CALL_PARTS_MAX       15
#define CALL_PART_BYTES(n)   ((n) && (n) <= CALL_PARTS_MAX ? 240 / (n)-16 : 0)
#define CALL_PART_UNREADABLE (1ull << 63)
/*
 * One struct msghdr, or an array of struct mmsghdr. Each message has an equal share of the copy:
 * struct call_message, then the bytes of its name and of its control messages, and its buffers as
 * in CALL_MEMORY_PARTS.
 */
#define CALL_MEMORY_MESSAGE  6
#define CALL_MEMORY_MESSAGES 7
#define CALL_MESSAGES_MAX    4
#define CALL_MESSAGE_CONTROL 1 /* in `has` of struct call_message: the pointer is not NULL */
#define CALL_MESSAGE_PARTS   2
/* Bytes of each of N messages. */
#define CALL_MESSAGE_BYTES(n)                                                                      \
	(CALL_TEXT_BYTES / ((n) < 1 ? 1 : (n) < CALL_MESSAGES_MAX ? (n) : CALL_MESSAGES_MAX))
/*
 * Bytes for the data of each of the N buffers of a message, for which LEFT bytes of the message's
 * share are left.
 */
#define CALL_MESSAGE_PART_BYTES(n, left) ((n) && (left) / (n) > 16 ? (left) / (n)-16 : 0)
/* Only in a pack: */
#define CALL_MEMORY_BITS     8 /* a bit for each of the counted elements */
#define CALL_MEMORY_MASK     9 /* the address and the size of a signal mask; then the mask */
#define CALL_MEMORY_KIND_MAX 10
/*
 * A pack is the text of a call with more arguments in memory than CALL_TEXTS_MAX. For each of these
 * arguments, the pack has the number of copied bytes as __s32 (negative = unreadable, or a null
 * pointer), and then these bytes. The first text is the pack at the entry, and the second one at
 * the return.
 */
#define CALL_PACK_MASK_BYTES 24
#define CALL_CUT_MEMORY      1    /* in `cut` of struct call_text */
#define CALL_CUT_ELEMENTS    2    /* there are more elements than were copied */
#define CALL_POINTERS_MAX    4096 /* maximum number of pointers, and of entries, of one call */

/* The head of a message in a copy. */
struct call_message {
	__u64 name;
	__u32 name_bytes; /* as in struct msghdr; larger numbers are UINT32_MAX */
	__u32 control_bytes;
	__u32 n_parts;
	__u32 flags;
	__u32 length;        /* the member msg_len of struct mmsghdr */
	__u8 name_copied;    /* number of bytes of the name in the copy */
	__u8 control_copied; /* number of bytes of the control messages in the copy */
	__u8 has;            /* CALL_MESSAGE_* */
	__u8 pad_0;
};
_Static_assert(sizeof(struct call_message) == 32, "ABI");

/* Memory whose address is an argument of a call. */
struct call_memory {
	__u8 arg;
	__u8 count_arg; /* index of the argument with the number of bytes, if `count` is 0 */
	__u8 kind;      /* CALL_MEMORY_* */
	/*
	 * 0 = the call returns the number of written bytes. Otherwise, the size of an element in
	 * bytes: the number of elements is known without the result of the call.
	 */
	__u8 unit;
	__u32 count;
};
_Static_assert(sizeof(struct call_memory) == 8, "ABI");

/*
 * Comparisons in the condition of a function, CALL_OP_*. Only some bits of the register are
 * compared.
 */
#define CALL_OP_NONE 0
#define CALL_OP_EQ   1
#define CALL_OP_NE   2
#define CALL_OP_LT   3
#define CALL_OP_LE   4
#define CALL_OP_GT   5
#define CALL_OP_GE   6
#define CALL_OP_AND  7 /* any of the bits is set */
#define CALL_OP_MAX  8

/* Locations of arguments that are not in the register of their number, CALL_ORIGIN_*. */
#define CALL_ORIGIN_NONE     0 /* unavailable: the value is 0 */
#define CALL_ORIGIN_REGISTER 1 /* the value of the register, plus offset */
#define CALL_ORIGIN_MEMORY   2 /* memory at the register plus offset plus index * scale */
#define CALL_ORIGIN_CONSTANT 3 /* the offset itself */

struct call_origin {
	__u8 kind;
	__u8 shift;
	__u8 register_at; /* offset in struct pt_regs */
	__u8 bytes;       /* size of the value in memory, 1 to 8 */
	/*
	 * For a register and for memory: the lowest SHIFT bits are left out. A bit field has WIDTH
	 * bits (0 = all bits).
	 */
	__u8 width;
	__u8 is_signed; /* 1: the bit field is signed */
	__u8 index_at;  /* offset in struct pt_regs */
	__u8 scale;     /* 1, 2, 4 or 8; 0 = no index */
	__s64 offset;
};
_Static_assert(sizeof(struct call_origin) == 16, "ABI");

/*
 * Memory to which the result of a function leads, CALL_RESULT_*. The first register of results has
 * an address, unless stated otherwise.
 */
#define CALL_RESULT_PLAIN  0 /* no memory is copied */
#define CALL_RESULT_STRING 1 /* a string */
#define CALL_RESULT_MEMORY 2 /* RESULT_UNIT bytes */
#define CALL_RESULT_SLICE  3 /* second register: number of elements, of RESULT_UNIT bytes each */
#define CALL_RESULT_VIEW   4 /* like SLICE, but with the two registers swapped */

/* A function whose calls are recorded: an element of call_functions. */
struct call_watch {
	struct call_memory texts[CALL_MEMORIES_MAX];
	__u16 n_texts; /* number of texts that are copied at the entry */
	/* Number of texts that are copied at the return; they follow the first n_texts. */
	__u16 n_outs;
	__u8 op; /* CALL_OP_* */
	__u8 op_arg;
	__u8 op_shift;  /* number of highest bits of the register that are ignored */
	__u8 op_signed; /* 1: the comparison is signed */
	__u64 op_value;
	__u32 n_origins; /* 0: all arguments are in the registers of their numbers */
	__u32 is_point;  /* 1 = a point in the code of a program, which has no return */
	__u32 limit;     /* maximum of recorded calls per second; 0 = no limit */
	__u32 loops;     /* 1: the function jumps to its own begin, so not every hit is a call */
	__u32 result;    /* CALL_RESULT_* */
	__u32 result_unit;
	/*
	 * If N_PACKED is not 0, the memory of the first N_PACKED of texts is one text (a pack) at
	 * the entry, and the memory of the first N_PACKED_OUTS of them is one at the return.
	 * PACK_MAX has the maximum number of bytes for each.
	 */
	__u32 n_packed, n_packed_outs;
	__u8 pack_max[CALL_MEMORIES_MAX];
	struct call_origin origins[CALL_ARGUMENTS];
};
_Static_assert(sizeof(struct call_watch) == 248, "ABI");

/*
 * For a function with a limit: the number of recorded calls in this second, and the number of all
 * calls beyond the limit.
 */
struct call_share {
	__u64 second;
	__u64 n;
	__u64 left_out;
};
_Static_assert(sizeof(struct call_share) == 24, "ABI");

/* A copy of memory whose address is an argument of a call. */
struct call_text {
	__s32 bytes; /* number of bytes; of a string, without its NUL; negative = unreadable */
	__u32 cut;   /* CALL_CUT_*: there is more memory than was copied */
	char text[CALL_TEXT_BYTES];
};
_Static_assert(sizeof(struct call_text) == 264, "ABI");

/* head's thread enters a function. The record contains only n_texts of the texts. */
struct rec_call {
	struct rec_head head;
	__u32 function; /* index in call_functions */
	__u32 n_texts;
	__u64 sp;     /* address of the return address */
	__u64 caller; /* the return address; 0 = unreadable */
	__u64 stack;  /* id of the stack; 0 = no stack */
	__u64 args[CALL_ARGUMENTS];
	__u32 unreadable; /* a bit for each argument whose memory is unreadable */
	/*
	 * 1 = the word at SP is the address of the trampoline of return probes: a function with a
	 * return probe has called this one by a jump, and the kernel reports both returns.
	 */
	__u32 is_chained;
	struct call_text texts[CALL_TEXTS_MAX];
};
_Static_assert(sizeof(struct rec_call) == 1184, "ABI");
#define REC_CALL_BYTES(n_texts) (128 + (n_texts)*264)

/*
 * The position in its page of the code at ADDRESS, plus 1. The position is the same in memory and
 * in the file.
 */
#define CALL_IN_PAGE(address) ((__u16)(((address)&4095) + 1))

/* head's thread leaves a function. */
struct rec_call_end {
	struct rec_head head;
	__u32 function;
	__u8 n_texts;         /* number of texts of arguments */
	__u8 has_result_text; /* 1: the text after them is the memory of the result */
	/* CALL_IN_PAGE() of the `ret`; 0 = reported by a return probe, or a system call. */
	__u16 ret_in_page;
	__u64 sp; /* stack pointer at the entry */
	__u64 result;
	__u64 result_high; /* the second register of results */
	/* By index of the text; `bytes` is negative if the text was not read at the return. */
	struct call_text texts[CALL_TEXTS_MAX + 1];
};
_Static_assert(sizeof(struct rec_call_end) == 1376, "ABI");
/* N_TEXTS counts the text of the result, too. */
#define REC_CALL_END_BYTES(n_texts) (56u + (n_texts)*264u)

/*
 * Memory that must be read when a call returns. The key has the process and not the thread, since
 * another thread of the process can resume a coroutine.
 */
struct call_pending_key {
	__u64 process;
	__u64 place; /* the stack pointer, and the function in the upper bits */
};

struct call_pack_args {
	__u64 args[CALL_ARGUMENTS];
};

struct call_pending {
	__u32 function;
	__u16 n;        /* number of used elements of texts */
	__u16 was_left; /* 1: a later call, which is not recorded, has begun at the same place */
	__u64 caller;   /* the return address */
	union {
		struct {
			__u64 address;        /* 0 = nothing to read */
			__u32 bytes;          /* CALL_PENDING_STRING: it ends with NUL */
			__u16 is_whole;       /* 1: the size is known without the result */
			__u16 kind;           /* CALL_MEMORY_* */
		} texts[CALL_TEXTS_MAX];      /* by index of the text */
		struct call_pack_args packed; /* the arguments of a call whose texts are packs */
	};
};
_Static_assert(sizeof(struct call_pending) == 80, "ABI");
#define CALL_PENDING_STRING 0xffffffffu
#define CALL_PENDING_MAX    16384

/*
 * The maximum number of stacks of calls that are walked at the same time on a CPU: threads can
 * preempt each other during a walk.
 */
#define CALL_ROOMS 4
