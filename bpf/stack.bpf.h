/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Call stacks: walking them, and sending them through the ring.
 *
 * Equal stacks are sent once. A stack is identified by a hash of its frames. Each CPU remembers the
 * ids that it has put into its own ring, before the records that name them. A CPU forgets old ids,
 * and sends their stacks again when they recur; user space skips the stacks that it knows. If user
 * space has too many stacks, it forgets them and increments `stack_generation`. The generation is
 * part of each id, so older stacks no longer count as sent. If a stack cannot be sent, it is not
 * remembered. The record that names it is then lost, too, and counted.
 */
#pragma once

#include "bpf/filter.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"
#include "bpf/stack-calls.bpf.h"
#include "bpf/walk.bpf.h"

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

extern const volatile __u64
	stack_seed;            /* a secret, so that recorded programs cannot make two stacks with
			        * the same id */
extern __u32 stack_generation; /* incremented by user space */

extern const volatile bool stacks_of_none; /* stacks of programs are not recorded */

/*
 * True if only walks find new mappings, since the kernel does not report them (see on_unwind_map).
 */
extern const volatile bool unwind_learns_from_walks;

/* Lets the kernel walk its stack, from the interrupted place. Returns the number of frames. */
static __always_inline __u32 stack_walk_kernel(void *ctx, __u64 *frames)
{
	long bytes = bpf_get_stack(ctx, frames, STACK_FRAMES_MAX * sizeof(*frames), 0);

	return bytes > 0 ? (__u32)bytes / sizeof(*frames) : 0;
}

/*
 * Lets the kernel walk the kernel stack of P, which is not running. Returns the number of frames.
 */
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

/*
 * Loops over frames go in strides. The verifier examines each round of a loop. It has less work if
 * the rounds of a stride are in a separate function.
 */
#define STACK_STRIDE     8
#define STACK_STRIDES(n) (((n) + STACK_STRIDE - 1) / STACK_STRIDE)

/* Adds a stride of frames, from number AT on, to the hash H. There are N frames, at most MAX. */
static __always_inline __u64 stack_hash_stride(__u64 h, const __u64 *frames, __u64 at, __u32 n,
					       const __u32 max)
{
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < STACK_STRIDE; i++, at++) {
		/*
		 * The barrier makes the compiler check the limit in each round, as the verifier
		 * requires.
		 */
		barrier_var(at);
		if (at >= n || at >= max)
			break;
		h = stack_mix(h, frames[at]);
	}
	return h;
}

/* Completes H, the hash of N frames; never 0. */
static __always_inline __u64 stack_hash_end(__u64 h, __u32 n)
{
	h = stack_mix(h, n);
	return h ? h : 1;
}

/* Returns the hash of the first N frames of S. (This is a separate function, like the next one.) */
__u64 stack_hash_of(const struct rec_stack *s, __u32 n);

/*
 * Walks the current task by tables or by frame pointers, from its registers in user space, into TO.
 * Returns the number of frames, or STACK_NOT_WALKED if the kernel must walk.
 */
#define STACK_NOT_WALKED 0xffffffffu
__u32 stack_walk_record(struct rec_stack *to);

/*
 * Walks like stack_walk_record(). With COPIES, the walk can stop if the table of a file is still
 * being made, or the mappings are being changed (bpf/piece.bpf.h). Then *RET_STOPPED is the place
 * where the walk stopped, and the IP of *RET_STOPPED is not 0.
 */
__u32 stack_walk_or_stop(struct rec_stack *to, struct unwind_walk *ret_stopped,
			 enum stack_copies copies);

/*
 * Walks like stack_walk_record(), into TO from frame number FIRST (0 or 1) on. Returns the number
 * of frames from FIRST on.
 */
__u32 stack_walk_memory(struct memory_stack *to, __u32 first);

/*
 * Walks by tables alone. Omits the innermost SKIP frames (0 or 1), unless no caller is found.
 * Returns the number of frames, or STACK_NOT_WALKED if another way is needed. Unless RET_STOPPED is
 * NULL, the walk can stop like stack_walk_or_stop(), for the copy of an allocation's stack.
 */
__u32 stack_walk_callers(struct memory_stack *to, __u32 skip, struct unwind_walk *ret_stopped);

/*
 * The walk has STOPPED in code without a table, so the callers are unknown. If mappings are learned
 * only from walks, user space could not continue this walk. So for each word of the stack that can
 * be a return address, this function learns the mapping and requests the table. WORK is a work area
 * (the stack of eBPF programs is too small).
 */
int stack_learn_callers(const struct unwind_walk *stopped, struct unwind_walk *work);

/* Calls stack_learn_callers() if mappings are learned only from walks. */
static __always_inline void stack_learn_callers_if_needed(const struct unwind_walk *stopped,
							  struct unwind_walk *work)
{
	if (unwind_learns_from_walks)
		stack_learn_callers(stopped, work);
}

static __always_inline __u32 stack_walk_by_kernel(void *ctx, __u64 *frames, __u32 bytes)
{
	long n = bpf_get_stack(ctx, frames, bytes, BPF_F_USER_STACK);

	return n > 0 ? (__u32)n / sizeof(*frames) : 0;
}

/* Walks the stack of P, the current task, in user space. */
static __always_inline __u32 stack_walk_user(void *ctx, struct task_struct *p, struct rec_stack *to)
{
	__u32 n;

	if (p->flags & PF_KTHREAD || stacks_of_none)
		return 0;
	n = stack_walk_record(to);
	return n != STACK_NOT_WALKED ? n
				     : stack_walk_by_kernel(ctx, to->frames, sizeof(to->frames));
}

/* Walks like stack_walk_user(), into TO from frame number 0 or 1 on. */
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
 * Returns the number of frames that can be real, of the N frames (at most MAX) of the current task:
 * those before the first one that is not a return address. (Code without frame pointers leads to
 * other values.)
 */
static __always_inline __u32 stack_true_frames(const __u64 *frames, __u32 n, __u32 max)
{
#pragma clang loop unroll(disable)
	for (__u32 i = 1; i < max; i++)
		if (i >= n || !stack_follows_call(frames[i]))
			return i < n ? i : n;
	return n;
}

/* The callers of the function that has made a system call, innermost first. */
#define STACK_CALLERS_MAX 7 /* with room for one more, for the verifier */
struct stack_callers {
	__u32 n;
	__u32 direct; /* 1: the call contains the function's address, so both are in one file */
	__u64 at;     /* address on the stack of the last caller's return address */
	__u64 bp;     /* BP of the function to which the last caller returns; 0 = unknown */
	__u64 frames[STACK_CALLERS_MAX + 1];
};

/*
 * A function that makes a system call has no frame of its own, so a walk by frame pointers misses
 * its caller. The library with that function may have no frames at all. But the return addresses of
 * the callers are on the stack. The search recognises a return address by the instruction before
 * it, which calls the function that was found before. The search begins at stack pointer SP and
 * instruction IP, and ends at the first caller in another file. (These are separate functions,
 * which the verifier checks once each, as are the next ones.)
 */
int stack_find_callers(__u64 sp, __u64 ip, struct stack_callers *to);

/*
 * Finds the frame of the function to which the last caller in TO returns. BP is the register. If a
 * library uses the register for another purpose, the old value is on the stack, from SP on.
 */
int stack_find_frame(__u64 sp, __u64 bp, struct stack_callers *to);

/*
 * Walks by frame pointers from BP on, into TO from frame number N on. Returns the number of frames.
 */
__u32 stack_walk_from(__u64 bp, __u32 n, struct memory_stack *to);

#if defined(__TARGET_ARCH_x86)
#define STACK_CS_64 0x33 /* the code segment of 64-bit programs */

#define STACK_NEAR_BYTES (1 << 20)
#endif

/*
 * Ensures that user space has the N frames in S, the stack of thread WHO at NOW_NS. Stores the id
 * of the stack in *RET_ID; 0 if there are no frames. If the frames cannot be sent, counts a lost
 * record and returns false. (This is a separate function, so the verifier checks it once for all
 * programs that send stacks.)
 */
bool stack_send_of(struct rec_stack *s, __u32 n, __u64 who, __u64 now_ns, __u64 *ret_id);

/* Sends the stack of P like stack_send_of(). */
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
