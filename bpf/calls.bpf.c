/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Calls of functions: arguments at the entry, and results at the return.
 *
 * The eBPF programs do not pair entries and returns. Each record contains the stack pointer at the
 * entry of the function. The stack pointer is the same at the `ret` of the function, so user space
 * can pair the records (capture/stages/calls.h). So the eBPF programs need no code for depth,
 * exiting threads or longjmp().
 */
#include "bpf/call-args.bpf.h"
#include "bpf/call-texts.bpf.h"
#include "bpf/calls.bpf.h"
#include "bpf/context.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define CALL_EPERM  1
#define CALL_EACCES 13
#define CALL_ENOSYS 38
/*
 * Results that interrupted system calls have inside the kernel: from the first to the second
 * number.
 */
#define CALL_ERESTARTSYS           512
#define CALL_ERESTART_RESTARTBLOCK 516
#define CALL_SIGNAL_GROUP_EXIT     4 /* in the flags of struct signal_struct */

/* The functions whose calls are recorded, indexed by the cookies of the probes. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CALL_FUNCTIONS_MAX);
	__type(key, __u32);
	__type(value, struct call_watch);
} call_functions SEC(".maps");

/* The state of the limit of each function, with the same index as call_functions. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CALL_FUNCTIONS_MAX);
	__type(key, __u32);
	__type(value, struct call_share);
} call_shares SEC(".maps");

/*
 * Indexed by the number of the system call. The value is the index in call_functions plus 1; 0 =
 * not recorded. The last element is for all larger numbers.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CALL_SYSCALLS_MAX);
	__type(key, __u32);
	__type(value, __u32);
} call_syscalls SEC(".maps");

const volatile bool call_stacks = false; /* each call's stack is recorded */
__u32 call_stacks_shed = 0;              /* 1: stacks of calls are not recorded at present */

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CALL_PENDING_MAX);
	__type(key, struct call_pending_key);
	__type(value, struct call_pending);
} call_pending SEC(".maps");

/*
 * The function is a part of the key, since a function, the function that it jumps to, and its
 * system call can all have the same stack pointer.
 */
static __always_inline struct call_pending_key call_key(__u64 sp, __u32 function)
{
	struct call_pending_key key = { bpf_get_current_pid_tgid() >> 32,
					sp ^ (__u64)function << 52 };

	return key;
}

/* Returns true if the condition of F holds. */
static __always_inline bool call_is_wanted(const struct call_args *args, const struct call_watch *f)
{
	return f->op == CALL_OP_NONE ||
	       call_holds(call_arg(args, f->op_arg), 64 - (f->op_shift & 63), f->op, f->op_signed,
			  f->op_value);
}

/* Returns true if the limit of F allows another call in this second. FUNCTION is the index of F. */
static __always_inline bool call_is_within_limit(const struct call_watch *f, __u32 function)
{
	__u64 second = bpf_ktime_get_boot_ns() / 1000000000, before;
	struct call_share *share;

	if (f->limit == 0)
		return true;
	share = bpf_map_lookup_elem(&call_shares, &function);
	if (!share)
		return false;
	before = *(volatile __u64 *)&share->second;
	if (before != second &&
	    __sync_val_compare_and_swap(&share->second, before, second) == before)
		share->n = 0;
	if (__sync_fetch_and_add(&share->n, 1) < f->limit)
		return true;
	__sync_fetch_and_add(&share->left_out, 1);
	return false;
}

/*
 * Postpones the copy of text I of F until the call returns (I is constant for the verifier).
 * IS_GIVEN: true = the call only reads the text, so the size of the text is known now.
 */
static __always_inline void call_postpone(struct call_pending *pending,
					  const struct call_args *args, const struct call_watch *f,
					  __u32 i, bool is_given)
{
	pending->texts[i].address = call_arg(args, f->texts[i].arg);
	pending->texts[i].bytes = call_bytes(args, &f->texts[i]);
	pending->texts[i].is_whole = is_given || f->texts[i].unit;
	pending->texts[i].kind = f->texts[i].kind;
	pending->n = i + 1;
}

/*
 * Copies the text with index I. If the text is unreadable now, perhaps because its page is not in
 * memory yet, the text is read again at the return of the call.
 */
static __always_inline void call_copy_text(struct rec_call *rec, struct call_pending *pending,
					   const struct call_args *args, const struct call_watch *f,
					   __u32 i)
{
	__u64 address = call_arg(args, f->texts[i].arg);

	if (f->n_packed) {
		call_pack(&rec->texts[i], &args->packed, f, f->n_packed);
		return;
	}
	if (!call_copy_or_gather(&rec->texts[i], address, call_bytes(args, &f->texts[i]),
				 f->texts[i].kind, CALL_TOTAL_UNKNOWN))
		call_postpone(pending, args, f, i, true);
}

/*
 * Sends the record of a call that enters F, with N texts (N is constant for the verifier). Adds the
 * unreadable texts to PENDING.
 */
static __always_inline void call_send(const struct call_args *args, const struct call_watch *f,
				      struct call_pending *pending, struct task_struct *p, __u32 n)
{
	__u64 now_ns = bpf_ktime_get_boot_ns();
	struct rec_call *rec = rec_reserve(REC_CALL_RING, REC_CALL_BYTES(n), now_ns);

	if (!rec)
		return;
	rec_fill_head(&rec->head, now_ns, REC_CALL, REC_CALL_BYTES(n), p);
	rec->function = pending->function;
	rec->n_texts = n;
	rec->sp = args->sp;
	rec->caller = args->caller;
	rec->stack = args->stack;
	__builtin_memcpy(rec->args, args->args, sizeof(rec->args));
	rec->unreadable = args->unreadable;
	rec->is_chained = args->is_chained;
	if (n > 0)
		call_copy_text(rec, pending, args, f, 0);
	if (n > 1)
		call_copy_text(rec, pending, args, f, 1);
	if (n > 2)
		call_copy_text(rec, pending, args, f, 2);
	if (n > 3)
		call_copy_text(rec, pending, args, f, 3);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

/*
 * Returns true if some calls of F are not recorded (condition or limit). Then each recorded call of
 * F has an element in call_pending.
 */
static __always_inline bool call_leaves_out(const struct call_watch *f)
{
	return f->op != CALL_OP_NONE || f->limit;
}

/*
 * Handles the begin of a call of F that is not recorded. If a recorded call has begun at the same
 * stack pointer, longjmp() has left the recorded call, and the next return at this stack pointer
 * does not belong to the recorded call. If F has jumped to its own start, no new call has begun.
 */
static __always_inline void call_pass_over(struct pt_regs *ctx, struct call_args *args,
					   const struct call_watch *f, __u32 function)
{
	struct call_pending_key key = call_key(args->sp, function);
	struct call_pending *before = bpf_map_lookup_elem(&call_pending, &key);

	if (!before)
		return;
	if (f->loops) {
		call_read_caller(ctx, args);
		if (args->caller == before->caller)
			return;
	}
	before->was_left = 1;
}

/*
 * Keeps PENDING, which belongs to a call of F, until the call returns. If F has jumped to its own
 * start, the arguments of the first entry stay. But if the return address differs, the first entry
 * belongs to an earlier call, which has never returned. MARKED: true = if some calls of F are not
 * recorded, each recorded call gets an element. False for system calls, since longjmp() cannot
 * leave them.
 */
static __always_inline void call_keep(const struct call_watch *f,
				      const struct call_pending_key *key,
				      const struct call_pending *pending, bool marked)
{
	bool keeps = pending->n > 0 || (marked && call_leaves_out(f));
	const struct call_pending *before = NULL;

	if (f->is_point || (f->n_texts == 0 && f->n_outs == 0 && !keeps))
		return;
	if (f->loops || !keeps)
		before = bpf_map_lookup_elem(&call_pending, key);
	if (f->loops && before && !before->was_left && before->caller == pending->caller)
		return;
	if (keeps)
		bpf_map_update_elem(&call_pending, key, pending, BPF_ANY);
	else if (before)
		bpf_map_delete_elem(&call_pending, key);
}

/* Handles a call of F. FUNCTION is the index of F. MARKED is constant: see call_keep(). */
static __always_inline void call_enter(const struct call_args *args, const struct call_watch *f,
				       __u32 function, struct task_struct *p, bool marked)
{
	struct call_pending_key key = call_key(args->sp, function);
	struct call_pending pending = { .function = function, .caller = args->caller };
	__u32 n = f->n_texts;

	switch (n) {
	case 0:
		call_send(args, f, &pending, p, 0);
		break;
	case 1:
		call_send(args, f, &pending, p, 1);
		break;
	case 2:
		call_send(args, f, &pending, p, 2);
		break;
	case 3:
		call_send(args, f, &pending, p, 3);
		break;
	default:
		call_send(args, f, &pending, p, 4);
		break;
	}
	if (f->n_packed) {
		pending.packed = args->packed;
		pending.n = 1 + f->n_outs;
		call_keep(f, &key, &pending, marked);
		return;
	}
	if (n < 1 && f->n_outs > 0)
		call_postpone(&pending, args, f, 0, false);
	if (n < 2 && n + f->n_outs > 1)
		call_postpone(&pending, args, f, 1, false);
	if (n < 3 && n + f->n_outs > 2)
		call_postpone(&pending, args, f, 2, false);
	if (n < 4 && n + f->n_outs > 3)
		call_postpone(&pending, args, f, 3, false);
	call_keep(f, &key, &pending, marked);
}

/*
 * Records the stack of a call and returns the id of the stack; 0 = no stack. Called before the time
 * of the call is read, so that the walk does not count as time in the call.
 */
static __always_inline __u64 call_stack(void)
{
	return call_stacks && !*(volatile __u32 *)&call_stacks_shed ? call_collect_stack() : 0;
}

/*
 * Selecting a call, walking its stack and recording it are three separate functions, here and for
 * system calls, so that their stack frames do not exist at the same time.
 */
static __noinline bool call_is_selected(struct pt_regs *ctx, __u32 function)
{
	const struct call_watch *f = bpf_map_lookup_elem(&call_functions, &function);
	struct task_struct *p = bpf_get_current_task_btf();
	struct call_args args;

	if (!f || !filter_selects(p))
		return false;
	call_read_args(ctx, &args);
	if (f->n_origins > 0)
		call_read_origins(ctx, f, &args);
	if (call_is_wanted(&args, f) && call_is_within_limit(f, function))
		return true;
	call_pass_over(ctx, &args, f, function);
	return false;
}

static __noinline int call_record(struct pt_regs *ctx, __u32 function, __u64 stack)
{
	__u32 at = function;
	const struct call_watch *f = bpf_map_lookup_elem(&call_functions, &at);
	struct call_args args;

	if (!f)
		return 0;
	call_read_args(ctx, &args);
	if (f->n_origins > 0)
		call_read_origins(ctx, f, &args);
	call_read_caller(ctx, &args);
	args.stack = stack;
	call_enter(&args, f, function, bpf_get_current_task_btf(), true);
	return 0;
}

/* Returns false if the call is not recorded. */
static __always_inline bool call_entered(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	__u32 function = CALL_COOKIE_AT(cookie);

	/* For a tail call, only the return is recorded. */
	if (cookie & CALL_COOKIE_TAIL)
		return filter_selects(bpf_get_current_task_btf());
	if (!call_is_selected(ctx, function))
		return false;
	call_record(ctx, function, call_stack());
	return true;
}

SEC("?uprobe")
int TIMED_WITH(COST_FUNCTIONS, on_call_entry, struct pt_regs *, ctx)
{
	call_entered(ctx);
	return 0;
}

/* The place where a function ends. */
struct call_exit {
	__u64 sp;          /* stack pointer at the entry */
	__u64 ret_in_page; /* ret_in_page, as in struct rec_call_end */
	__u64 result, high;
};

/*
 * Copies the memory to which the result of F points. Only the result itself gives the length of
 * this memory, since a size among the arguments may belong to other memory.
 */
static __always_inline void call_copy_result(struct call_text *to, const struct call_watch *f,
					     const struct call_exit *at)
{
	bool is_view = f->result == CALL_RESULT_VIEW;
	__u64 address = is_view ? at->high : at->result, n = f->result_unit;

	to->bytes = -1;
	to->cut = 0;
	if (is_view || f->result == CALL_RESULT_SLICE) {
		__u64 elements = is_view ? at->result : at->high;

		/* (a register can have any number) */
		n = elements < CALL_PENDING_STRING / 2 ? elements * n : CALL_PENDING_STRING - 1;
	}
	if (n >= CALL_PENDING_STRING)
		n = CALL_PENDING_STRING - 1;
	if (f->result == CALL_RESULT_STRING)
		n = CALL_PENDING_STRING;
	if (address)
		call_copy(to, address, n);
}

/*
 * Sends the end of a call of F, which has the index FUNCTION, with the texts of N arguments, and,
 * if HAS_TEXT, the memory of the result (both are constant for the verifier).
 */
static __always_inline void call_send_end(const struct call_pending *pending,
					  const struct call_watch *f, __u32 function,
					  const struct call_exit *at, struct task_struct *p,
					  __u32 n, bool has_text)
{
	__u64 now_ns = bpf_ktime_get_boot_ns(), result = at->result;
	struct rec_call_end *rec =
		rec_reserve(REC_CALL_END_RING, REC_CALL_END_BYTES(n + has_text), now_ns);

	if (!rec)
		return;
	rec_fill_head(&rec->head, now_ns, REC_CALL_END, REC_CALL_END_BYTES(n + has_text), p);
	rec->function = function;
	rec->n_texts = n;
	rec->has_result_text = has_text;
	rec->ret_in_page = at->ret_in_page;
	rec->sp = at->sp;
	rec->result = result;
	rec->result_high = at->high;
	if (n > 0)
		call_copy_late_text(&rec->texts[0], pending, f, 0, result);
	if (n > 1)
		call_copy_late_text(&rec->texts[1], pending, f, 1, result);
	if (n > 2)
		call_copy_late_text(&rec->texts[2], pending, f, 2, result);
	if (n > 3)
		call_copy_late_text(&rec->texts[3], pending, f, 3, result);
	if (has_text)
		call_copy_result(&rec->texts[n], f, at);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

/* Like call_send_end(), with a number of texts that is not constant. */
static __always_inline void call_send_end_with(const struct call_pending *pending,
					       const struct call_watch *f, __u32 function,
					       const struct call_exit *at, struct task_struct *p,
					       __u32 n, bool has_text)
{
	switch (n) {
	case 0:
		call_send_end(NULL, f, function, at, p, 0, has_text);
		break;
	case 1:
		call_send_end(pending, f, function, at, p, 1, has_text);
		break;
	case 2:
		call_send_end(pending, f, function, at, p, 2, has_text);
		break;
	case 3:
		call_send_end(pending, f, function, at, p, 3, has_text);
		break;
	default:
		call_send_end(pending, f, function, at, p, 4, has_text);
		break;
	}
}

/*
 * Handles a return from F. FUNCTION is the index of F. CAN_HAVE_TEXT is constant: false for system
 * calls, whose results have no memory to copy.
 */
static __always_inline void call_leave(const struct call_watch *f, __u32 function,
				       const struct call_exit *at, struct task_struct *p,
				       bool can_have_text)
{
	struct call_pending_key key = call_key(at->sp, function);
	const struct call_pending *pending = NULL;
	__u32 n = 0;

	if (f->n_texts || f->n_outs || call_leaves_out(f))
		pending = bpf_map_lookup_elem(&call_pending, &key);
	if (pending && pending->function == function)
		n = pending->n;
	/*
	 * User space still has the recorded call that longjmp() has left, and would assign this
	 * result to that call. The mark stays, for further returns, until a recorded call replaces
	 * it.
	 */
	if (pending && pending->was_left)
		return;
	if (can_have_text && f->result != CALL_RESULT_PLAIN && (pending || !call_leaves_out(f)))
		call_send_end_with(pending, f, function, at, p, n, true);
	else
		call_send_end_with(pending, f, function, at, p, n, false);
	if (pending)
		bpf_map_delete_elem(&call_pending, &key);
}

/* Returns the second register of results. */
static __always_inline __u64 call_result_high(struct pt_regs *ctx)
{
#if defined(__TARGET_ARCH_x86)
	return ctx->dx;
#else
	return PT_REGS_PARM2(ctx);
#endif
}

/* A probe on a `ret`, where the stack pointer is the same as at the entry. */
SEC("?uprobe")
int TIMED_WITH(COST_FUNCTIONS, on_call_ret, struct pt_regs *, ctx)
{
	__u32 function = CALL_COOKIE_AT(bpf_get_attach_cookie(ctx)), key = function;
	const struct call_watch *f = bpf_map_lookup_elem(&call_functions, &key);
	struct task_struct *p = bpf_get_current_task_btf();
	struct call_exit at = { PT_REGS_SP(ctx), CALL_IN_PAGE(PT_REGS_IP(ctx)), PT_REGS_RC(ctx),
				call_result_high(ctx) };

	if (f && filter_selects(p))
		call_leave(f, function, &at, p, true);
	return 0;
}

/*
 * Handles a return in a return probe, where the return address is no longer on the stack. (Not
 * inline: the same eBPF program begins walks at entries, and the stack frame of this function must
 * not exist during these walks.)
 */
static __noinline int call_returned(struct pt_regs *ctx, __u32 function)
{
	__u32 key = function;
	const struct call_watch *f = bpf_map_lookup_elem(&call_functions, &key);
	struct task_struct *p = bpf_get_current_task_btf();
	struct call_exit at = { PT_REGS_SP(ctx), 0, PT_REGS_RC(ctx), call_result_high(ctx) };

#if defined(__TARGET_ARCH_x86)
	at.sp -= sizeof(at.sp);
#endif
	if (f && filter_selects(p))
		call_leave(f, function, &at, p, true);
	return 0;
}

SEC("?uprobe")
int TIMED_WITH(COST_FUNCTIONS, on_call_return, struct pt_regs *, ctx)
{
	call_returned(ctx, CALL_COOKIE_AT(bpf_get_attach_cookie(ctx)));
	return 0;
}

/*
 * One eBPF program handles the entry and the return of a function. If the program returns 1 at the
 * entry, the kernel does not call it at the return.
 */
SEC("?uprobe")
int TIMED_WITH(COST_FUNCTIONS, on_call_session, struct pt_regs *, ctx)
{
	if (PT_REGS_IP(ctx) == bpf_get_func_ip(ctx))
		return !call_entered(ctx);
	call_returned(ctx, CALL_COOKIE_AT(bpf_get_attach_cookie(ctx)));
	return 0;
}

/* ---- system calls ---- */

/*
 * Returns the function for system call NUMBER, and its index. Returns NULL if the call is not
 * recorded.
 */
static __always_inline const struct call_watch *call_of_syscall(long number, __u32 *ret_function)
{
	__u32 at = number, *function;

	if (at >= CALL_SYSCALLS_MAX)
		at = CALL_SYSCALLS_MAX - 1;
	function = bpf_map_lookup_elem(&call_syscalls, &at);
	if (!function || !*function)
		return NULL;
	at = *ret_function = *function - 1;
	return bpf_map_lookup_elem(&call_functions, &at);
}

/*
 * The number of system calls that are not recorded: those with the 32-bit ABI, whose numbers differ
 * from those in call_syscalls, and those of x32. (But calls of x32 are recorded if calls with
 * unknown numbers are recorded.)
 */
__u64 calls_foreign = 0;

static __always_inline void call_count_foreign(struct task_struct *p)
{
	if (filter_selects(p))
		__sync_fetch_and_add(&calls_foreign, 1);
}

static __noinline bool call_syscall_is_selected(struct pt_regs *regs, long number)
{
	struct task_struct *p = bpf_get_current_task_btf();
	const struct call_watch *f;
	struct call_args args;
	__u32 function;

	if (syscall_is_32bit()) {
		call_count_foreign(p);
		return false;
	}
	f = call_of_syscall(number, &function);
	if (!f || !filter_selects(p))
		return false;
	call_read_syscall(regs, number, &args);
	return call_is_wanted(&args, f) && call_is_within_limit(f, function);
}

static __noinline int call_record_syscall(struct pt_regs *regs, long number, __u64 stack)
{
	const struct call_watch *f;
	struct call_args args;
	__u32 function;

	f = call_of_syscall(number, &function);
	if (!f)
		return 0;
	call_read_syscall(regs, number, &args);
	args.stack = stack;
	call_enter(&args, f, function, bpf_get_current_task_btf(), false);
	return 0;
}

SEC("?tp_btf/sys_enter")
int TIMED_PROG(COST_FUNCTIONS, on_call_sys_enter, struct pt_regs *regs, long number)
{
	if (call_syscall_is_selected(regs, number))
		call_record_syscall(regs, number, call_stack());
	return 0;
}

/* Returns RESULT, or CALL_RESULT_KILLED if the thread is killed before it can see RESULT. */
static __always_inline __u64 call_syscall_result(struct task_struct *p, long result)
{
	if (result > -CALL_ERESTARTSYS || result < -CALL_ERESTART_RESTARTBLOCK)
		return (__u64)result;
	return BPF_CORE_READ(p, signal, flags) & CALL_SIGNAL_GROUP_EXIT ? (__u64)CALL_RESULT_KILLED
									: (__u64)result;
}

SEC("?tp_btf/sys_exit")
int TIMED_PROG(COST_FUNCTIONS, on_call_sys_exit, struct pt_regs *regs, long result)
{
	struct task_struct *p = bpf_get_current_task_btf();
	long number = syscall_number(regs);
	struct call_exit at = { PT_REGS_SP_CORE(regs), 0, call_syscall_result(p, result), 0 };
	const struct call_watch *f;
	__u32 function = 0;

	/*
	 * The number is -1 in three cases: after rt_sigreturn, which has restored the registers of
	 * the interrupted code; if the recorded program calls system call -1; or if the system call
	 * is skipped (for example, by a tracer). User space knows the number at the begin of the
	 * call, and so finds out which of the three cases it is.
	 */
	f = call_of_syscall(number == -1 ? CALL_NR_SIGRETURN : number, &function);
	if (!f && number == -1)
		f = call_of_syscall(number, &function);
	if (syscall_is_32bit())
		return 0;
	if (!f) {
		/*
		 * These errors mean that a kernel without x32, or the filter of a container, has
		 * refused the number.
		 */
		if (syscall_is_x32(number) && result != -CALL_ENOSYS && result != -CALL_EPERM &&
		    result != -CALL_EACCES)
			call_count_foreign(p);
		return 0;
	}
	if (filter_selects(p))
		call_leave(f, function, &at, p, false);
	return 0;
}
