/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Frames of code without frame pointers, by tables (bpf/record-unwind.h).
 */
#pragma once

#include "bpf/context.bpf.h"
#include "bpf/record-unwind.h"
#include "bpf/walk.bpf.h"

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

/*
 * A clock that user space increments. When a file is used, the current value of this clock is
 * stored for it.
 */
extern __u32 unwind_clock;

/* true = user stacks are walked by tables; false = only by frame pointers. */
extern const volatile bool unwind_by_tables;

/*
 * Returns true if MM is the current task's address space; 0 = it has none. (One function for all
 * eBPF programs: see unwind_read_vma().)
 */
bool unwind_is_in(__u64 mm);

/* Looks up the known mapping at W's position, and the mapping's file. Returns 0 or UNWIND_END_*. */
int unwind_find_mapping(struct unwind_walk *w);

/*
 * Returns the rule at ADDRESS in the table of file number FILE with GENERATION. UNWIND_NONE = the
 * table has no rule there; UNWIND_MISSING = the table does not exist.
 */
__u32 unwind_find_rule(__u32 file, __u32 generation, __u32 address);

/*
 * Learns the current task's mapping at ADDRESS (unwind-index.bpf.c). If ASKS, requests the table of
 * its file. Returns 0, or UNWIND_END_* if there is no code, or if the kernel cannot look the
 * mapping up now.
 */
int unwind_learn(__u64 address, bool asks);

/* Returns the address at which the walk looks up mappings: one byte before a return address. */
static __always_inline __u64 unwind_address(const struct unwind_walk *w)
{
	return w->exact ? w->ip : w->ip - 1;
}

/*
 * Steps to the caller, and looks up the mapping of its code. Returns 0, or a number with
 * UNWIND_NEXT_END() if the walk has ended. (This is one function: otherwise, the verifier would
 * check the second half in each iteration of a loop. Its result is one value for the same reason.)
 */
#define UNWIND_NEXT_ENDED    0x100
#define UNWIND_NEXT_END(end) ((end) & ~UNWIND_NEXT_ENDED) /* UNWIND_END_* */
int unwind_next(struct unwind_walk *w);

/*
 * Handles a walk that begins at a breakpoint, and whose mapping is known. If the thread has
 * executed the one-byte instruction that the breakpoint replaces, moves the walk behind this
 * instruction.
 */
int unwind_pass_breakpoint(struct unwind_walk *w);

/* The recorder's pid namespace, as in its inode; 0 = the initial one. */
extern const volatile __u64 unwind_ns_device, unwind_ns_inode;

/* Notes the ids of the current thread and process in unwind_seen_ids. */
int unwind_note_seen(void);

/*
 * Requests the table of file F from user space. The name of F is NAME, and process PID has mapped F
 * from START to END. Can be called in any context. Each table is requested once.
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
		f->state = UNWIND_FILE_NEW; /* the next walk that needs the table requests it
					     * again */
		return;
	}
	ask->number = name->number;
	ask->generation = name->generation;
	ask->pid = pid;
	ask->seen_pid = 0;
	ask->start = start;
	ask->end = end;
	bpf_ringbuf_submit(ask, BPF_RB_FORCE_WAKEUP);
}

/*
 * Returns 1 if KEY is at most WANTED, otherwise 0. Both are below 1 << 63. The function has no
 * branch: in a bisection, the verifier checks a branch once for each place that it can reach.
 */
static __always_inline __u64 unwind_is_at_most(__u64 key, __u64 wanted)
{
	__u64 is = (key - wanted - 1) >> 63;

	barrier_var(is);
	return is;
}

/* Returns the number of the last mapping that begins at PAGE or below, counted from 1; 0 = none. */
static __always_inline __u32 unwind_search_mappings(const struct unwind_process *process,
						    __u64 page)
{
	__u64 at = 0, n = process->n;

#pragma clang loop unroll(disable)
	for (__u32 shift = 8; shift-- > 0;) {
		__u64 i = at + (1u << shift), is_there = unwind_is_at_most(i, n);
		/*
		 * If there is no entry I, looks at the first one, so that no memory beyond the
		 * entries is read.
		 */
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

/*
 * Looks up the mapping at the walk's position, unless the position is in the last mapping. Returns
 * 0 or UNWIND_END_*.
 */
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
	/*
	 * Another thread is changing the mappings. User space will know the new mappings later, so
	 * the stack is copied.
	 */
	if (end == UNWIND_END_BUSY && w->copies)
		return UNWIND_END_COPIED;
	return end ? end : unwind_find_mapping(w);
}

/*
 * Returns the function that is called before the return address of a frame of W at BP, for struct
 * rec_piece_call: the value of its `linked` if THROUGH, else of its `called`.
 */
__u64 unwind_called_from(const struct unwind_walk *w, __u64 bp, bool through);

/* Counts the end of a walk. */
int unwind_count_end(__u32 how);
