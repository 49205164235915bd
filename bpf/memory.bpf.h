/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Shared code of the eBPF programs that watch a process: whether a process is watched, the work
 * area of a thread, and the stacks of allocations.
 *
 * Each stack is stored once, with the sums of its allocations, in a table that user space reads at
 * any time. The key is a hash of its frames and of their files, since two libraries can be at the
 * same addresses, one after the other. In code without frame pointers, a walk also returns words
 * that are not return addresses. Such frames are cut off, since otherwise each allocation would
 * have a stack of its own. The check is expensive, so it is skipped for stacks that are in the
 * table already.
 */
#pragma once

#include "bpf/python.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"
#include "bpf/stack.bpf.h"
#include "bpf/unwind.bpf.h"

/* linux/sched/signal.h */
#define SIGNAL_GROUP_EXIT 0x4

/*
 * The state of each thread that has made a call, with a work area (one for each thread, since eBPF
 * programs can be preempted). The call of a thread function (pthread_create) is stored separately,
 * since blocks are allocated and freed inside it.
 */
struct memory_thread {
	struct memory_call call, thread_call;
	struct memory_stack stack;
	struct unwind_walk stopped, learning;
	__u64 copied; /* the id of the stack, if it was copied; else 0 */
};

struct memory_processes {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MEMORY_PROCESSES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32); /* tgid */
	__type(value, struct memory_process);
};

struct memory_stacks {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MEMORY_STACKS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct memory_stack_key);
	__type(value, struct memory_stack);
};

struct memory_threads {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct memory_thread);
};

extern struct memory_processes memory_processes SEC(".maps");
extern struct memory_stacks memory_stacks SEC(".maps");
extern struct memory_threads memory_threads SEC(".maps");

extern const volatile __u32 memory_log; /* 1: each allocation and free is also sent */
extern __s32 memory_copied;             /* number of copied stacks in memory_stacks */
extern __u32 memory_context;            /* bits of the open contexts, set by user space */

/*
 * memory_stack_id() returns the id of the frames in STACK. memory_stack_true() returns the number
 * of frames that can be real. They are not inlined, so the verifier checks each of them once:
 * inlined, they would exceed the limits of the verifier.
 */
__u64 memory_stack_id(struct memory_stack *stack);
__u32 memory_stack_true(struct memory_stack *stack);

/*
 * Copies a stack whose walk has stopped after N frames. These frames are in T's work area. INSTANCE
 * is the instance of the process. Returns the id of the stack, or 0 if nothing was copied.
 */
__u64 memory_copy_stack(struct memory_thread *t, __u32 n, __u32 instance);

/*
 * Returns the process of the current task if it is watched and selected, else NULL. (The probes
 * remain on a process that has changed its user, so the selection is checked each time.)
 */
static __always_inline struct memory_process *memory_process(void)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct memory_process *process = bpf_map_lookup_elem(&memory_processes, &tgid);

	if (filter_kinds & FILTER_OWN && process && !own_is(bpf_get_current_task_btf()))
		return NULL;
	return process;
}

static __always_inline void memory_count(__u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

/*
 * Returns the data of the current task. Returns NULL if the task has no data, or, with CREATE, if
 * there is no room for it.
 */
static __always_inline struct memory_thread *memory_thread(bool create)
{
	return bpf_task_storage_get(&memory_threads, bpf_get_current_task_btf(), NULL,
				    create ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
}

/* The maximum distance on the stack between a call and a call that is nested in it. */
#define MEMORY_NESTED_BYTES (64 << 10)

/* Returns true if FUNCTION, which is entered with stack pointer SP, is inside CALL. */
static __always_inline bool memory_is_nested(struct memory_call *call, __u32 instance,
					     __u32 function, __u64 sp)
{
	__u64 caller;

	if (call->function == 0 || call->instance != instance || sp > call->sp ||
	    call->sp - sp > MEMORY_NESTED_BYTES)
		return false;
	/*
	 * If an exception may have ended CALL, check that its return address is still on the stack.
	 */
	if (call->caller &&
	    (bpf_probe_read_user(&caller, sizeof(caller), (const void *)call->sp) < 0 ||
	     caller != call->caller))
		return false;
	if (sp < call->sp)
		return true;
	/*
	 * At the same place: either CALL has jumped to FUNCTION (a tail call), or CALL never
	 * returned.
	 */
	if (function == call->function || call->strange)
		return false;
	call->strange = 1;
	return true;
}

/* Sends a stack to user space before the first record that names it, in log mode. */
static __always_inline void memory_send_stack(const struct memory_stack_key *key,
					      const struct memory_stack *stack)
{
	__u64 now_ns = stack->since_ns;
	struct rec_named *rec = rec_reserve(REC_NAMED_RING, sizeof(*rec), now_ns);
	__u32 n = stack->n_frames;

	if (!rec)
		return;
	rec_fill_head(&rec->head, now_ns, REC_NAMED, sizeof(*rec), bpf_get_current_task_btf());
	rec->id = key->id;
	rec->instance = key->instance;
	rec->n_frames = n;
	rec->is_copied = 0;
	bpf_probe_read_kernel(rec->frames, sizeof(rec->frames), stack->frames);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

/* Adds an allocation: WEIGHT blocks of BYTES together. */
static __always_inline void memory_add(struct memory_stack *stack, __u64 weight, __u64 bytes)
{
	__sync_fetch_and_add(&stack->allocations, weight);
	__sync_fetch_and_add(&stack->allocated_bytes, bytes);
}

/* Adds a free of blocks that were allocated with stack ID. */
static __always_inline void memory_remove(__u32 instance, __u32 resource, __u64 id, __u64 weight,
					  __u64 bytes)
{
	struct memory_stack_key key = { .id = id, .instance = instance, .resource = resource };
	struct memory_stack *stack = bpf_map_lookup_elem(&memory_stacks, &key);

	if (!stack)
		return;
	__sync_fetch_and_add(&stack->frees, weight);
	__sync_fetch_and_add(&stack->freed_bytes, bytes);
}

/*
 * Walks the stack of the current task, which belongs to PROCESS, by tables into T's work area.
 * Omits the innermost SKIP frames, like stack_walk_callers(). If a table does not exist yet, the
 * stack is copied. The stack is also copied if the mappings change during the walk. (A change takes
 * only some microseconds, so the walk is first repeated.) The limits for each file do not apply to
 * copies during a change, so these are limited for each process.
 */
static __always_inline __u32 memory_walk_tables(struct memory_thread *t, __u32 skip,
						struct memory_process *process)
{
	bool is_change;
	__u32 n;

	t->copied = t->stopped.ip = t->stopped.python = 0;
	if (!unwind_by_tables)
		return STACK_NOT_WALKED;
	n = stack_walk_callers(&t->stack, skip, &t->stopped);
	if (t->stopped.ip && t->stopped.awaited == UNWIND_FILE_NONE) {
		t->stopped.ip = 0;
		n = stack_walk_callers(&t->stack, skip, &t->stopped);
	}
	if (!t->stopped.ip && t->stopped.python && n != STACK_NOT_WALKED) {
		n = python_add_memory(&t->stopped, &t->stack, n, bpf_ktime_get_boot_ns());
		t->stopped.ip = 0;
	}
	if (!t->stopped.ip)
		return n;
	is_change = t->stopped.awaited == UNWIND_FILE_NONE;
	if (!is_change || process->copied_changes < MEMORY_CHANGES_MAX)
		t->copied = memory_copy_stack(t, n, process->instance);
	if (is_change && t->copied)
		__sync_fetch_and_add(&process->copied_changes, 1);
	/* Without a copy, the caller of this function may find the callers in another way. */
	return t->copied ? n : stack_walk_callers(&t->stack, skip, NULL);
}

/*
 * Stores the N frames in T's work area as a stack, and adds WEIGHT and BYTES to its sums. Returns
 * the id of the stack. If the table is full, counts the allocation as one without a stack, and
 * returns 0. A copied stack has an id of its own, since some of its frames are not known yet; user
 * space adds these frames.
 */
static __always_inline __u64 memory_keep_stack(struct memory_process *process,
					       struct memory_thread *t, __u32 n, __u32 resource,
					       __u32 weight, __u64 bytes)
{
	struct memory_stack_key key = { .instance = process->instance, .resource = resource };
	struct memory_stack *known;

	if (n == 0)
		goto none;
	t->stack.n_frames = n;
	t->stack.is_copied = t->copied != 0;
	key.id = t->copied ?: memory_stack_id(&t->stack);
	known = bpf_map_lookup_elem(&memory_stacks, &key);
	if (!known && !unwind_by_tables) {
		n = memory_stack_true(&t->stack);
		if (n != t->stack.n_frames) {
			t->stack.n_frames = n;
			key.id = memory_stack_id(&t->stack);
			known = bpf_map_lookup_elem(&memory_stacks, &key);
		}
	}
	if (!known) {
		t->stack.since_ns = bpf_ktime_get_boot_ns();
		if (memory_log && !t->copied)
			memory_send_stack(&key, &t->stack);
		/* Another CPU can have stored it first. */
		bpf_map_update_elem(&memory_stacks, &key, &t->stack, BPF_NOEXIST);
		known = bpf_map_lookup_elem(&memory_stacks, &key);
		if (!known)
			goto full;
	}
	memory_add(known, weight, bytes);
	return key.id;
full:
	if (t->copied)
		__sync_fetch_and_sub(&memory_copied, 1);
none:
	memory_count(&process->no_stack);
	return 0;
}

/*
 * Reserves a record for an operation of the current task, which belongs to PROCESS, and fills it
 * except for its args and its text. If the ring is full, counts a lost record and returns NULL.
 */
static __always_inline struct rec_resource *memory_call_record(struct memory_process *process,
							       __u32 operation)
{
	__u64 now_ns = bpf_ktime_get_boot_ns();
	struct rec_resource *rec = rec_reserve(REC_RESOURCE_RING, sizeof(*rec), now_ns);

	if (!rec) {
		memory_count(&process->lost);
		return NULL;
	}
	__builtin_memset(rec->args, 0, sizeof(rec->args));
	__builtin_memset(rec->text, 0, sizeof(rec->text));
	rec_fill_head(&rec->head, now_ns, REC_RESOURCE, sizeof(*rec), bpf_get_current_task_btf());
	rec->operation = operation;
	rec->instance = process->instance;
	rec->context = *(volatile __u32 *)&memory_context;
	rec->pad_0 = 0;
	rec->result = 0;
	rec->stack = 0;
	return rec;
}
