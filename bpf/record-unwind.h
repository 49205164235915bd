/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Unwind tables: rules that find the frames of code without frame pointers. User space makes the
 * tables (capture/unwind), and the eBPF programs read them (bpf/unwind.bpf.c). Both sides include
 * this file, like record.h.
 *
 * A table has the contents of .eh_frame of one ELF file. For each address of code, it has the rule
 * for computing the canonical frame address (CFA, the stack pointer of the caller after the
 * return), and the place of the caller's frame pointer. The return address is right below the CFA.
 *
 * Rows are sorted by address, and each one is valid up to the next. The rows are in blocks of equal
 * size, which are the elements of an array map. Block 0 is the root: it has the first address of
 * each group of blocks.
 */
#pragma once

#if !defined(__bpf__)
#include <linux/types.h>
#endif

/* ---- rows ---- */

struct unwind_row {
	__u32 address; /* first address of the row, relative to the table's first address */
	__u32 rule;    /* UNWIND_RULE() */
};

/*
 * The rule for the CFA. OFFSET is the offset in the rule, in units of eight bytes unless stated
 * otherwise.
 */
#define UNWIND_NONE       0 /* unknown: no code, or code without a description */
#define UNWIND_END        1 /* no caller: a thread begins here */
#define UNWIND_SP         2 /* SP + OFFSET */
#define UNWIND_BP         3 /* BP + OFFSET */
#define UNWIND_SP_DEREF   4 /* the word at SP + OFFSET */
#define UNWIND_SP_DEREF_8 5 /* the word at SP + OFFSET, plus 8 */
#define UNWIND_BP_DEREF   6 /* the word at BP + OFFSET */
#define UNWIND_BP_DEREF_8 7 /* the word at BP + OFFSET, plus 8 */
/* SP + 8, and 8 more if the low four bits of IP are at least OFFSET (bytes) */
#define UNWIND_PLT    8
#define UNWIND_SIGNAL 9 /* a signal's frame: registers are in the ucontext at SP */
/* the table describes the address, but rows cannot express the rule: OFFSET is UNWIND_WHY_* */
#define UNWIND_UNSUPPORTED 10
/* code that no table describes, and whose instructions do not prove where the caller is */
#define UNWIND_UNPROVEN 11
/* SP + N words + OFFSET * 16 words, for large frames. OFFSET is unsigned here. */
#define UNWIND_SP_FAR(n)  (12 + (n))
#define UNWIND_SP_FARS    16
#define UNWIND_SP_FAR_MAX 0xfffff /* words: 8 MiB, the usual limit of a stack */
#define UNWIND_IS_SP_FAR(rule)                                                                     \
	(UNWIND_RULE_KIND(rule) >= UNWIND_SP_FAR(0) &&                                             \
	 UNWIND_RULE_KIND(rule) < UNWIND_SP_FAR(UNWIND_SP_FARS))
#define UNWIND_SP_FAR_RULE(bp, words)                                                              \
	UNWIND_RULE(UNWIND_SP_FAR((words) % UNWIND_SP_FARS), bp, (words) / UNWIND_SP_FARS)
#define UNWIND_SP_FAR_WORDS(rule)                                                                  \
	(((rule) >> 16) * UNWIND_SP_FARS + UNWIND_RULE_KIND(rule) - UNWIND_SP_FAR(0))
/*
 * Register N (a DWARF number) + OFFSET. Only for the innermost frame, since the value of the
 * register in callers is unknown.
 */
#define UNWIND_REGISTER(n) (UNWIND_SP_FAR(UNWIND_SP_FARS) + (n))
#define UNWIND_REGISTERS   16
/*
 * SP + OFFSET, with the return address in register N. Only for the innermost frame. vfork() needs
 * this, since its child uses the same stack.
 */
#define UNWIND_RETURN_IN(n) (UNWIND_REGISTER(UNWIND_REGISTERS) + (n))
/*
 * Like UNWIND_SP and UNWIND_BP, for code that no table describes: its instructions prove the rule.
 */
#define UNWIND_CODE_SP UNWIND_RETURN_IN(UNWIND_REGISTERS)
#define UNWIND_CODE_BP (UNWIND_CODE_SP + 1)
#define _UNWIND_KINDS  (UNWIND_CODE_BP + 1)
/* Not in rows: the table for the address does not exist, but can be added later. */
#define UNWIND_MISSING _UNWIND_KINDS

/* The reasons why rows do not support a rule. */
#define UNWIND_WHY_REGISTER   0 /* the CFA depends on a register that rows do not support */
#define UNWIND_WHY_OFFSET     1 /* an offset is no multiple of 8, or too large */
#define UNWIND_WHY_EXPRESSION 2 /* the CFA is an expression that rows do not support */
#define UNWIND_WHY_RETURN     3 /* the return address is not right below the CFA */
#define UNWIND_WHY_BP         4 /* the frame pointer is saved in a way that rows do not support */
#define UNWIND_WHY_DAMAGED    5 /* the description contradicts itself */
#define _UNWIND_WHYS          6

/* The location of the caller's BP: the middle byte of the rule. */
#define UNWIND_BP_SAME  0   /* BP is unchanged */
#define UNWIND_BP_AT_BP 255 /* the word at BP */
/* 1 to 254: the word at CFA - 8 * this value */

/* KIND in the low byte, then BP, then the signed OFFSET in the upper half. */
#define UNWIND_RULE(kind, bp, offset)                                                              \
	((__u32)(kind) | (__u32)(bp) << 8 | (__u32)(__u16)(__s16)(offset) << 16)
#define UNWIND_RULE_KIND(rule)   ((rule)&0xff)
#define UNWIND_RULE_BP(rule)     ((rule) >> 8 & 0xff)
#define UNWIND_RULE_OFFSET(rule) ((__s16)((rule) >> 16))
/* True if RULE is a rule for code that no table of the file describes. */
#define UNWIND_IS_CODE(rule)                                                                       \
	(UNWIND_RULE_KIND(rule) == UNWIND_UNPROVEN || UNWIND_RULE_KIND(rule) == UNWIND_CODE_SP ||  \
	 UNWIND_RULE_KIND(rule) == UNWIND_CODE_BP)

/* ---- tables ---- */

#define UNWIND_BLOCK_SHIFT 9
#define UNWIND_BLOCK_ROWS  (1 << UNWIND_BLOCK_SHIFT)
#define UNWIND_ROOT_SLOTS  1022
#define UNWIND_NO_ADDRESS  0xffffffffu /* marks unused rows and slots */

struct unwind_block {
	struct unwind_row rows[UNWIND_BLOCK_ROWS];
};

struct unwind_root {
	__u32 n_blocks; /* number of blocks with rows */
	__u32 shift;    /* a slot stands for 1 << SHIFT blocks; at most UNWIND_SHIFT_MAX */
	__u32 first[UNWIND_ROOT_SLOTS]; /* first address in the blocks of each slot */
};
_Static_assert(sizeof(struct unwind_block) == 4096 && sizeof(struct unwind_root) == 4096, "ABI");

#define UNWIND_SHIFT_MAX 4
#define UNWIND_ROWS_MAX  ((UNWIND_ROOT_SLOTS << UNWIND_SHIFT_MAX) * UNWIND_BLOCK_ROWS)

/* ---- files ---- */

#define UNWIND_FILES_MAX    4096
#define UNWIND_SEGMENTS_MAX 4
#define UNWIND_FILE_VDSO    0 /* the number of the vdso, which the kernel maps into each process */
#define UNWIND_FILE_NONE    0xffffu

#include "bpf/record-python.h"

/* The state of a file. Its table is in `unwind_tables` at the same index. */
struct unwind_file {
	__u32 state;
	__u32 generation; /* incremented when the number is reused for another file */
	__u32 used;       /* the value of `unwind_clock` at its last use */
	__u32 n_segments;
	__u32 device;
	__u32 filesystem; /* type of its file system, as in statfs() */
	__u64 inode;
	/*
	 * The number of times that the file was mapped, or a walk needed its table, before the
	 * table existed
	 */
	__u64 missed;
	/* Stacks that were copied because the table was missing; at most UNWIND_COPIES_MAX */
	__u32 copied;
	/* As `copied`, for stacks of waits; at most UNWIND_COPIES_MAX_WAITS. */
	__u32 copied_waits;
	/* As `copied`, for stacks of allocations; at most UNWIND_COPIES_MAX_ALLOCATIONS. */
	__u32 copied_allocations;
	__u32 pad_0;
	struct python_file python; /* its interpreter of Python */
	struct {
		__u64 offset, size; /* position and size of the segment in the file */
		__u64 delta;        /* address in the table minus offset in the file */
	} segments[UNWIND_SEGMENTS_MAX];
};

#define UNWIND_COPIES_MAX             256
#define UNWIND_COPIES_MAX_WAITS       1024
#define UNWIND_COPIES_MAX_ALLOCATIONS 1024

#define UNWIND_FILE_NEW   0 /* its table was not requested yet */
#define UNWIND_FILE_ASKED 1
#define UNWIND_FILE_READY 2
#define UNWIND_FILE_EMPTY 3 /* it describes no frames, or is unreadable */

/* The identity of a file in the kernel. */
struct unwind_file_key {
	__u64 inode;
	/* Time of the last change of the inode, since numbers of inodes are reused */
	__u64 changed_s;
	__u32 changed_ns;
	__u32 generation;
	__u32 device;
	__u32 filesystem; /* the type of the file system, as in statfs() */
};

struct unwind_file_name {
	__u16 number, generation;
};

/*
 * An eBPF program requests the table of file NUMBER. Process PID has mapped that file from START to
 * END. If NUMBER is UNWIND_FILE_NONE, the program asks user space to check how many names are free.
 * This happens each time another UNWIND_NAMES_STEP names were used.
 */
#define UNWIND_NAMES_STEP 256
struct unwind_ask {
	__u32 number, generation;
	__u32 pid;
	__u32 seen_pid; /* its id in the recorder's pid namespace, which user space sets */
	__u64 start, end;
};

/* ---- processes ---- */

#define UNWIND_PAGE_SHIFT    12
#define UNWIND_PROCESSES_MAX 8192
#define UNWIND_SEEN_IDS_MAX  16384 /* elements of unwind_seen_ids */
#define UNWIND_SEEN_OF(pid)  (1ull << 32 | (pid))
#define UNWIND_MAPPINGS_MAX                                                                        \
	250 /* mappings with code; an entry and the kernel's own data must fit into a page */

struct unwind_mapping {
	__u64 where;      /* number of the first page << 28 | number of pages */
	__u32 file_page;  /* number of the first page in the file */
	__u16 file;       /* UNWIND_FILE_NONE: code without a file */
	__u16 generation; /* generation of the file's number */
};

#define UNWIND_WHERE_PAGES     28
#define UNWIND_WHERE_FIRST(w)  ((w) >> UNWIND_WHERE_PAGES)
#define UNWIND_WHERE_N(w)      ((w) & ((1ull << UNWIND_WHERE_PAGES) - 1))
#define UNWIND_WHERE(first, n) ((__u64)(first) << UNWIND_WHERE_PAGES | (n))

/* The mappings of a process with code, by address. */
struct unwind_process {
	__u64 mm;       /* address space in the kernel; the entry is valid only for this one */
	__u32 sequence; /* sequence number of changes; odd during a change */
	__u32 n;
	__u32 kept; /* during a change: number of mappings that remain from before the change */
	/*
	 * The number of mappings that other mappings replaced or cut. If this number is not 0, an
	 * address can belong to two files, one after the other.
	 */
	__u32 replaced;
	struct unwind_mapping mappings[UNWIND_MAPPINGS_MAX];
};
_Static_assert(sizeof(struct unwind_process) == 4024, "ABI");

/* Pages of process TGID, from number FIRST to END. Their mappings are unknown from now on. */
struct unwind_range {
	__u64 first, end;
	__u32 tgid;
	__u32 pad_0;
};

/* ---- ends of walks ---- */

#define UNWIND_END_WHOLE 0 /* the walk has reached the start of the thread */
#define UNWIND_END_FULL  1 /* the maximum number of frames was reached */
/*
 * The mappings of the process are unknown, or the process runs a 32-bit program. The stack was
 * walked by frame pointers
 */
#define UNWIND_END_PROCESS 2
#define UNWIND_END_MAPPING 3 /* the address is not in code */
/* Code whose table does not exist yet, or code with neither a description nor a frame pointer */
#define UNWIND_END_TABLE       4
#define UNWIND_END_UNSUPPORTED 5 /* the code has a rule that rows do not support */
/* A rule leads to an unreadable address, or to an address that is not a caller's frame */
#define UNWIND_END_MEMORY 6
#define UNWIND_END_BUSY   7 /* mappings were being changed */
#define _UNWIND_ENDS      8
/* Not counted: the stack is copied, and user space continues the walk. */
#define UNWIND_END_COPIED _UNWIND_ENDS
