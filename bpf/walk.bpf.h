/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * A walk through the frames of a thread.
 */
#pragma once

#include "bpf/context.bpf.h"

/* A walk: its position, and the last mapping that was looked up. */
struct unwind_walk {
	__u64 ip, sp, bp;
	__u64 start, bytes; /* of the mapping */
	__u64 shift;        /* address in the table of the mapping's file minus address */
	__u64 probed;       /* the innermost function with a return probe that was not passed yet */
	__u16 file;         /* of the mapping; UNWIND_FILE_NONE */
	__u16 generation;   /* of the file's number */
	__u16 awaited;      /* the file, if a stack can be copied for its table; UNWIND_FILE_NONE */
	/* (bits, since the stack, which all programs share, is full) */
	bool exact : 1;       /* IP is where the thread was interrupted; else a return address */
	bool missing : 1;     /* the mapping's file has no table yet */
	bool copies : 1;      /* the caller can copy the stack */
	bool is_wait : 1;     /* the thread leaves its CPU; its copies have other limits */
	bool innermost : 1;   /* all registers are those of the current task */
	bool is_trapped : 1;  /* a breakpoint is at IP, which the thread may have passed */
	bool is_unlisted : 1; /* the return address at SP is in no list of the kernel's yet */
};
