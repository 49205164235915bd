/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * What programs that watch a process share: whether it is watched, the room of its thread, and the
 * stacks under which what it allocates is kept.
 *
 * A stack is remembered once, in a table that user space reads when it likes; with it the sums of
 * what was allocated there. It is known by a hash of its frames. Of code without frame pointers the
 * walk brings home what is no return address: such frames are cut off, or each allocation would
 * have a stack of its own. Looking costs; a stack that is known already need not be looked at.
 */
#pragma once

#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"
#include "bpf/stack.bpf.h"
#include "bpf/unwind.bpf.h"

/* linux/sched/signal.h */
#define SIGNAL_GROUP_EXIT 0x4

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

extern const volatile __u32 memory_log; /* each allocation and free is sent, too */
extern __u32 memory_context;            /* bits of the contexts that are open: by user space */

/*
 * The id of the frames in STACK, and how many of them can be true. Functions of their own, which
 * the verifier looks at once: together with what surrounds them they would be too much for it.
 */
__u64 memory_stack_id(struct memory_stack *stack);
__u32 memory_stack_true(struct memory_stack *stack);

/*
 * The process of the current task if it is watched, else NULL. Probes stay when it becomes somebody
 * else's.
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

/* What is kept of the current task; NULL if there is nothing, or, with CREATE, no room. */
static __always_inline struct memory_thread *memory_thread(bool create)
{
	return bpf_task_storage_get(&memory_threads, bpf_get_current_task_btf(), NULL,
				    create ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
}

/* Sends a stack to user space, in log mode, before the first record that names it. */
static __always_inline void memory_send_stack(const struct memory_stack_key *key,
					      const struct memory_stack *stack, __u64 now_ns)
{
	struct rec_named *rec = rec_reserve(REC_NAMED_RING, sizeof(*rec), now_ns);
	__u32 n = stack->n_frames;

	if (!rec)
		return;
	rec_fill_head(&rec->head, now_ns, REC_NAMED, sizeof(*rec), bpf_get_current_task_btf());
	rec->id = key->id;
	rec->instance = key->instance;
	rec->n_frames = n;
	bpf_probe_read_kernel(rec->frames, sizeof(rec->frames), stack->frames);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

/* What was allocated: WEIGHT blocks of BYTES together. */
static __always_inline void memory_add(struct memory_stack *stack, __u64 weight, __u64 bytes)
{
	__sync_fetch_and_add(&stack->allocations, weight);
	__sync_fetch_and_add(&stack->allocated_bytes, bytes);
}

/* What was freed, of what had been allocated with stack ID. */
static __always_inline void memory_take(__u32 instance, __u32 resource, __u64 id, __u64 weight,
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
 * The stack in T's room, of N frames, and adds WEIGHT and BYTES to its sums. Returns its id, or 0
 * if there is no room for another one, counted.
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
	key.id = memory_stack_id(&t->stack);
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
		if (memory_log)
			memory_send_stack(&key, &t->stack, bpf_ktime_get_boot_ns());
		/* Somebody else may have been quicker. */
		bpf_map_update_elem(&memory_stacks, &key, &t->stack, BPF_NOEXIST);
		known = bpf_map_lookup_elem(&memory_stacks, &key);
		if (!known)
			goto none;
	}
	memory_add(known, weight, bytes);
	return key.id;
none:
	memory_count(&process->no_stack);
	return 0;
}

/*
 * Takes the stack of the current task, of PROCESS, as CTX has its registers, for something of
 * RESOURCE and BYTES that it has allocated. Returns the stack's id; 0 if there is none, counted.
 */
static __always_inline __u64 memory_stack(void *ctx, struct memory_process *process, __u32 resource,
					  __u64 bytes)
{
	struct memory_thread *t = memory_thread(true);

	if (!t) {
		memory_count(&process->no_stack);
		return 0;
	}
	return memory_keep_stack(process, t, stack_walk_user_memory(ctx, &t->stack, false),
				 resource, 1, bytes);
}

/*
 * Room for a record of what the current task, of PROCESS, has done, or is about to do: filled but
 * for its args and its text. NULL if there is none, counted.
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
