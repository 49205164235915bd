/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Call stacks: how they are walked, and how they cross the ring.
 *
 * Equal stacks cross once. A stack is known by a hash of its frames, and each CPU remembers the ids
 * that it has put into its own ring, where whoever names one stands behind it. What it forgets (the
 * memory is small) it sends again, and user space, which finds it known, passes it over. User space
 * forgets, too, when it has kept too many: it then counts `stack_generation` up, which is part of
 * each id. So nothing that was sent under an older one counts as sent any more. A stack that could
 * not be sent is not remembered, and whoever would have named it is lost with it, and counted.
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

extern struct stack_rooms stack_rooms SEC(".maps");
extern struct stacks_sent stacks_sent SEC(".maps");

extern const volatile __u64 stack_seed; /* nobody can make up two stacks of one id */
extern __u32 stack_generation;          /* user space counts it up */

/*
 * By frame pointers, of the current task, into BYTES of FRAMES. In a probe of user space: from the
 * registers as they are there. Returns how many.
 */
static __always_inline __u32 stack_walk_user_to(void *ctx, __u64 *frames, __u32 bytes)
{
	long n = bpf_get_stack(ctx, frames, bytes, BPF_F_USER_STACK);

	return n > 0 ? (__u32)n / sizeof(*frames) : 0;
}

/* Likewise, of P, that is current. */
static __always_inline __u32 stack_walk_user(void *ctx, struct task_struct *p, __u64 *frames)
{
	if (p->flags & PF_KTHREAD)
		return 0;
	return stack_walk_user_to(ctx, frames, STACK_FRAMES_MAX * sizeof(*frames));
}

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

static __always_inline __u64 stack_hash(const __u64 *frames, __u32 n)
{
	return stack_hash_from(stack_mix(stack_seed, *(volatile __u32 *)&stack_generation), frames,
			       n, STACK_FRAMES_MAX);
}

/*
 * Whether ADDRESS, of the current task, stands behind an instruction that calls: else nothing will
 * return to it. Where we do not know the instructions, all do.
 */
static __always_inline bool stack_follows_call(__u64 address)
{
#if defined(__TARGET_ARCH_x86)
	__u8 code[8];

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(address - sizeof(code))) < 0)
		return false;
	/* call rel32; else FF /2, by its length: register, or memory with 0, 1 or 4 bytes of offset */
	return code[3] == 0xe8 || (code[6] == 0xff && (code[7] & 0x38) == 0x10) ||
	       (code[5] == 0xff && ((code[6] & 0xf8) == 0x50 || code[6] == 0x14)) ||
	       (code[4] == 0xff && code[5] == 0x54) ||
	       (code[2] == 0xff && ((code[3] & 0xf8) == 0x90 || code[3] == 0x15)) ||
	       (code[1] == 0xff && (code[2] == 0x94 || code[2] == 0x14));
#elif defined(__TARGET_ARCH_arm64)
	__u32 code;

	if (bpf_probe_read_user(&code, sizeof(code), (const void *)(address - sizeof(code))) < 0)
		return false;
	return (code & 0xfc000000) == 0x94000000 || (code & 0xfefff800) == 0xd63f0800 ||
	       (code & 0xfffffc1f) == 0xd63f0000;
#else
	return address != 0;
#endif
}

/* How many of the N frames, at most MAX, of the current task can be true: up to the first that nothing
 * returns to. Code without frame pointers keeps other things where the next one is looked for. */
static __always_inline __u32 stack_true_frames(const __u64 *frames, __u32 n, __u32 max)
{
#pragma clang loop unroll(disable)
	for (__u32 i = 1; i < max; i++) {
		if (i >= n || !stack_follows_call(frames[i]))
			return i < n ? i : n;
	}
	return n;
}

/*
 * Sees to it that user space gets or has the N frames in S, which P had at NOW_NS. *RET_ID is what
 * to name them by; 0 if there are none. False if they could not be sent; that is counted.
 */
static __always_inline bool stack_send(struct rec_stack *s, __u32 n, struct task_struct *p,
				       __u64 now_ns, __u64 *ret_id)
{
	struct stack_set *set;
	__u64 id;
	__u32 at;

	*ret_id = 0;
	if (n == 0)
		return true;
	if (n > STACK_FRAMES_MAX)
		n = STACK_FRAMES_MAX;
	*ret_id = id = stack_hash(s->frames, n);
	at = id % STACK_SETS;
	set = bpf_map_lookup_elem(&stacks_sent, &at);
	if (!set)
		return false;
	for (int i = 0; i < STACK_WAYS; i++)
		if (set->ids[i] == id)
			return true;
	s->id = id;
	rec_fill_head(&s->head, now_ns, REC_STACK, REC_STACK_BYTES(n), p);
	if (!rec_output(REC_RING_STACKS, s, REC_STACK_BYTES(n), now_ns))
		return false;
	for (int i = STACK_WAYS - 1; i > 0; i--)
		set->ids[i] = set->ids[i - 1];
	set->ids[0] = id;
	return true;
}

static __always_inline struct rec_stack *stack_room(__u32 which)
{
	return bpf_map_lookup_elem(&stack_rooms, &which);
}
