/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Allocations of watched processes: probes on the functions of their allocators, and a table of all
 * blocks that are allocated.
 *
 * A function of an allocator can call another one. Only the outermost call counts: each thread
 * stores its current call, and the stack pointer at the begin of that call. Nested calls are deeper
 * in the stack. A call can end without a return (by an exception or longjmp). Such a call is
 * recognised as soon as a function is entered at a higher stack pointer. Calls of functions that
 * create threads are stored separately, so allocations inside them count.
 *
 * Results are read at the return. The registers are then those of the caller, so a walk by frame
 * pointers finds all frames. Returns are caught by a return probe, or, if an exception can pass
 * through the function, by probes on each `ret`, which do not change the stack. The code of an
 * `operator new` that calls malloc() may have no frame pointers, so the caller of operator new is
 * saved at the entry.
 *
 * realloc() frees its old block when it succeeds. Before it returns, another thread can get that
 * memory. So the block is removed from the table at the entry, and put back after a failure.
 *
 * Sampling selects a block with a probability of 1 - exp(-size / interval), as if marks were spread
 * at random over all allocated bytes, one for each `interval`, and each block with a mark were
 * selected. A selected block stands for 1 / p blocks like it. All later events of a block depend on
 * whether it is in the table.
 */
#include "bpf/context.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/memory.bpf.h"
#include "bpf/piece.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * The maximum distance on the stack between operator new and the malloc() that operator new calls.
 */
#define NEW_BYTES 512

const volatile __u32 memory_log = 0;
const volatile __u64 memory_interval = 0; /* 0 = every block is selected */
const volatile __u64 memory_min_bytes = 0;

__u32 memory_context = 0;

struct memory_processes memory_processes SEC(".maps");
struct memory_stacks memory_stacks SEC(".maps");
struct memory_threads memory_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MEMORY_BLOCKS_DEFAULT); /* set by user space */
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct memory_key);
	__type(value, struct memory_block);
} memory_blocks SEC(".maps");

/* ---- stacks ---- */

/*
 * Returns a number for the file that PROCESS has mapped at ADDRESS, and for the place of the
 * mapping; 0 = no mapping; UNWIND_FILE_NONE = a mapping without a file. (The verifier checks a
 * global function once, and not for each frame.)
 */
__noinline __u64 memory_file_at(const struct unwind_process *process, __u64 address)
{
	__u64 page = address >> UNWIND_PAGE_SHIFT, first;
	const struct unwind_mapping *m;
	__u32 at;

	if (!process)
		return 0;
	at = unwind_search_mappings(process, page) - 1;
	if (at >= UNWIND_MAPPINGS_MAX)
		return 0;
	m = &process->mappings[at];
	first = UNWIND_WHERE_FIRST(m->where);
	if (page - first >= UNWIND_WHERE_N(m->where))
		return 0;
	/* Mappings without a file are merged, so the place of such a mapping is unknown. */
	if (m->file == UNWIND_FILE_NONE)
		return UNWIND_FILE_NONE;
	return (__u64)(m->file_page - (__u32)first) << 32 | (__u32)m->generation << 16 | m->file;
}

/* Returns a hash of the files of PROCESS that the frames of STACK are in. */
__noinline __u64 memory_hash_files(const struct unwind_process *process,
				   const struct memory_stack *stack)
{
	__u64 h = 0;
	__u32 n;

	if (!process || !stack)
		return 0;
	n = stack->n_frames;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < MEMORY_FRAMES_MAX; i++) {
		if (i >= n)
			break;
		h = stack_mix(h, memory_file_at(process, stack->frames[i] - 1));
	}
	return h;
}

/*
 * Returns a number for the files that the frames of STACK are in. As long as no mapping of the
 * process was replaced, the addresses distinguish the files, and the number is 0. While the
 * mappings change, the wrong files can be found, and the stack would get a separate entry. A change
 * takes some microseconds, so a second attempt is usually right.
 */
static __always_inline __u64 memory_stack_files(const struct memory_stack *stack)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, sequence;
	const struct unwind_process *process;
	__u64 h;

	if (!unwind_by_tables)
		return 0;
	process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	if (!process || !process->replaced)
		return 0;
	sequence = *(volatile const __u32 *)&process->sequence;
	h = memory_hash_files(process, stack);
	if (sequence & 1 || sequence != *(volatile const __u32 *)&process->sequence)
		h = memory_hash_files(process, stack);
	return h;
}

__noinline __u64 memory_stack_hash(__u64 h, const struct memory_stack *stack, __u32 at)
{
	return stack ? stack_hash_stride(h, stack->frames, at, stack->n_frames, MEMORY_FRAMES_MAX)
		     : h;
}

__noinline __u64 memory_stack_id(struct memory_stack *stack)
{
	__u64 files, h = stack_seed;

	if (!stack)
		return 0;
	files = memory_stack_files(stack);
	if (files)
		h = stack_mix(h, files);
#pragma clang loop unroll(disable)
	for (__u32 at = 0; at < MEMORY_FRAMES_MAX; at += STACK_STRIDE) {
		if (at >= stack->n_frames)
			break;
		h = memory_stack_hash(h, stack, at);
	}
	return stack_hash_end(h, stack->n_frames);
}

__u32 memory_stack_true(struct memory_stack *stack)
{
	return stack ? stack_true_frames(stack->frames, stack->n_frames, MEMORY_FRAMES_MAX) : 0;
}

/*
 * Each copied stack has a separate entry in memory_stacks, which all processes share, so the number
 * of copies is limited. User space subtracts the entries that it removes.
 */
#define MEMORY_COPIES_MAX (MEMORY_STACKS_MAX / 8)

__s32 memory_copied = 0;

__noinline __u64 memory_copy_stack(struct memory_thread *t, __u32 n, __u32 instance)
{
	__u64 now_ns = bpf_ktime_get_boot_ns(), id = 0;
	struct piece_source s = {
		.kind = STACK_COPIES_OF_ALLOCATION,
		.instance = instance,
		.n_frames = n,
		.n_frames_room = MEMORY_FRAMES_MAX,
		.is_modest = true,
	};

	if (!t)
		return 0;
	if (memory_copied < MEMORY_COPIES_MAX && piece_copies(now_ns, s.kind) == s.kind) {
		/*
		 * Learning the callers takes longer than the walk, so it has the same limits as
		 * copies.
		 */
		stack_learn_callers_if_needed(&t->stopped, &t->learning);
		t->stack.n_frames = n;
		s.at = &t->stopped;
		s.frames = t->stack.frames;
		s.hash = memory_stack_id(&t->stack);
		if (!piece_send(&s, now_ns, &id))
			piece_count_unsent();
		else
			__sync_fetch_and_add(&memory_copied, 1);
	}
	return id;
}

/* ---- sampling ---- */

#define ONE (1ull << 32)

/* Returns 1 - exp(-X) in units of 2^-32. X has the same unit, and is less than 32. */
static __always_inline __u64 memory_probability(__u64 x)
{
	bool is_small = x < ONE / 8;
	__u64 y = is_small ? x : x >> 8, y2 = y * y >> 32, y3 = y2 * y >> 32, y4 = y3 * y >> 32;
	__u64 p = y - y2 / 2 + y3 / 6 - y4 / 24 + (y4 * y >> 32) / 120;
	__u64 rest = ONE - p;

	if (is_small)
		return p;
	for (int i = 0; i < 8; i++)
		rest = rest * rest >> 32;
	return ONE - rest;
}

/* Returns the number of blocks that a block of SIZE bytes stands for; 0 = it is skipped. */
static __always_inline __u32 memory_weigh(__u64 size)
{
	__u64 p, weight;

	if (size < memory_min_bytes)
		return 0;
	if (memory_interval == 0)
		return 1;
	if (size == 0)
		size = 1;
	if (size / memory_interval >= 32)
		return 1;
	p = memory_probability((size / memory_interval << 32) +
			       (size % memory_interval << 32) / memory_interval);
	if (bpf_get_prandom_u32() >= p)
		return 0;
	/* The weight is rounded up or down at random, so that it is right on average. */
	weight = ONE / p;
	return (__u32)weight + ((__u64)bpf_get_prandom_u32() * p >> 32 < ONE % p);
}

/* ---- blocks ---- */

static __always_inline void send_alloc(const struct memory_key *key,
				       const struct memory_block *block)
{
	struct rec_alloc *rec = rec_reserve(REC_ALLOC_RING, sizeof(*rec), block->ts_ns);

	if (!rec)
		return;
	rec_fill_head(&rec->head, block->ts_ns, REC_ALLOC, sizeof(*rec),
		      bpf_get_current_task_btf());
	rec->id = key->id;
	rec->size = block->size;
	rec->stack = block->stack;
	rec->resource = key->resource;
	rec->function = block->function;
	rec->context = block->context;
	rec->instance = key->instance;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

static __always_inline void send_free(const struct memory_key *key, __u32 function)
{
	__u64 now_ns = bpf_ktime_get_boot_ns();
	struct rec_free *rec = rec_reserve(REC_FREE_RING, sizeof(*rec), now_ns);

	if (!rec)
		return;
	rec_fill_head(&rec->head, now_ns, REC_FREE, sizeof(*rec), bpf_get_current_task_btf());
	rec->id = key->id;
	rec->resource = key->resource;
	rec->function = function;
	rec->instance = key->instance;
	rec->pad_0 = 0;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

static __always_inline void forget_block(const struct memory_key *key,
					 const struct memory_block *block)
{
	memory_remove(key->instance, key->resource, block->stack, block->weight,
		      block->size * block->weight);
}

static __always_inline void memory_insert(struct memory_process *process,
					  const struct memory_key *key,
					  const struct memory_block *block)
{
	struct memory_block *other;
	long r = bpf_map_update_elem(&memory_blocks, key, block, BPF_NOEXIST);

	if (r == -17 /* EEXIST: the free of the earlier block was missed */) {
		other = bpf_map_lookup_elem(&memory_blocks, key);
		if (other)
			forget_block(key, other);
		memory_count(&process->lost);
		r = bpf_map_update_elem(&memory_blocks, key, block, BPF_ANY);
	}
	if (r < 0) {
		memory_count(&process->full);
		forget_block(key, block);
	}
}

/*
 * Walks the stack of CALL, which thread T of PROCESS has made, into T's work area. Sets *RET_BY_NEW
 * if operator new has made the call. A walk by frame pointers can then miss the caller of operator
 * new, so that caller is inserted. Returns the number of frames.
 */
static __always_inline __u32 memory_walk(struct pt_regs *ctx, struct memory_process *process,
					 struct memory_thread *t, struct memory_call *call,
					 bool at_ret, bool *ret_by_new)
{
	__u64 *frames = t->stack.frames, inner = 0;
	__u32 n;

	*ret_by_new = call->new_sp > call->sp && call->new_sp - call->sp <= NEW_BYTES;
	n = memory_walk_tables(t, at_ret, process);
	if (n != STACK_NOT_WALKED) {
		call->new_sp = 0;
		return n;
	}
	if (!*ret_by_new) {
		n = stack_walk_user_memory(ctx, &t->stack, false);
		if (at_ret && n > 0)
			frames[0] = call->caller;
		return n;
	}
	call->new_sp = 0;
	n = stack_walk_user_memory(ctx, &t->stack, true);
	if (n == 0)
		return 0;
	inner = at_ret ? call->caller : frames[1];
	if (n > 1 && frames[2] == call->new_caller) {
		n = stack_walk_user_memory(ctx, &t->stack, false);
		frames[0] = inner;
		return n;
	}
	frames[0] = inner;
	frames[1] = call->new_caller;
	return n + 1;
}

/* Returns the requested size of the block. */
static __always_inline __u64 memory_size_of(const struct memory_call *call)
{
	switch (call->function) {
	case MEMORY_FN_CALLOC:
		return call->args[0] * call->args[1];
	case MEMORY_FN_REALLOC:
	case MEMORY_FN_RALLOCX:
	case MEMORY_FN_ALIGNED_ALLOC:
	case MEMORY_FN_MEMALIGN:
		return call->args[1];
	case MEMORY_FN_REALLOCARRAY:
		return call->args[1] * call->args[2];
	case MEMORY_FN_POSIX_MEMALIGN:
		return call->args[2];
	default:
		return call->args[0];
	}
}

/* Handles the return of the outermost call of T, with the result ADDRESS. CTX has the registers. */
static __always_inline void memory_allocated(struct pt_regs *ctx, struct memory_process *process,
					     struct memory_thread *t, __u64 address, bool at_ret)
{
	struct memory_call *call = &t->call;
	__u64 size = memory_size_of(call);
	struct memory_key key = {
		.id = address,
		.instance = process->instance,
		.resource = MEMORY_RESOURCE_MEMORY,
	};
	struct memory_block block = {
		.size = size,
		.tid = (__u32)bpf_get_current_pid_tgid(),
		.context = *(volatile __u32 *)&memory_context,
		.function = call->function,
		.weight = call->weight,
	};
	bool by_new;
	__u32 n;

	if (call->weight == 0)
		return;
	n = memory_walk(ctx, process, t, call, at_ret, &by_new);
	if (by_new)
		block.function = MEMORY_FN_NEW;
	block.stack =
		memory_keep_stack(process, t, n, key.resource, block.weight, size * block.weight);
	block.ts_ns = bpf_ktime_get_boot_ns();
	memory_insert(process, &key, &block);
	if (memory_log)
		send_alloc(&key, &block);
}

/* Counts a free of an unknown block, unless blocks are skipped by sampling or size. */
static __always_inline void count_unmatched(struct memory_process *process)
{
	if (memory_interval == 0 && memory_min_bytes == 0)
		memory_count(&process->unmatched);
}

static __always_inline void memory_freed(struct memory_process *process, struct memory_thread *t,
					 __u64 address, __u32 function)
{
	struct memory_key key = {
		.id = address,
		.instance = process->instance,
		.resource = MEMORY_RESOURCE_MEMORY,
	};
	struct memory_block *known = bpf_map_lookup_elem(&memory_blocks, &key), block;
	/*
	 * operator delete can call another probed function, which frees the same block. This second
	 * free is then not unmatched.
	 */
	bool again = t && t->call.freed == address;

	if (t)
		t->call.freed = address;
	if (!known) {
		if (!again)
			count_unmatched(process);
		return;
	}
	block = *known;
	/*
	 * If two CPUs free the same block at once (an error of the recorded program), only one free
	 * is counted.
	 */
	if (bpf_map_delete_elem(&memory_blocks, &key) < 0)
		return;
	forget_block(&key, &block);
	if (memory_log)
		send_free(&key, function);
}

/* ---- calls ---- */

/* Removes realloc()'s argument from the table. */
static __always_inline void memory_remove_old(struct memory_process *process,
					      struct memory_call *call)
{
	struct memory_key key = {
		.id = call->args[0],
		.instance = process->instance,
		.resource = MEMORY_RESOURCE_MEMORY,
	};
	struct memory_block *known = key.id ? bpf_map_lookup_elem(&memory_blocks, &key) : NULL;

	if (!known)
		return;
	call->old = *known;
	call->has_old = bpf_map_delete_elem(&memory_blocks, &key) == 0;
}

static __always_inline bool is_realloc(__u32 function)
{
	return function == MEMORY_FN_REALLOC || function == MEMORY_FN_REALLOCARRAY ||
	       function == MEMORY_FN_RALLOCX;
}

/* Returns the member of T that stores a call of FUNCTION. */
static __always_inline struct memory_call *memory_call_for(struct memory_thread *t, __u32 function)
{
	return function >= MEMORY_FN_PTHREAD_CREATE ? &t->thread_call : &t->call;
}

/*
 * Returns true if the first argument of FUNCTION is a heap, followed by the arguments of another
 * function.
 */
static __always_inline bool is_behind_heap(__u32 function)
{
	return function >= MEMORY_FN_HEAP_CALLOC && function <= MEMORY_FN_HEAP_REALLOCARRAY;
}

/*
 * Returns the function of COOKIE. If its first argument is a heap, returns the function that has
 * the same arguments without the heap.
 */
static __always_inline __u32 function_of(__u32 cookie)
{
	__u32 function = MEMORY_COOKIE_FN(cookie);

	return is_behind_heap(function) ? function - MEMORY_FN_HEAP_CALLOC + MEMORY_FN_CALLOC
					: function;
}

/* Handles the entry of a function that has a result. Returns true if the return is needed. */
static __always_inline bool memory_enter(struct pt_regs *ctx, __u32 cookie)
{
	struct memory_process *process = memory_process();
	bool behind = is_behind_heap(MEMORY_COOKIE_FN(cookie));
	__u64 first = PT_REGS_PARM1(ctx), second = PT_REGS_PARM2(ctx), third = PT_REGS_PARM3(ctx);
	__u32 function = function_of(cookie);
	struct memory_thread *t;
	struct memory_call *call;
	__u64 sp = PT_REGS_SP(ctx);
	bool jumped;

	if (!process)
		return false;
	/*
	 * Without the barriers, the compiler would choose between addresses in the context, which
	 * the verifier refuses.
	 */
	barrier_var(first);
	barrier_var(second);
	if (behind) {
		first = second;
		second = third;
		third = PT_REGS_PARM4(ctx);
	}
	t = memory_thread(true);
	if (!t) {
		memory_count(&process->lost);
		return false;
	}
	call = memory_call_for(t, function);
	if (memory_is_nested(call, process->instance, function, sp))
		return false;
	/*
	 * The allocator creates this thread for its own use, so the thread does not belong to the
	 * program.
	 */
	if (call != &t->call && memory_is_nested(&t->call, process->instance, function, sp))
		return false;
	/*
	 * A realloc() has jumped to another realloc(), and the old block is already out of the
	 * table.
	 */
	jumped = call->function == function && call->instance == process->instance &&
		 call->sp == sp && call->has_old && call->args[0] == first;
	call->function = 0;
	call->freed = 0;
	call->sp = sp;
	call->args[0] = first;
	call->args[1] = second;
	call->args[2] = third;
	call->caller = 0;
	call->instance = process->instance;
	call->strange = 0;
	call->has_old = jumped;
	if (cookie & MEMORY_COOKIE_RET &&
	    bpf_probe_read_user(&call->caller, sizeof(call->caller), (const void *)sp) < 0) {
		memory_count(&process->lost);
		return false;
	}
	call->function = function;
	call->weight = memory_weigh(memory_size_of(call));
	if (is_realloc(function) && !jumped)
		memory_remove_old(process, call);
	/*
	 * malloc() calls no other probed function, so the return of a skipped call is not needed.
	 */
	if (function == MEMORY_FN_MALLOC && call->weight == 0) {
		call->function = 0;
		return false;
	}
	return true;
}

/*
 * Handles the return of a realloc(), the outermost call of T, with the result ADDRESS: ends the old
 * block.
 */
static __always_inline void realloc_returned(struct memory_process *process,
					     struct memory_thread *t, __u64 address)
{
	struct memory_call *call = &t->call;
	struct memory_key key = {
		.id = call->args[0],
		.instance = process->instance,
		.resource = MEMORY_RESOURCE_MEMORY,
	};

	if (!address && (call->args[1] != 0 &&
			 (call->function != MEMORY_FN_REALLOCARRAY || call->args[2] != 0))) {
		memory_count(&process->failed);
		if (call->has_old)
			memory_insert(process, &key, &call->old);
		return;
	}
	if (call->has_old) {
		forget_block(&key, &call->old);
		if (memory_log)
			send_free(&key, call->function);
	} else if (key.id) {
		count_unmatched(process);
	}
	if (!address && !key.id)
		memory_count(&process->failed);
}

/* Reads words 0, 1 and 3 of the attributes of a new thread, if they are readable. */
static __always_inline void memory_read_attributes(struct rec_resource *rec, __u64 attr)
{
	bpf_probe_read_user(&rec->args[1], 2 * sizeof(attr), (const void *)attr);
	bpf_probe_read_user(&rec->args[3], sizeof(attr), (const void *)(attr + 3 * sizeof(attr)));
}

/*
 * Handles the successful return of the outermost call of T to a thread function (pthread_create()).
 */
static __always_inline void thread_call_returned(struct pt_regs *ctx,
						 struct memory_process *process,
						 struct memory_thread *t, bool at_ret)
{
	struct memory_call *call = &t->thread_call;
	__u64 thread = call->args[0], stack = 0;
	struct rec_resource *rec;
	__u32 operation, n;
	bool by_new;

	if (call->function == MEMORY_FN_PTHREAD_CREATE) {
		operation = RESOURCE_OP_THREAD_CREATE;
		if (bpf_probe_read_user(&thread, sizeof(thread), (const void *)thread) < 0)
			return;
		n = memory_walk(ctx, process, t, call, at_ret, &by_new);
		stack = memory_keep_stack(process, t, n, MEMORY_RESOURCE_THREAD, 1, 0);
	} else {
		operation = call->function == MEMORY_FN_PTHREAD_JOIN ? RESOURCE_OP_THREAD_JOIN
								     : RESOURCE_OP_THREAD_DETACH;
	}
	rec = memory_call_record(process, operation);
	if (!rec)
		return;
	rec->args[0] = thread;
	if (operation == RESOURCE_OP_THREAD_CREATE)
		memory_read_attributes(rec, call->args[1]);
	rec->stack = stack;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

static __always_inline void memory_leave(struct pt_regs *ctx, __u32 cookie, bool at_ret)
{
	struct memory_thread *t = memory_thread(false);
	__u32 function = function_of(cookie);
	struct memory_key key = { .resource = MEMORY_RESOURCE_MEMORY };
	struct memory_process *process;
	__u64 sp = PT_REGS_SP(ctx), result = PT_REGS_RC(ctx);
	struct memory_call *call;

	if (!t)
		return;
	call = memory_call_for(t, function);
	if (call->function != function)
		return;
	/* If the function has a return probe, that probe handles the return. */
	if (at_ret ? sp != call->sp || !call->caller : sp < call->sp)
		return;
	process = memory_process();
	if (!process && call->has_old) {
		/*
		 * The process is no longer watched. User space is about to read the table, so the
		 * old block is put back.
		 */
		key.id = call->args[0];
		key.instance = call->instance;
		bpf_map_update_elem(&memory_blocks, &key, &call->old, BPF_NOEXIST);
	}
	if (process && process->instance == call->instance) {
		if (function >= MEMORY_FN_PTHREAD_CREATE) {
			if (result == 0)
				thread_call_returned(ctx, process, t, at_ret);
		} else {
			if (function == MEMORY_FN_POSIX_MEMALIGN &&
			    (result != 0 || bpf_probe_read_user(&result, sizeof(result),
								(const void *)call->args[0]) < 0))
				result = 0;
			if (is_realloc(function))
				realloc_returned(process, t, result);
			else if (!result)
				memory_count(&process->failed);
			if (result)
				memory_allocated(ctx, process, t, result, at_ret);
		}
	}
	call->function = 0;
}

/*
 * Handles the entry of an operator new that calls malloc(). If several operators new call each
 * other, the outermost one counts.
 */
static __always_inline void enter_new(struct pt_regs *ctx)
{
	struct memory_thread *t;
	__u64 sp = PT_REGS_SP(ctx), caller;

	if (!memory_process())
		return;
	t = memory_thread(true);
	if (!t || (t->call.new_sp > sp && t->call.new_sp - sp <= NEW_BYTES))
		return;
#if defined(__TARGET_ARCH_x86)
	if (bpf_probe_read_user(&caller, sizeof(caller), (const void *)sp) < 0)
		return;
#else
	caller = PT_REGS_RET(ctx);
#endif
	t->call.new_sp = sp;
	t->call.new_caller = caller;
}

static __always_inline void enter_free(struct pt_regs *ctx, __u32 function)
{
	struct memory_process *process = memory_process();
	__u64 address = PT_REGS_PARM1(ctx);
	struct memory_thread *t;

	if (!process || !address)
		return;
	t = memory_thread(true);
	if (t && memory_is_nested(&t->call, process->instance, function, PT_REGS_SP(ctx)))
		return;
	memory_freed(process, t, address, function);
}

/* (the blocks of the destroyed heap are unknown, so all of them stay in the table) */
static __always_inline void enter_heap_destroy(void)
{
	struct memory_process *process = memory_process();

	if (process)
		__sync_fetch_and_or(&process->flags, MEMORY_PROCESS_HEAP_DESTROYED);
}

/* ---- eBPF programs: the kernel's features determine which of them are attached ---- */

/* The entry of functions without a return: free(), and operator new that calls malloc(). */
SEC("?uprobe")
int TIMED_WITH(COST_MEMORY, on_memory_entry, struct pt_regs *, ctx)
{
	__u32 function = MEMORY_COOKIE_FN((__u32)bpf_get_attach_cookie(ctx));

	switch (function) {
	case MEMORY_FN_FREE:
	case MEMORY_FN_DELETE_DIRECT:
	case MEMORY_FN_DALLOCX:
		enter_free(ctx, function);
		break;
	case MEMORY_FN_NEW:
		enter_new(ctx);
		break;
	case MEMORY_FN_HEAP_DESTROY:
		enter_heap_destroy();
		break;
	}
	return 0;
}

/* The entry of a function that returns a block. */
SEC("?uprobe")
int TIMED_WITH(COST_MEMORY, on_memory_call, struct pt_regs *, ctx)
{
	memory_enter(ctx, (__u32)bpf_get_attach_cookie(ctx));
	return 0;
}

/* The return of a function that returns a block, in a return probe. */
SEC("?uprobe")
int TIMED_WITH(COST_MEMORY, on_memory_return, struct pt_regs *, ctx)
{
	memory_leave(ctx, (__u32)bpf_get_attach_cookie(ctx), false);
	return 0;
}

/* The return of a function that returns a block, in a probe on a `ret`. */
SEC("?uprobe")
int TIMED_WITH(COST_MEMORY, on_memory_ret, struct pt_regs *, ctx)
{
	memory_leave(ctx, (__u32)bpf_get_attach_cookie(ctx), true);
	return 0;
}

/*
 * The entry and the return in one eBPF program. At the entry, a result of 1 turns off the return
 * probe.
 */
SEC("?uprobe")
int TIMED_WITH(COST_MEMORY, on_memory_session, struct pt_regs *, ctx)
{
	__u32 cookie = (__u32)bpf_get_attach_cookie(ctx);

	if (PT_REGS_IP(ctx) == bpf_get_func_ip(ctx))
		return !memory_enter(ctx, cookie);
	memory_leave(ctx, cookie, false);
	return 0;
}
