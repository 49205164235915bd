/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * A walk through the frames of a thread.
 */
#pragma once

#include "bpf/context.bpf.h"

/* Whether the caller of a walk can copy the stack, and the purpose of the copy. */
enum stack_copies {
	STACK_COPIES_NONE,
	STACK_COPIES_OF_RUNNING,
	STACK_COPIES_OF_WAIT, /* the thread leaves its CPU */
	STACK_COPIES_OF_ALLOCATION,
};

/* A walk: its position, and the last mapping that was looked up. */
struct unwind_walk {
	__u64 ip, sp, bp;
	__u64 start, bytes; /* address and size of the mapping */
	__u64 shift;        /* address in the table of the mapping's file minus address */
	__u64 probed;       /* the innermost return probe that the walk has not passed yet */
	__u16 file;         /* file of the mapping; UNWIND_FILE_NONE = no file */
	__u16 generation;   /* generation of the file's number */
	/* File whose missing table is a reason to copy the stack; or UNWIND_FILE_NONE. */
	__u16 awaited;
	/*
	 * These are bits, since a walk is on the eBPF stack, which all functions of a program
	 * share, and which is full.
	 */
	bool exact : 1;       /* IP is where the thread was interrupted; else a return address */
	bool missing : 1;     /* the mapping's file has no table yet */
	__u8 copies : 2;      /* enum stack_copies */
	bool innermost : 1;   /* all registers are those of the current task */
	bool is_trapped : 1;  /* a breakpoint is at IP, which the thread may have passed */
	bool is_unlisted : 1; /* the kernel has not listed the return address at SP yet */
	bool is_skipped : 1;  /* the last frame is left out if it has a caller */
	bool python;          /* the walk has passed an interpreter of Python */
};
