/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Call stacks: the walk itself. Its functions are not inlined, so the verifier checks each once,
 * and not in each iteration of a loop and each program.
 */
#include "bpf/stack.bpf.h"
#include "bpf/probed.bpf.h"
#include "bpf/unwind.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile bool stacks_of_none = false;

#if defined(__TARGET_ARCH_x86)
#define STACK_NR_EXECVE   59
#define STACK_NR_EXECVEAT 322
#define STACK_LOWEST      0x10000 /* nothing is mapped below */

/* Where a walk by frame pointers is: the next frame is AT, and not below LOW if that can be. */
struct stack_chain {
	__u64 at, low;
	__u64 probed; /* as of a walk by tables */
};

/*
 * To the caller. Returns its address, or 0 at the end. (This is a separate function, so that the
 * verifier does not examine it in each round of a loop.)
 */
__noinline __u64 stack_next_frame(struct stack_chain *c)
{
	__u64 frame[2], at;

	if (!c)
		return 0;
	at = c->at;
	if (at < STACK_LOWEST || bpf_probe_read_user(frame, sizeof(frame), (const void *)at) < 0)
		return 0;
	if (c->probed)
		frame[1] = probed_return_address(&c->probed, at + sizeof(at), frame[1]);
	if (!frame[1] || (at < c->low && !stack_follows_call(frame[1])))
		return 0;
	c->low = at + 1;
	c->at = frame[0];
	return frame[1];
}

/*
 * Walks from the registers of P, into FRAMES from number N on, below MAX. The kernel's
 * bpf_get_stack() takes three times as long, and returns values that are no addresses, since it
 * checks neither them nor frames. Frames of callers are higher on the stack, or on another one, to
 * which signal handlers and languages with their own stacks switch: then the frame must look like
 * one. Returns the end of the walk.
 */
static __always_inline __u32 stack_walk_frames(struct pt_regs *regs, __u64 *frames, __u32 n,
					       __u32 max)
{
	struct unwind_walk w = { .ip = regs->ip, .sp = regs->sp };
	struct stack_chain chain = { .at = regs->bp };
	__u64 caller;

	probed_begin_walk(&w);
	chain.low = w.sp;
	chain.probed = w.probed;
	frames[n] = w.ip;
	if (!frames[n])
		return n;
	if (chain.at < chain.low)
		return n + 1;
#pragma clang loop unroll(disable)
	for (n++; n < max; n++) {
		caller = stack_next_frame(&chain);
		if (!caller)
			break;
		frames[n] = caller;
	}
	return n;
}

/* The walk W has ended as END. If the stack is to be copied, *RET_STOPPED (NULL: none) is W. */
static __always_inline void stack_end_walk(const struct unwind_walk *w, int end,
					   struct unwind_walk *ret_stopped)
{
	if (ret_stopped && end == UNWIND_END_COPIED)
		*ret_stopped = *w;
	else
		unwind_count_end(end);
}

/*
 * By tables, without the innermost SKIP frames, 0 or 1, if their caller is found. STACK_NOT_WALKED
 * if the mappings are unknown. If the caller COPIES, the walk may end where the stack is to be
 * copied: then RET_STOPPED says where, with an IP that is not 0.
 */
static __always_inline __u32 stack_walk_tables(struct pt_regs *regs, __u64 *frames, __u32 n,
					       __u32 max, __u32 skip,
					       struct unwind_walk *ret_stopped,
					       enum stack_copies copies)
{
	struct unwind_walk w = { .ip = regs->ip, .sp = regs->sp, .bp = regs->bp, .exact = 1 };
	int end;

	w.file = w.awaited = UNWIND_FILE_NONE;
	w.copies = copies;
	w.innermost = true;
	probed_begin_walk(&w);
	end = unwind_settle(&w);
	if (w.is_trapped && !end)
		unwind_pass_breakpoint(&w);
	/* During exec and exit, the program no longer exists, but its registers do. */
	if (end == UNWIND_END_MAPPING && (unwind_is_in(0) || regs->orig_ax == STACK_NR_EXECVE ||
					  regs->orig_ax == STACK_NR_EXECVEAT)) {
		frames[n] = w.ip;
		unwind_count_end(UNWIND_END_BUSY);
		return n + 1;
	}
	if (end == UNWIND_END_PROCESS || end == UNWIND_END_BUSY) {
		unwind_count_end(end);
		return STACK_NOT_WALKED;
	}
	if (skip && end == UNWIND_END_COPIED)
		w.is_skipped = true;
	if (skip && !end) {
		frames[n] = w.ip;
		end = unwind_next(&w);
		/* Without a true caller, the innermost function is taken instead. */
		if (end || !w.ip) {
			w.is_skipped = true;
			stack_end_walk(&w, end, ret_stopped);
			return n + 1;
		}
	}
#pragma clang loop unroll(disable)
	for (; n < max; n++) {
		frames[n] = w.ip;
		if (!end && w.ip)
			end = unwind_next(&w);
		if (end || !w.ip) {
			stack_end_walk(&w, end, ret_stopped);
			return n + 1;
		}
	}
	unwind_count_end(UNWIND_END_FULL);
	return n;
}

/* From REGS of this task, into FRAMES from number N on, below MAX. Returns where it has ended. */
static __always_inline __u32 stack_walk_from_registers(struct pt_regs *regs, __u64 *frames, __u32 n,
						       __u32 max, struct unwind_walk *ret_stopped,
						       enum stack_copies copies)
{
	__u32 end = STACK_NOT_WALKED;

	if (unwind_by_tables)
		end = stack_walk_tables(regs, frames, n, max, 0, ret_stopped, copies);

	return end != STACK_NOT_WALKED ? end : stack_walk_frames(regs, frames, n, max);
}
#endif

#if defined(__TARGET_ARCH_x86)
/*
 * Whether the thread of REGS has no user mode, though it belongs to a program: workers of io_uring
 * and vhost. Their stacks are in the kernel alone.
 */
static __always_inline bool stack_is_in_kernel(const struct pt_regs *regs)
{
	return !regs->ip && !regs->sp;
}

/* Whether REGS are those of a 64-bit program. The kernel walks other ones, by frame pointers. */
static __always_inline bool stack_is_of_64_bit(const struct pt_regs *regs)
{
	if (regs->cs == STACK_CS_64)
		return true;
	if (unwind_by_tables)
		unwind_count_end(UNWIND_END_PROCESS);
	return false;
}
#endif

__noinline __u32 stack_walk_record(struct rec_stack *to)
{
#if defined(__TARGET_ARCH_x86)
	struct task_struct *p = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(p);

	if (stack_is_in_kernel(regs))
		return 0;
	if (to && stack_is_of_64_bit(regs))
		return stack_walk_from_registers(regs, to->frames, 0, STACK_FRAMES_MAX, NULL,
						 STACK_COPIES_NONE);
#endif
	return STACK_NOT_WALKED;
}

__noinline __u32 stack_walk_or_stop(struct rec_stack *to, struct unwind_walk *ret_stopped,
				    enum stack_copies copies)
{
#if defined(__TARGET_ARCH_x86)
	struct task_struct *p = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(p);

	if (stack_is_in_kernel(regs))
		return 0;
	if (to && ret_stopped && stack_is_of_64_bit(regs))
		return stack_walk_from_registers(regs, to->frames, 0, STACK_FRAMES_MAX, ret_stopped,
						 copies);
#endif
	return STACK_NOT_WALKED;
}

__noinline __u32 stack_walk_memory(struct memory_stack *to, __u32 first)
{
#if defined(__TARGET_ARCH_x86)
	struct task_struct *p = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(p);

	if (!to || regs->cs != STACK_CS_64)
		return STACK_NOT_WALKED;
	if (stacks_of_none) {
		to->frames[first ? 1 : 0] = regs->ip;
		return 1;
	}
	return first ? stack_walk_from_registers(regs, to->frames, 1, MEMORY_FRAMES_MAX, NULL,
						 STACK_COPIES_NONE) -
			       1
		     : stack_walk_from_registers(regs, to->frames, 0, MEMORY_FRAMES_MAX, NULL,
						 STACK_COPIES_NONE);
#else
	return STACK_NOT_WALKED;
#endif
}

__noinline __u32 stack_walk_callers(struct memory_stack *to, __u32 skip,
				    struct unwind_walk *ret_stopped)
{
#if defined(__TARGET_ARCH_x86)
	struct task_struct *p = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(p);

	if (to && unwind_by_tables && !stacks_of_none && regs->cs == STACK_CS_64)
		return stack_walk_tables(regs, to->frames, 0, MEMORY_FRAMES_MAX, skip, ret_stopped,
					 ret_stopped ? STACK_COPIES_OF_ALLOCATION
						     : STACK_COPIES_NONE);
#endif
	return STACK_NOT_WALKED;
}

#define STACK_LEARNED_WORDS 192 /* from where the walk has stopped */

__noinline int stack_learn_callers(const struct unwind_walk *stopped, struct unwind_walk *work)
{
#if defined(__TARGET_ARCH_x86)
	__u64 word;

	if (!stopped || !work)
		return 0;
	*work = (struct unwind_walk){};
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < STACK_LEARNED_WORDS; i++) {
		if (bpf_probe_read_user(&word, sizeof(word),
					(const void *)(stopped->sp + i * sizeof(word))) < 0)
			break;
		if (word < 0x10000 || word >> 47 || word - stopped->sp < STACK_NEAR_BYTES ||
		    !stack_follows_call(word))
			continue;
		work->ip = word;
		unwind_settle(work);
	}
#endif
	return 0;
}
