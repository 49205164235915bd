/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Frames of code without frame pointers, by tables (bpf/unwind.h).
 */
#pragma once

#include "bpf/context.bpf.h"
#include "bpf/unwind.h"

struct unwind_processes {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, UNWIND_PROCESSES_MAX);
	__type(key, __u32); /* tgid */
	__type(value, struct unwind_process);
};

struct unwind_files {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_FILES_MAX);
	__type(key, __u32);
	__type(value, struct unwind_file);
};

struct unwind_asks {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
};

extern struct unwind_processes unwind_processes SEC(".maps");
extern struct unwind_files unwind_files SEC(".maps");
extern struct unwind_asks unwind_asks SEC(".maps");

/* User space counts it up; files that are of use get its value. */
extern __u32 unwind_clock;

/* Whether user stacks are walked by tables; else by frame pointers alone. */
extern const volatile bool unwind_by_tables;

/* A walk: where it is, and the mapping that was looked up last. */
struct unwind_walk {
	__u64 ip, sp, bp;
	__u64 start, bytes; /* of the mapping */
	__u64 shift;        /* from an address to one in the table of the mapping's file */
	__u64 probed;       /* the innermost function with a return probe that is not passed yet */
	__u16 file;         /* of the mapping; UNWIND_FILE_NONE */
	__u16 generation;   /* of the file's number */
	__u16 awaited;      /* the file, if a stack may be copied for its table; UNWIND_FILE_NONE */
	/* (in bits: the room on the stack, which all programs share, is full) */
	bool exact : 1;      /* IP is where the thread was interrupted; else a call returns to it */
	bool missing : 1;    /* the mapping's file has no table yet */
	bool copies : 1;     /* the caller can copy the stack */
	bool innermost : 1;  /* all registers are those of the current task */
	bool is_trapped : 1; /* a breakpoint is at IP, which the thread may have passed */
	bool is_unlisted : 1; /* the return address at SP is in no list of the kernel's yet */
};

/* Looks up where the walk is, in what is known. Returns 0 or UNWIND_END_*. */
int unwind_find_mapping(struct unwind_walk *w);

/*
 * Takes in what the current task has mapped at ADDRESS (unwind-index.bpf.c), and asks for the table
 * of its file if ASKS. Returns 0, or UNWIND_END_* if that is no code, or the kernel cannot say now.
 */
int unwind_learn(__u64 address, bool asks);

/* Where the walk looks for what is mapped: the address of a caller is one byte back. */
static __always_inline __u64 unwind_address(const struct unwind_walk *w)
{
	return w->exact ? w->ip : w->ip - 1;
}

/*
 * To the caller, and looks up its mapping, if that is in code. Returns 0 or UNWIND_END_*. IP is 0
 * at the end, where this returns 0, too. (One function, or the verifier would look at the second
 * half in each round of a loop.)
 */
int unwind_next(struct unwind_walk *w);

/*
 * The walk begins at a breakpoint, and its mapping is known. If the thread has passed the one byte
 * that the breakpoint replaces, so does the walk.
 */
int unwind_pass_breakpoint(struct unwind_walk *w);

/*
 * Asks user space for the table of file F, called NAME, which process PID has mapped from START to
 * END. Any context may; each file is asked for once.
 */
static __always_inline void unwind_ask(struct unwind_file *f, const struct unwind_file_name *name,
				       __u32 pid, __u64 start, __u64 end)
{
	struct unwind_ask *ask;

	if (__sync_val_compare_and_swap(&f->state, UNWIND_FILE_NEW, UNWIND_FILE_ASKED) !=
	    UNWIND_FILE_NEW)
		return;
	ask = bpf_ringbuf_reserve(&unwind_asks, sizeof(*ask), 0);
	if (!ask) {
		f->state = UNWIND_FILE_NEW; /* the next walk that needs it asks again */
		return;
	}
	ask->number = name->number;
	ask->generation = name->generation;
	ask->pid = pid;
	ask->pad_0 = 0;
	ask->start = start;
	ask->end = end;
	bpf_ringbuf_submit(ask, BPF_RB_FORCE_WAKEUP);
}

/*
 * Whether KEY is at most WANTED, both below 1 << 63: 1 or 0. Without a branch: a bisection by
 * branches is looked at by the verifier once for each place that it can come to.
 */
static __always_inline __u64 unwind_is_at_most(__u64 key, __u64 wanted)
{
	__u64 is = (key - wanted - 1) >> 63;

	barrier_var(is);
	return is;
}

/* The number of the last mapping that begins at PAGE or below, counted from 1; 0 = none does. */
static __always_inline __u32 unwind_search_mappings(const struct unwind_process *process,
						    __u64 page)
{
	__u64 at = 0, n = process->n;

#pragma clang loop unroll(disable)
	for (__u32 shift = 8; shift-- > 0;) {
		__u64 i = at + (1u << shift), is_there = unwind_is_at_most(i, n);
		/* (of what is not there, no memory is touched) */
		__u64 looked_at = (i - 1) * is_there;

		if (looked_at < UNWIND_MAPPINGS_MAX)
			at += (is_there &
			       unwind_is_at_most(
				       UNWIND_WHERE_FIRST(process->mappings[looked_at].where),
				       page))
			      << shift;
	}
	return (__u32)at;
}

/* Looks up where the walk is, if that is not in its mapping. Returns 0 or UNWIND_END_*. */
static __always_inline int unwind_settle(struct unwind_walk *w)
{
	__u64 address = unwind_address(w);
	int end;

	if (address - w->start < w->bytes)
		return 0;
	end = unwind_find_mapping(w);
	if (end != UNWIND_END_PROCESS && end != UNWIND_END_MAPPING)
		return end;
	end = unwind_learn(address, true);
	return end ? end : unwind_find_mapping(w);
}

/*
 * What is called before the return address that W's frame pointer leads to, for struct rec_piece:
 * what its `linked` is, if THROUGH, else its `called`.
 */
__u64 unwind_called_from(const struct unwind_walk *w, bool through);

/* Counts how a walk has ended. */
int unwind_count_end(__u32 how);
