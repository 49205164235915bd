/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Call stacks: how they are walked, and how they cross the ring.
 *
 * Equal stacks cross once. A stack is known by a hash of its frames, and each CPU remembers the ids
 * that it has put into its own ring, where a record that names one stands behind it. What it
 * forgets (the memory is small) it sends again, and user space, which finds it known, passes it
 * over. User space forgets, too, when it has kept too many: it then counts `stack_generation` up,
 * which is part of each id. So nothing that was sent under an older one counts as sent any more. A
 * stack that could not be sent is not remembered, and the record that would have named it is lost
 * with it, and counted.
 */
#pragma once

#include "bpf/filter.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"

struct stack_rooms {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_ROOMS);
	__type(key, __u32);
	__type(value, struct rec_stack);
};

struct stacks_sent {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_SETS);
	__type(key, __u32);
	__type(value, struct stack_set);
};

struct unwind_walk;

extern struct stack_rooms stack_rooms SEC(".maps");
extern struct stacks_sent stacks_sent SEC(".maps");

extern const volatile __u64 stack_seed; /* nobody can make up two stacks of one id */
extern __u32 stack_generation;          /* user space counts it up */

extern const volatile bool stacks_of_none; /* nobody wants stacks of programs */

/* As the kernel walks its own, from what was interrupted. */
static __always_inline __u32 stack_walk_kernel(void *ctx, __u64 *frames)
{
	long bytes = bpf_get_stack(ctx, frames, STACK_FRAMES_MAX * sizeof(*frames), 0);

	return bytes > 0 ? (__u32)bytes / sizeof(*frames) : 0;
}

/* Of a task that does not run. */
static __always_inline __u32 stack_walk_kernel_of(struct task_struct *p, __u64 *frames)
{
	long bytes = bpf_get_task_stack(p, frames, STACK_FRAMES_MAX * sizeof(*frames), 0);

	return bytes > 0 ? (__u32)bytes / sizeof(*frames) : 0;
}

static __always_inline __u64 stack_mix(__u64 h, __u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ (h >> 29);
}

/* Of N frames, at most MAX; never 0. */
static __always_inline __u64 stack_hash_from(__u64 h, const __u64 *frames, __u32 n, __u32 max)
{
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < max; i++) {
		if (i >= n)
			break;
		h = stack_mix(h, frames[i]);
	}
	h = stack_mix(h, n);
	return h ? h : 1;
}

/* Of the first N frames of S. (A function of its own, as the next one.) */
__u64 stack_hash_of(const struct rec_stack *s, __u32 n);

/*
 * Whether ADDRESS, of the current task, stands behind an instruction that calls: else nothing will
 * return to it. Where we do not know the instructions, all do. (A function of its own, as the next
 * one: the verifier looks at it once, not in each round of a loop.)
 */
bool stack_follows_call(__u64 address);

/*
 * By tables or by frame pointers, of the current task, from the registers that it has in user
 * space, into TO. Returns how many frames there are; STACK_NOT_WALKED where the kernel has to do
 * it.
 */
#define STACK_NOT_WALKED 0xffffffffu
__u32 stack_walk_record(struct rec_stack *to);

/*
 * Likewise; but where the table of a file is still being made, the walk may end in *RET_STOPPED,
 * whose IP is not 0 then, if the caller COPIES: bpf/piece.bpf.h.
 */
__u32 stack_walk_or_stop(struct rec_stack *to, struct unwind_walk *ret_stopped, bool copies);

/*
 * Likewise, from number FIRST on, which is 0 or 1. Returns how many frames there are from there on.
 */
__u32 stack_walk_memory(struct memory_stack *to, __u32 first);

/*
 * By tables alone, without the innermost SKIP frames, 0 or 1; with them, if no caller is found.
 * Returns how many frames there are; STACK_NOT_WALKED where it has to be done in other ways.
 */
__u32 stack_walk_callers(struct memory_stack *to, __u32 skip);

static __always_inline __u32 stack_walk_by_kernel(void *ctx, __u64 *frames, __u32 bytes)
{
	long n = bpf_get_stack(ctx, frames, bytes, BPF_F_USER_STACK);

	return n > 0 ? (__u32)n / sizeof(*frames) : 0;
}

/* The stack of P, which is current, in user space. */
static __always_inline __u32 stack_walk_user(void *ctx, struct task_struct *p, struct rec_stack *to)
{
	__u32 n;

	if (p->flags & PF_KTHREAD || stacks_of_none)
		return 0;
	n = stack_walk_record(to);
	return n != STACK_NOT_WALKED ? n
				     : stack_walk_by_kernel(ctx, to->frames, sizeof(to->frames));
}

/* Likewise, from number 0 on, or 1. */
static __always_inline __u32 stack_walk_user_memory(void *ctx, struct memory_stack *to, bool from_1)
{
	__u32 n = stack_walk_memory(to, from_1);

	if (n != STACK_NOT_WALKED)
		return n;
	return from_1 ? stack_walk_by_kernel(ctx, to->frames + 1,
					     sizeof(to->frames) - sizeof(to->frames[0]))
		      : stack_walk_by_kernel(ctx, to->frames, sizeof(to->frames));
}

/*
 * How many of the N frames, at most MAX, of the current task can be true: up to the first that
 * nothing returns to. Code without frame pointers keeps other things where the next one is looked
 * for.
 */
static __always_inline __u32 stack_true_frames(const __u64 *frames, __u32 n, __u32 max)
{
#pragma clang loop unroll(disable)
	for (__u32 i = 1; i < max; i++)
		if (i >= n || !stack_follows_call(frames[i]))
			return i < n ? i : n;
	return n;
}

/* The callers of the function that a system call was made in, innermost first. */
#define STACK_CALLERS_MAX 7 /* with room for one more, for the verifier */
struct stack_callers {
	__u32 n;
	__u32 direct; /* 1: the first one names the function itself, as only its own file can */
	__u64 at;     /* where the last one stands on the stack */
	__u64 bp;     /* the frame of the function that it returns to; 0 = it has none */
	__u64 frames[STACK_CALLERS_MAX + 1];
};

#if defined(__TARGET_ARCH_x86)
/*
 * No function that makes system calls, or calls one that does, is longer; if so, we do not know it.
 */
#define STACK_FUNCTION_BYTES 4096
#define STACK_SCAN_WORDS     96 /* shm_open() has a path on its stack */
#define STACK_NEAR_BYTES     (1 << 20)

/*
 * What the 8 bytes of instructions before ADDRESS call, if they do it by a constant or one in
 * memory; else 0.
 */
static __always_inline __u64 stack_called_by(__u64 address, bool *ret_direct)
{
	__u8 code[8];
	__u64 target = 0;
	__s32 offset;

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(address - sizeof(code))) < 0)
		return 0;
	__builtin_memcpy(&offset, code + 4, sizeof(offset));
	*ret_direct = code[3] == 0xe8;
	if (*ret_direct)
		return address + offset;
	if (code[2] == 0xff && code[3] == 0x15 &&
	    bpf_probe_read_user(&target, sizeof(target), (const void *)(address + offset)) < 0)
		return 0;
	return target;
}

/* Where a jump by a word in memory at ADDRESS, as tables of linkage have it, leads to; else 0. */
static __always_inline __u64 stack_linked_to(__u64 address)
{
	__u8 code[16];
	__u64 target = 0;
	__s32 offset;
	__u32 at;

	if (bpf_probe_read_user(code, sizeof(code), (const void *)address) < 0)
		return 0;
	at = code[0] == 0xf3 && code[1] == 0x0f ? 4 : 0; /* endbr64 */
	at += code[at] == 0xf2;                          /* bnd */
	if (code[at] != 0xff || code[at + 1] != 0x25)
		return 0;
	__builtin_memcpy(&offset, code + at + 2, sizeof(offset));
	bpf_probe_read_user(&target, sizeof(target), (const void *)(address + at + 6 + offset));
	return target;
}

/* Whether ADDRESS stands behind a call of the function that INSIDE is in. */
static __always_inline bool stack_calls_into(__u64 address, __u64 inside, bool *ret_direct)
{
	__u64 target = stack_called_by(address, ret_direct);

	if (target && inside - target < STACK_FUNCTION_BYTES)
		return true;
	target = target ? stack_linked_to(target) : 0;
	*ret_direct = false;
	return target && inside - target < STACK_FUNCTION_BYTES;
}

/* Whether BP can be the frame of a function that a return address at AT leads into. */
static __always_inline bool stack_is_frame(__u64 bp, __u64 at)
{
	__u64 caller;

	return bp > at && bp - at < STACK_NEAR_BYTES && bp % sizeof(bp) == 0 &&
	       bpf_probe_read_user(&caller, sizeof(caller), (const void *)(bp + 8)) == 0 &&
	       stack_follows_call(caller);
}

/*
 * The frame of the function that the last of the callers TO returns to, BP being in its register:
 * where a library uses that for something else, it has put it on the stack, from SP on.
 */
static __always_inline void stack_find_frame(__u64 sp, __u64 bp, struct stack_callers *to)
{
	__u64 word;

	to->bp = stack_is_frame(bp, to->at) ? bp : 0;
#pragma clang loop unroll(disable)
	for (__u32 i = 1; i < STACK_SCAN_WORDS; i++) {
		__u64 at = to->at - i * sizeof(word);

		if (to->bp || at < sp ||
		    bpf_probe_read_user(&word, sizeof(word), (const void *)at) < 0)
			break;
		if (stack_is_frame(word, to->at))
			to->bp = word;
	}
}

/*
 * A function that makes a system call has no frame of its own, so that a walk by frame pointers
 * misses its caller; the library that it is of may have none at all. What they return to stands on
 * the stack: it is found by the calls before it, which lead where the one below is. From stack
 * pointer SP and instruction IP on, to the first one of another file.
 */
static __always_inline void stack_find_callers(__u64 sp, __u64 ip, struct stack_callers *to)
{
	__u64 word;
	bool direct;

	to->n = to->direct = to->at = to->bp = 0;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < STACK_SCAN_WORDS; i++) {
		__u64 at = sp + i * sizeof(word);
		__u32 n = to->n;

		if (n >= STACK_CALLERS_MAX)
			break;
		if (bpf_probe_read_user(&word, sizeof(word), (const void *)at) < 0)
			break;
		/* (most others are small numbers, or point into the stack) */
		if (word < 0x10000 || word >> 47 || word - sp < STACK_NEAR_BYTES)
			continue;
		direct = false;
		/*
		 * Right on top it is one, whatever it calls: a pointer, or a function that jumps
		 * on.
		 */
		if (!stack_calls_into(word, ip, &direct) && (i > 0 || !stack_follows_call(word)))
			continue;
		if (n == 0)
			to->direct = direct;
		/*
		 * (or the compiler leaves the mask out, and the verifier of Linux 6.1 has forgotten
		 * the limit)
		 */
		barrier_var(n);
		to->frames[n & 7] = word;
		to->n = n + 1;
		to->at = at;
		/*
		 * Out of the library; what is outside has frames, or is not to be found without
		 * knowing more.
		 */
		if (!direct)
			break;
		ip = word;
	}
}

/*
 * Frames by frame pointers from BP on, into FRAMES from number N on, up to MAX, a power of two.
 * Returns how many there are.
 */
static __always_inline __u32 stack_walk_from(__u64 bp, __u64 *frames, __u32 n, __u32 max)
{
	__u64 frame[2];
	__u32 at;

#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < max; i++) {
		if (n >= max || bpf_probe_read_user(frame, sizeof(frame), (const void *)bp) < 0 ||
		    !frame[1])
			break;
		at = n++;
		/* (the verifier is to see that it is below MAX) */
		asm volatile("" : "+r"(at));
		frames[at & (max - 1)] = frame[1];
		if (frame[0] <= bp)
			break;
		bp = frame[0];
	}
	return n;
}
#endif

/*
 * Sees to it that user space gets or has the N frames in S, which the thread WHO had at NOW_NS.
 * *RET_ID is what to name them by; 0 if there are none. False if they could not be sent; that is
 * counted. (A function of its own: all that send stacks share what the verifier found of it.)
 */
bool stack_send_of(struct rec_stack *s, __u32 n, __u64 who, __u64 now_ns, __u64 *ret_id);

/* Likewise, of P. */
static __always_inline bool stack_send(struct rec_stack *s, __u32 n, struct task_struct *p,
				       __u64 now_ns, __u64 *ret_id)
{
	*ret_id = 0;
	return n == 0 || stack_send_of(s, n, rec_who(p), now_ns, ret_id);
}

static __always_inline struct rec_stack *stack_room(__u32 which)
{
	return bpf_map_lookup_elem(&stack_rooms, &which);
}
