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

/* Whether user stacks are walked by tables; else by frame pointers alone. */
extern const volatile bool unwind_by_tables;

/* A walk: where it is, and the mapping that was looked up last. */
struct unwind_walk {
	__u64 ip, sp, bp;
	__u64 start, bytes; /* of the mapping */
	__u64 shift;        /* from an address to one in the table of the mapping's file */
	__u64 probed;       /* the innermost function with a return probe that is not passed yet */
	__u32 file;         /* of the mapping; UNWIND_FILE_NONE */
	__u32 exact; /* IP is where the thread was interrupted, and not where a call returns to */
};

/* Looks up where the walk is. Returns 0, or UNWIND_END_* if it is nowhere. */
int unwind_find_mapping(struct unwind_walk *w);

/*
 * Takes in what the current task has mapped at ADDRESS (unwind-index.bpf.c). Returns 0, or
 * UNWIND_END_* if that is no code, or the kernel cannot say now.
 */
int unwind_learn(__u64 address);

/* To the caller. Returns 0, or UNWIND_END_*; then W is as it was. */
int unwind_step(struct unwind_walk *w);

/*
 * Asks user space for the table of file F, called NAME, which process PID has mapped from START to END.
 * Any context may; each file is asked for once.
 */
static __always_inline void unwind_ask(struct unwind_file *f, const struct unwind_file_name *name,
				       __u32 pid, __u64 start, __u64 end)
{
	struct unwind_ask ask = {
		.number = name->number,
		.generation = name->generation,
		.pid = pid,
		.start = start,
		.end = end,
	};

	if (__sync_val_compare_and_swap(&f->state, UNWIND_FILE_NEW, UNWIND_FILE_ASKED) !=
	    UNWIND_FILE_NEW)
		return;
	if (bpf_ringbuf_output(&unwind_asks, &ask, sizeof(ask), BPF_RB_FORCE_WAKEUP) < 0)
		f->state = UNWIND_FILE_NEW; /* whoever needs it next asks again */
}

/* The number of the last mapping that begins at PAGE or below, counted from 1; 0 = none does. */
static __always_inline __u32 unwind_search_mappings(const struct unwind_process *process,
						    __u64 page)
{
	__u32 at = 0, n = process->n;

#pragma clang loop unroll(disable)
	for (__u32 step = 128; step > 0; step >>= 1) {
		__u32 i = at + step;

		if (i <= n && i <= UNWIND_MAPPINGS_MAX &&
		    UNWIND_WHERE_FIRST(process->mappings[i - 1].where) <= page)
			at = i;
	}
	return at;
}

/* Counts how a walk has ended. */
int unwind_count_end(__u32 how);
