/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Stacks walked by tables: the step from a frame to its caller's, by the rule of its address, or by
 * the code itself if no table describes it. The verifier checks each function once.
 */
#include "bpf/unwind.bpf.h"
#include "bpf/probed.bpf.h"
#include "bpf/record.h"
#include "bpf/stack-calls.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define UNWIND_WORD     sizeof(__u64)
#define UNWIND_NO_FRAME ((__u64)-1)

/* Offsets in a ucontext, from SP at the return from a signal's handler. */
#define UNWIND_SIGNAL_BP 120
#define UNWIND_SIGNAL_SP 160 /* offset of SP; IP follows it */

#if defined(__TARGET_ARCH_x86)
/* Returns the word at ADDRESS, plus MORE; UNWIND_NO_FRAME if it is unreadable. */
static __always_inline __u64 unwind_word(__u64 address, __u64 more)
{
	__u64 word;

	return bpf_probe_read_user(&word, sizeof(word), (const void *)address) < 0 ? UNWIND_NO_FRAME
										   : word + more;
}

/* Returns the CFA of W's frame according to RULE. */
static __always_inline __u64 unwind_cfa(const struct unwind_walk *w, __u32 rule)
{
	__u64 offset = (__u64)((__s64)UNWIND_RULE_OFFSET(rule) * (__s64)UNWIND_WORD);

	switch (UNWIND_RULE_KIND(rule)) {
	case UNWIND_SP:
		return w->sp + offset;
	case UNWIND_BP:
		return w->bp + offset;
	case UNWIND_SP_DEREF:
		return unwind_word(w->sp + offset, 0);
	case UNWIND_SP_DEREF_8:
		return unwind_word(w->sp + offset, UNWIND_WORD);
	case UNWIND_BP_DEREF:
		return unwind_word(w->bp + offset, 0);
	case UNWIND_BP_DEREF_8:
		return unwind_word(w->bp + offset, UNWIND_WORD);
	case UNWIND_PLT:
		return w->sp + UNWIND_WORD +
		       ((w->ip & 15) >= (__u64)UNWIND_RULE_OFFSET(rule) ? UNWIND_WORD : 0);
	}
	if (UNWIND_IS_SP_FAR(rule))
		return w->sp + (__u64)UNWIND_SP_FAR_WORDS(rule) * UNWIND_WORD;
	return UNWIND_NO_FRAME;
}

/* Returns register N (a DWARF number) of the current task in user space. */
static __always_inline __u64 unwind_register(__u32 n)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

	switch (n) {
	case 0:
		return regs->ax;
	case 1:
		return regs->dx;
	case 2:
		return regs->cx;
	case 3:
		return regs->bx;
	case 4:
		return regs->si;
	case 5:
		return regs->di;
	case 8:
		return regs->r8;
	case 9:
		return regs->r9;
	case 10:
		return regs->r10;
	case 11:
		return regs->r11;
	case 12:
		return regs->r12;
	case 13:
		return regs->r13;
	case 14:
		return regs->r14;
	case 15:
		return regs->r15;
	}
	return UNWIND_NO_FRAME;
}

/* Returns the CFA of the innermost frame according to RULE, which refers to another register. */
static __noinline __u64 unwind_cfa_by_register(__u32 rule)
{
	__u64 value = unwind_register(UNWIND_RULE_KIND(rule) - UNWIND_REGISTER(0));

	return value == UNWIND_NO_FRAME
		       ? value
		       : value + (__u64)((__s64)UNWIND_RULE_OFFSET(rule) * (__s64)UNWIND_WORD);
}

/* Moves TO to the caller of the frame with CFA. RETURNS is the word right below the CFA. */
static __always_inline void unwind_set_frame(struct unwind_walk *to, __u64 cfa, __u64 returns,
					     __u64 bp)
{
	to->innermost = false;
	to->bp = bp;
	to->sp = cfa;
	to->ip = returns;
	if (to->probed)
		to->ip = probed_return_address(&to->probed, cfa - UNWIND_WORD, returns);
	to->exact = 0;
}

static __always_inline __u64 unwind_bp(const struct unwind_walk *w, __u64 cfa, __u32 bp_rule)
{
	if (bp_rule == UNWIND_BP_SAME)
		return w->bp;
	return unwind_word(bp_rule == UNWIND_BP_AT_BP ? w->bp : cfa - bp_rule * UNWIND_WORD, 0);
}

static __always_inline int unwind_caller(struct unwind_walk *to, __u64 cfa, __u32 bp_rule)
{
	__u64 frame[2];

	/* A caller's frame is higher on the stack. */
	if (cfa == UNWIND_NO_FRAME || cfa <= to->sp ||
	    bpf_probe_read_user(frame, sizeof(frame), (const void *)(cfa - sizeof(frame))) < 0)
		return UNWIND_END_MEMORY;
	unwind_set_frame(to, cfa, frame[1], bp_rule == 2 ? frame[0] : unwind_bp(to, cfa, bp_rule));
	return 0;
}

/*
 * Moves TO to the caller like unwind_set_frame(), according to RULE: the return address of the
 * innermost frame is in a register.
 */
static __noinline int unwind_caller_by_register(struct unwind_walk *to, __u32 rule)
{
	__u64 cfa = to->sp + UNWIND_RULE_OFFSET(rule) * UNWIND_WORD;
	__u64 returns = unwind_register(UNWIND_RULE_KIND(rule) - UNWIND_RETURN_IN(0));

	if (UNWIND_RULE_OFFSET(rule) < 0 || returns == UNWIND_NO_FRAME)
		return UNWIND_END_MEMORY;
	unwind_set_frame(to, cfa, returns, unwind_bp(to, cfa, UNWIND_RULE_BP(rule)));
	return 0;
}

/* Moves TO, which is at the return from a signal handler, to the interrupted code. */
static __always_inline int unwind_interrupted(struct unwind_walk *to)
{
	__u64 frame[2], bp;

	bp = unwind_word(to->sp + UNWIND_SIGNAL_BP, 0);
	if (bpf_probe_read_user(frame, sizeof(frame), (const void *)(to->sp + UNWIND_SIGNAL_SP)) <
	    0)
		return UNWIND_END_MEMORY;
	to->innermost = false;
	to->bp = bp;
	to->sp = frame[0];
	to->ip = frame[1];
	to->exact = 1;
	if (to->ip)
		return 0;
	/*
	 * The code has called address 0, which has no code. The return address of this call is on
	 * top of the stack.
	 */
	to->ip = unwind_word(to->sp, 0);
	to->sp += UNWIND_WORD;
	to->exact = 0;
	return to->ip ? 0 : UNWIND_END_MEMORY;
}

/*
 * Returns true if W is at the code to which a signal handler returns: mov $15, %eax (or %rax);
 * syscall. This check is used if no table describes the code.
 */
static __always_inline bool unwind_is_sigreturn(const struct unwind_walk *w)
{
	__u64 code[2];

	if (w->exact || bpf_probe_read_user(code, sizeof(code), (const void *)w->ip) < 0)
		return false;
	if (code[0] == 0x0f0000000fc0c748 && (code[1] & 0xff) == 0x05)
		return true;
	return (code[0] & 0x00ffffffffffffff) == 0x00050f0000000fb8;
}

/*
 * Handles the return from a system call that has made a task. The C library describes the frame of
 * neither the parent nor the child. The stack of the child is empty, or a copy of the parent's
 * stack, or the parent's stack itself.
 */
#define UNWIND_NR_CLONE  56
#define UNWIND_NR_VFORK  58
#define UNWIND_NR_CLONE3 435

static __noinline int unwind_after_clone(struct unwind_walk *to)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	__u64 probed = to->probed;
	__u8 code = 0;

	if (regs->orig_ax == UNWIND_NR_VFORK) {
		bpf_probe_read_user(&code, sizeof(code), (const void *)to->ip);
		/* push %rdx: this is musl, whose return address is in rdx */
		return code == 0x52 ? unwind_caller_by_register(to, UNWIND_RULE(UNWIND_RETURN_IN(1),
										0, 0))
				    : UNWIND_END_TABLE;
	}
	if (stack_follows_call(probed_return_address(&probed, to->sp, unwind_word(to->sp, 0))))
		return unwind_caller(to, to->sp + UNWIND_WORD, UNWIND_BP_SAME);
	to->ip = 0;
	return regs->ax == 0 ? 0 : UNWIND_END_TABLE;
}

static __always_inline bool unwind_is_after_clone(const struct unwind_walk *w)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

	return w->innermost &&
	       (regs->orig_ax == UNWIND_NR_CLONE || regs->orig_ax == UNWIND_NR_CLONE3 ||
		regs->orig_ax == UNWIND_NR_VFORK);
}

/* Returns the return address at AT on W's stack. W does not move. */
static __always_inline __u64 unwind_returns_at(const struct unwind_walk *w, __u64 at)
{
	__u64 probed = w->probed;

	return probed_return_address(&probed, at, unwind_word(at, 0));
}

/*
 * Returns true if CODE begins with the N bytes of WANTED. A breakpoint can replace the first one.
 */
static __always_inline bool unwind_begins_with(__u64 code, __u64 wanted, __u32 n)
{
	__u64 mask = (1ull << 8 * n) - 1;

	if ((code & 0xff) == PROBED_BREAKPOINT)
		mask &= ~0xffull;
	return (code & mask) == (wanted & mask);
}

/* Returns true if CODE begins with mov %rsp, %rbp, in one of its two encodings. */
static __always_inline bool unwind_is_move(__u64 code)
{
	return unwind_begins_with(code, 0xe58948, 3) || unwind_begins_with(code, 0xec8b48, 3);
}

/* Returns true if CODE begins with push %rbp; mov %rsp, %rbp. */
static __always_inline bool unwind_is_push(__u64 code)
{
	return unwind_begins_with(code, 0xe5894855, 4) || unwind_begins_with(code, 0xec8b4855, 4);
}

/*
 * Returns true if CODE can begin a function with a frame pointer: endbr64, or push %rbp; mov %rsp,
 * %rbp.
 */
static __always_inline bool unwind_is_entry(__u64 code)
{
	return unwind_begins_with(code, 0xfa1e0ff3, 4) || unwind_is_push(code);
}

/*
 * Returns true if CODE, the instruction of the thread, is ret. A breakpoint can have replaced the
 * ret; newer kernels give the original byte.
 */
static __always_inline bool unwind_is_return(__u64 code)
{
	__u8 first = (__u8)code;

	return (first == PROBED_BREAKPOINT ? probed_first_byte() : first) == 0xc3;
}

/*
 * Returns the target of the call before ADDRESS; 0 = unknown. With THROUGH, the call must
 * target an entry of the PLT (a jump through a word in memory), and the result is the target of
 * that jump.
 */
static __noinline __u64 unwind_called_at(__u64 address, bool through)
{
	bool direct;
	__u64 target = stack_called_by(address, &direct);

	return target && through ? stack_linked_to(target) : target;
}

/*
 * Returns the rule at ADDRESS; UNWIND_MISSING = the table does not exist yet, or no mapping is
 * known at ADDRESS (then *RET_END is UNWIND_END_*, otherwise 0). Clears the mapping of W.
 */
static __always_inline __u32 unwind_rule_at(struct unwind_walk *w, __u64 address, int *ret_end)
{
	__u64 ip = w->ip;
	bool exact = w->exact;
	__u32 rule;

	w->ip = address;
	w->exact = 1;
	w->bytes = 0;
	w->awaited = UNWIND_FILE_NONE;
	*ret_end = unwind_settle(w);
	if (*ret_end || w->missing)
		rule = UNWIND_MISSING;
	else if (w->file != UNWIND_FILE_NONE)
		rule = unwind_find_rule(w->file, w->generation, (__u32)(address + w->shift));
	else
		rule = UNWIND_NONE;
	w->ip = ip;
	w->exact = exact;
	w->bytes = 0;
	return rule;
}

/*
 * Returns the distance between the CFA and SP in words, if W's function has no frame pointer at
 * this point (not yet, no longer, or never); 0 if it seems to have one. If the
 * word at SP is the return address of a call of this function, the function has pushed nothing yet,
 * so the distance is one word. With IS_UNPROVEN, this check is skipped, since an earlier call can
 * have left that word there.
 */
static __noinline __u32 unwind_words_of_leaf(const struct unwind_walk *w, bool is_unproven)
{
	__u64 returns = unwind_returns_at(w, w->sp), code = 0;

	bpf_probe_read_user(&code, sizeof(code), (const void *)(w->ip - 1));
	if (unwind_begins_with(code, 0x55, 1) && unwind_is_move(code >> 8))
		return 2;
	code >>= 8;
	if ((unwind_is_return(code) ||
	     (is_unproven ? unwind_is_push(code) : unwind_is_entry(code))) &&
	    stack_follows_call(returns))
		return 1;
	return !is_unproven && stack_calls_into(returns, w->ip) > 0;
}

/*
 * Checks whether code without a file can return to RETURNS, the return address in the frame at the
 * frame pointer. If the code does not set the frame pointer, this frame belongs to a caller that a
 * table describes. Then that table also describes the function that is called before RETURNS, so
 * the code cannot return there. Returns 0 or UNWIND_END_*. If that table does not exist yet, or
 * while mappings change, the answer is unknown.
 */
static __always_inline int unwind_judge_return(struct unwind_walk *w, __u64 returns)
{
	__u64 target = unwind_called_at(returns, false);
	__u32 rule;
	int end;

	if (!target)
		return stack_follows_call(returns) ? 0 : UNWIND_END_TABLE;
	rule = unwind_rule_at(w, target, &end);
	if (rule != UNWIND_NONE && rule != UNWIND_MISSING) {
		target = unwind_called_at(returns, true);
		if (target)
			rule = unwind_rule_at(w, target, &end);
	}
	if (rule == UNWIND_NONE || UNWIND_IS_CODE(rule))
		return 0;
	if (end == UNWIND_END_COPIED || end == UNWIND_END_BUSY)
		return end;
	return rule == UNWIND_MISSING && w->awaited != UNWIND_FILE_NONE ? UNWIND_END_COPIED
									: UNWIND_END_TABLE;
}

/*
 * Moves TO to the caller of code without a description. Run-time compilers keep frame pointers. But
 * if RULE is UNWIND_UNPROVEN, the code is in a file, and its instructions do not prove that the
 * code keeps a frame pointer.
 */
static __always_inline int unwind_undescribed(struct unwind_walk *to, __u32 rule)
{
	__u64 returns;
	__u32 words;
	int end;

	if (unwind_is_sigreturn(to))
		return unwind_interrupted(to);
	if (unwind_is_after_clone(to))
		return unwind_after_clone(to);
	words = to->exact ? unwind_words_of_leaf(to, rule != UNWIND_NONE) : 0;
	if (words)
		return unwind_caller(to, to->sp + words * UNWIND_WORD,
				     words == 2 ? 2 : UNWIND_BP_SAME);
	if (rule != UNWIND_NONE)
		return UNWIND_END_TABLE;
	if (to->bp == 0) {
		to->ip = 0;
		return 0;
	}
	if (to->bp < to->sp || to->bp & (UNWIND_WORD - 1))
		return UNWIND_END_TABLE;
	returns = unwind_returns_at(to, to->bp + UNWIND_WORD);
	end = returns ? unwind_judge_return(to, returns) : 0;
	if (end)
		return end;
	return unwind_caller(to, to->bp + 2 * UNWIND_WORD, 2) ? UNWIND_END_TABLE : 0;
}

/*
 * Returns RULE without the mark that instructions prove it: UNWIND_CODE_SP becomes UNWIND_SP, and
 * UNWIND_CODE_BP becomes UNWIND_BP.
 */
static __always_inline __u32 unwind_as_described(__u32 rule)
{
	__u32 kind = UNWIND_RULE_KIND(rule);

	if (kind == UNWIND_CODE_SP)
		return rule - UNWIND_CODE_SP + UNWIND_SP;
	return kind == UNWIND_CODE_BP ? rule - UNWIND_CODE_BP + UNWIND_BP : rule;
}

/*
 * Moves TO to the caller according to RULE, which the instructions prove. A word is a return
 * address only if a call precedes the address, or if it is the return of a signal handler.
 */
static __noinline int unwind_caller_by_code(struct unwind_walk *to, __u32 rule)
{
	int end;

	rule = unwind_as_described(rule);
	end = unwind_caller(to, unwind_cfa(to, rule), UNWIND_RULE_BP(rule));
	if (end || !to->ip || stack_follows_call(to->ip) || unwind_is_sigreturn(to))
		return end;
	return UNWIND_END_TABLE;
}

/*
 * Returns the distance between the CFA and SP according to RULE. If the CFA depends on another
 * register, it counts as farther away.
 */
static __always_inline __u32 unwind_depth(__u32 rule)
{
	return UNWIND_RULE_KIND(rule) == UNWIND_SP ? (__u32)UNWIND_RULE_OFFSET(rule) : ~0u;
}

/* Returns true if W's frame has a return address where RULE says that it is. */
static __always_inline bool unwind_is_frame(const struct unwind_walk *w, __u32 rule)
{
	__u64 at = unwind_cfa(w, rule) - UNWIND_WORD, probed = w->probed;

	return stack_follows_call(probed_return_address(&probed, at, unwind_word(at, 0)));
}

__noinline int unwind_pass_breakpoint(struct unwind_walk *w)
{
	__u32 before, after;
	bool is_behind;

	if (!w || w->file == UNWIND_FILE_NONE)
		return 0;
	before = unwind_find_rule(w->file, w->generation, (__u32)(w->ip + w->shift));
	after = unwind_find_rule(w->file, w->generation, (__u32)(w->ip + 1 + w->shift));
	before = unwind_as_described(before);
	after = unwind_as_described(after);
	if (before == after)
		return 0;
	/*
	 * Of the two rules, checks the one whose return address is nearer to SP. If the word there
	 * is not a return address, the code has pushed that word, or has not popped it yet, so the
	 * other rule applies.
	 */
	is_behind = unwind_depth(after) < unwind_depth(before) ? unwind_is_frame(w, after)
							       : !unwind_is_frame(w, before);
	if (is_behind)
		w->ip += 1;
	return 0;
}
#endif

__noinline __u64 unwind_called_from(const struct unwind_walk *w, __u64 bp, bool through)
{
#if defined(__TARGET_ARCH_x86)
	__u64 returns, target;

	if (!w)
		return 0;
	returns = unwind_returns_at(w, bp + UNWIND_WORD);
	target = unwind_called_at(returns, through);
	if (target || through)
		return target;
	return stack_follows_call(returns) ? PIECE_CALLED_BY_REGISTER : 0;
#else
	return 0;
#endif
}

#if defined(__TARGET_ARCH_x86)
/*
 * Moves TO out of the innermost function, which has just begun, and whose return address a return
 * probe has replaced.
 */
static __always_inline int unwind_unlisted(struct unwind_walk *to)
{
	__u64 returns = probed_unlisted_return(to);

	to->is_unlisted = false;
	if (!returns)
		return UNWIND_END_TABLE;
	unwind_set_frame(to, to->sp + UNWIND_WORD, returns, to->bp);
	return 0;
}
#endif

/* UNWIND_END_WHOLE is 0, like success: the walk has ended if IP is 0, too. */
static __always_inline int unwind_step(struct unwind_walk *w)
{
#if defined(__TARGET_ARCH_x86)
	__u32 rule;
	int end;

	if (w->is_unlisted)
		return unwind_unlisted(w);
	rule = w->missing ? UNWIND_MISSING : UNWIND_NONE;
	if (w->file != UNWIND_FILE_NONE)
		rule = unwind_find_rule(w->file, w->generation,
					(__u32)(unwind_address(w) + w->shift));
	switch (UNWIND_RULE_KIND(rule)) {
	case UNWIND_MISSING:
		/*
		 * The code may not set the frame pointer. Then the frame pointer would skip a
		 * caller, so the walk does not use it.
		 */
		return w->awaited != UNWIND_FILE_NONE ? UNWIND_END_COPIED : UNWIND_END_TABLE;
	case UNWIND_NONE:
	case UNWIND_UNPROVEN:
		return unwind_undescribed(w, rule);
	case UNWIND_END:
		w->ip = 0;
		return UNWIND_END_WHOLE;
	case UNWIND_SIGNAL:
		return unwind_interrupted(w);
	case UNWIND_UNSUPPORTED:
		return UNWIND_END_UNSUPPORTED;
	}
	if (UNWIND_RULE_KIND(rule) < UNWIND_REGISTER(0))
		return unwind_caller(w, unwind_cfa(w, rule), UNWIND_RULE_BP(rule));
	if (UNWIND_IS_CODE(rule))
		return unwind_caller_by_code(w, rule);
	if (!w->innermost)
		return UNWIND_END_UNSUPPORTED;
	end = UNWIND_RULE_KIND(rule) < UNWIND_RETURN_IN(0)
		      ? unwind_caller(w, unwind_cfa_by_register(rule), UNWIND_RULE_BP(rule))
		      : unwind_caller_by_register(w, rule);
	/*
	 * The function that unwinds an exception has rules with registers at its jump to the
	 * handler. No call precedes the handler, so the byte before the handler can have another
	 * rule.
	 */
	if (!end && !stack_follows_call(w->ip))
		w->exact = 1;
	return end;
#else
	return UNWIND_END_TABLE;
#endif
}

__noinline int unwind_next(struct unwind_walk *w)
{
	int end = w ? unwind_step(w) : UNWIND_END_TABLE;

	if (!end && w->ip) {
		end = unwind_settle(w);
		if (!end)
			return 0;
	}
	return end | UNWIND_NEXT_ENDED;
}
