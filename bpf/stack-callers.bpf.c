/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Finds the callers of functions that make system calls, without tables: searches the stack for
 * return addresses and frames. The searches use bpf_loop(), since the verifier would examine each
 * round of a loop.
 */
#include "bpf/stack.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#if defined(__TARGET_ARCH_x86)
#define STACK_SCAN_WORDS 96 /* number of searched words; shm_open() has a path on its stack */

/* ---- return addresses ---- */

struct stack_callers_search {
	__u64 sp, ip;
	struct stack_callers *to;
};

static long stack_callers_look(__u32 i, struct stack_callers_search *s)
{
	__u64 word, at = s->sp + i * sizeof(word);
	struct stack_callers *to = s->to;
	__u32 calls, n = to->n;

	if (n >= STACK_CALLERS_MAX ||
	    bpf_probe_read_user(&word, sizeof(word), (const void *)at) < 0)
		return 1;
	/* Most words are no return addresses: they are small numbers, or point into the stack. */
	if (word < 0x10000 || word >> 47 || word - s->sp < STACK_NEAR_BYTES)
		return 0;
	/*
	 * The top word counts as a return address after any call: the call can be an indirect call,
	 * or a call of a function that has jumped to this one.
	 */
	calls = stack_calls_into(word, s->ip);
	if (!calls && (i > 0 || !stack_follows_call(word)))
		return 0;
	if (n == 0)
		to->direct = calls == STACK_CALLS_DIRECT;
	/*
	 * Without the barrier, the compiler removes the mask, and the verifier of Linux 6.1 does
	 * not know the limit.
	 */
	barrier_var(n);
	to->frames[n & 7] = word;
	to->n = n + 1;
	to->at = at;
	/*
	 * The caller is outside of the library, so the search ends. Functions there have frames, or
	 * cannot be found.
	 */
	if (calls != STACK_CALLS_DIRECT)
		return 1;
	s->ip = word;
	return 0;
}
#endif

__noinline int stack_find_callers(__u64 sp, __u64 ip, struct stack_callers *to)
{
	if (!to)
		return 0;
	to->n = to->direct = to->at = to->bp = 0;
#if defined(__TARGET_ARCH_x86)
	{
		struct stack_callers_search s = { .sp = sp, .ip = ip, .to = to };

		bpf_loop(STACK_SCAN_WORDS, stack_callers_look, &s, 0);
	}
#endif
	return 0;
}

/* ---- frames ---- */

#if defined(__TARGET_ARCH_x86)
/* Returns true if BP can be the frame of a function to which the return address at AT leads. */
static __always_inline bool stack_callers_is_frame(__u64 bp, __u64 at)
{
	__u64 caller;

	return bp > at && bp - at < STACK_NEAR_BYTES && bp % sizeof(bp) == 0 &&
	       bpf_probe_read_user(&caller, sizeof(caller), (const void *)(bp + 8)) == 0 &&
	       stack_follows_call(caller);
}

/* Searches for the frame from the return address down. */
static long stack_callers_look_down(__u32 i, struct stack_callers_search *s)
{
	__u64 word, at = s->to->at - (i + 1) * sizeof(word);

	if (at < s->sp || bpf_probe_read_user(&word, sizeof(word), (const void *)at) < 0)
		return 1;
	if (!stack_callers_is_frame(word, s->to->at))
		return 0;
	s->to->bp = word;
	return 1;
}
#endif

__noinline int stack_find_frame(__u64 sp, __u64 bp, struct stack_callers *to)
{
#if defined(__TARGET_ARCH_x86)
	struct stack_callers_search s = { .sp = sp, .to = to };

	if (!to)
		return 0;
	to->bp = stack_callers_is_frame(bp, to->at) ? bp : 0;
	if (!to->bp)
		bpf_loop(STACK_SCAN_WORDS - 1, stack_callers_look_down, &s, 0);
#endif
	return 0;
}

/* ---- walks ---- */

#if defined(__TARGET_ARCH_x86)
struct stack_callers_walk {
	__u64 bp, n;
	struct memory_stack *to;
};

static long stack_callers_step(__u32 i, struct stack_callers_walk *w)
{
	__u64 frame[2], n = w->n;

	if (n >= MEMORY_FRAMES_MAX ||
	    bpf_probe_read_user(frame, sizeof(frame), (const void *)w->bp) < 0 || !frame[1])
		return 1;
	barrier_var(n);
	w->to->frames[n & (MEMORY_FRAMES_MAX - 1)] = frame[1];
	w->n = n + 1;
	if (frame[0] <= w->bp)
		return 1;
	w->bp = frame[0];
	return 0;
}
#endif

__noinline __u32 stack_walk_from(__u64 bp, __u32 n, struct memory_stack *to)
{
#if defined(__TARGET_ARCH_x86)
	struct stack_callers_walk w = { .bp = bp, .n = n, .to = to };

	if (!to || !bp)
		return n;
	bpf_loop(MEMORY_FRAMES_MAX, stack_callers_step, &w, 0);
	return (__u32)w.n;
#else
	return n;
#endif
}
