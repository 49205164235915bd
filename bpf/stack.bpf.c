/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Call stacks: the walk itself. The functions here are not inlined, so that the verifier checks
 * each of them once, and not in each iteration of a loop and each program.
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

/* The place where the frames of a walk are stored. One of the two pointers is NULL. */
struct stack_target {
	struct rec_stack *record;
	struct memory_stack *memory;
};

static __always_inline __u64 *stack_frames_of(const struct stack_target *to)
{
	return to->record ? to->record->frames : to->memory->frames;
}

static __always_inline __u32 stack_max_of(const struct stack_target *to)
{
	return to->record ? STACK_FRAMES_MAX : MEMORY_FRAMES_MAX;
}

/*
 * Returns the caller of W's function, in a walk by frame pointers; 0 at the end. The next frame is
 * at BP. BP is usually not below SP; if it is, the return address in the frame must follow a call.
 */
__noinline __u64 stack_next_frame(struct unwind_walk *w)
{
	__u64 frame[2], at;

	if (!w)
		return 0;
	at = w->bp;
	if (at < STACK_LOWEST || bpf_probe_read_user(frame, sizeof(frame), (const void *)at) < 0)
		return 0;
	if (w->probed)
		frame[1] = probed_return_address(&w->probed, at + sizeof(at), frame[1]);
	if (!frame[1] || (at < w->sp && !stack_follows_call(frame[1])))
		return 0;
	w->sp = at + 1;
	w->bp = frame[0];
	return frame[1];
}

/*
 * Stores the next frames of W in FRAMES, from number N on, below MAX: by tables, or by frame
 * pointers. Returns the new number of frames, and, in the upper half, the end of the walk (0 = the
 * walk continues).
 */
static __always_inline __u64 stack_stride(struct unwind_walk *w, __u64 *frames, __u64 n,
					  const __u64 max, const bool by_tables)
{
	__u64 end = 0;

#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < STACK_STRIDE; i++) {
		/*
		 * The barrier makes the compiler check the limit in each round, as the verifier
		 * requires.
		 */
		barrier_var(n);
		if (n >= max)
			break;
		frames[n++] = w->ip;
		if (by_tables) {
			end = (__u32)unwind_next(w);
		} else {
			w->ip = stack_next_frame(w);
			end = !w->ip;
		}
		if (end)
			break;
	}
	return end << 32 | n;
}

__noinline __u32 stack_chain_record(struct unwind_walk *w, struct rec_stack *to, __u32 n)
{
	return w && to ? (__u32)stack_stride(w, to->frames, n, STACK_FRAMES_MAX, false) : 0;
}

__noinline __u32 stack_chain_memory(struct unwind_walk *w, struct memory_stack *to, __u32 n)
{
	return w && to ? (__u32)stack_stride(w, to->frames, n, MEMORY_FRAMES_MAX, false) : 0;
}

/*
 * Walks by frame pointers from REGS, into TO from frame number N on. The kernel's bpf_get_stack()
 * takes three times as long, and checks neither addresses nor frames. The frame of a caller is
 * higher on the stack, or on another stack: signal handlers and some languages switch stacks. On
 * another stack, the memory at BP must look like a frame. Returns the number of frames in TO.
 */
static __always_inline __u32 stack_walk_frames(struct pt_regs *regs, const struct stack_target *to,
					       __u32 n)
{
	struct unwind_walk w = { .ip = regs->ip, .sp = regs->sp, .bp = regs->bp };

	probed_begin_walk(&w);
	if (w.bp < w.sp)
		w.bp = 0;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < STACK_STRIDES(stack_max_of(to)); i++) {
		if (!w.ip)
			break;
		n = to->record ? stack_chain_record(&w, to->record, n)
			       : stack_chain_memory(&w, to->memory, n);
	}
	return n;
}

/* Stores the next frames of W by tables in TO, with the result of stack_stride(). */
__noinline __u64 stack_tables_record(struct unwind_walk *w, struct rec_stack *to, __u32 n)
{
	return w && to ? stack_stride(w, to->frames, n, STACK_FRAMES_MAX, true) : 0;
}

__noinline __u64 stack_tables_memory(struct unwind_walk *w, struct memory_stack *to, __u32 n)
{
	return w && to ? stack_stride(w, to->frames, n, MEMORY_FRAMES_MAX, true) : 0;
}

/*
 * Called when the walk W has ended as END. If the stack must be copied, stores W in *RET_STOPPED,
 * which can be NULL.
 */
static __always_inline void stack_end_walk(const struct unwind_walk *w, int end,
					   struct unwind_walk *ret_stopped)
{
	if (ret_stopped && end == UNWIND_END_COPIED)
		*ret_stopped = *w;
	else
		unwind_count_end(end);
}

/*
 * Walks by tables. Omits the innermost SKIP frames (0 or 1) if their caller is found. Returns
 * STACK_NOT_WALKED if the mappings are unknown. With COPIES, the walk may end at a place where the
 * stack must be copied. Then *RET_STOPPED is that place, and the IP of *RET_STOPPED is not 0.
 */
static __always_inline __u32 stack_walk_tables(struct pt_regs *regs, const struct stack_target *to,
					       __u32 n, __u32 skip, struct unwind_walk *ret_stopped,
					       enum stack_copies copies)
{
	__u64 *frames = stack_frames_of(to);
	struct unwind_walk w = { .ip = regs->ip, .sp = regs->sp, .bp = regs->bp, .exact = 1 };
	int end;

	w.file = w.awaited = UNWIND_FILE_NONE;
	w.copies = copies;
	w.innermost = true;
	probed_begin_walk(&w);
	end = unwind_settle(&w);
	if (w.is_trapped && !end)
		unwind_pass_breakpoint(&w);
	/*
	 * During exec and exit, the memory of the program no longer exists, but its registers still
	 * do. So the walk ends as if mappings were being changed.
	 */
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
	frames[n] = w.ip;
	if (end || !w.ip) {
		stack_end_walk(&w, end, ret_stopped);
		return n + 1;
	}
	if (skip) {
		end = unwind_next(&w);
		/* If no true caller is found, the innermost function is kept. */
		if (end) {
			w.is_skipped = true;
			stack_end_walk(&w, UNWIND_NEXT_END(end), ret_stopped);
			return n + 1;
		}
	}
	end = 0;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < STACK_STRIDES(stack_max_of(to)) && !end; i++) {
		__u64 r = to->record ? stack_tables_record(&w, to->record, n)
				     : stack_tables_memory(&w, to->memory, n);

		n = (__u32)r;
		end = r >> 32;
	}
	stack_end_walk(&w, end ? UNWIND_NEXT_END(end) : UNWIND_END_FULL, ret_stopped);
	if (ret_stopped)
		ret_stopped->python = w.python;
	return n;
}

/*
 * Walks from REGS of this task, into TO from frame number N on. Returns the number of frames in TO.
 */
static __always_inline __u32 stack_walk_from_registers(struct pt_regs *regs,
						       const struct stack_target *to, __u32 n,
						       struct unwind_walk *ret_stopped,
						       enum stack_copies copies)
{
	__u32 end = STACK_NOT_WALKED;

	if (unwind_by_tables)
		end = stack_walk_tables(regs, to, n, 0, ret_stopped, copies);

	return end != STACK_NOT_WALKED ? end : stack_walk_frames(regs, to, n);
}
#endif

#if defined(__TARGET_ARCH_x86)
/*
 * Returns true if the thread of REGS has no user mode, although the thread belongs to a user's
 * process (workers of io_uring and vhost). Such threads only have a kernel stack.
 */
static __always_inline bool stack_is_in_kernel(const struct pt_regs *regs)
{
	return !regs->ip && !regs->sp;
}

/*
 * Returns true if REGS belong to a 64-bit program. The kernel walks the stacks of 32-bit programs,
 * by frame pointers.
 */
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
		return stack_walk_from_registers(regs, &(struct stack_target){ .record = to }, 0,
						 NULL, STACK_COPIES_NONE);
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
		return stack_walk_from_registers(regs, &(struct stack_target){ .record = to }, 0,
						 ret_stopped, copies);
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
	return first ? stack_walk_from_registers(regs, &(struct stack_target){ .memory = to }, 1,
						 NULL, STACK_COPIES_NONE) -
			       1
		     : stack_walk_from_registers(regs, &(struct stack_target){ .memory = to }, 0,
						 NULL, STACK_COPIES_NONE);
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
		return stack_walk_tables(
			regs, &(struct stack_target){ .memory = to }, 0, skip, ret_stopped,
			ret_stopped ? STACK_COPIES_OF_ALLOCATION : STACK_COPIES_NONE);
#endif
	return STACK_NOT_WALKED;
}

/* Number of words that are examined, from the place where the walk stopped. */
#define STACK_LEARNED_WORDS 192

struct stack_learning {
	__u64 sp;
	struct unwind_walk *work;
};

static long stack_learn_word(__u32 i, struct stack_learning *l)
{
	__u64 word;

	if (bpf_probe_read_user(&word, sizeof(word), (const void *)(l->sp + i * sizeof(word))) < 0)
		return 1;
	if (word < 0x10000 || word >> 47 || word - l->sp < STACK_NEAR_BYTES ||
	    !stack_follows_call(word))
		return 0;
	l->work->ip = word;
	unwind_settle(l->work);
	return 0;
}

__noinline int stack_learn_callers(const struct unwind_walk *stopped, struct unwind_walk *work)
{
#if defined(__TARGET_ARCH_x86)
	struct stack_learning l;

	if (!stopped || !work)
		return 0;
	*work = (struct unwind_walk){};
	l.sp = stopped->sp;
	l.work = work;
	bpf_loop(STACK_LEARNED_WORDS, stack_learn_word, &l, 0);
#endif
	return 0;
}
