/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The place at which a thread would be without probes. When a thread hits a probe, the kernel moves
 * it through these places:
 *
 * 	one byte behind the probe   the breakpoint has stopped it; the kernel looks for the probe
 * 	at the probe                programs run
 * 	in [uprobes]                a copy of the instruction is executed, in a slot; simple ones
 * 	                            (push, call, jmp) are emulated by the kernel instead
 *
 * A function with a return probe returns to the first slot of [uprobes]. The slot contains a
 * breakpoint, or, since Linux 6.11, code that pushes three registers, makes a system call, pops two
 * of them, and returns to the address with which the kernel has replaced the third one.
 *
 * Since Linux 6.18, a nop of five bytes is replaced by a call of [uprobes-trampoline]. The
 * trampoline pushes three registers, makes a system call (in which eBPF programs run), pops the
 * registers, and returns.
 *
 * For a moment, the kernel has put the address of the first slot on the stack, but the original
 * return address is not yet in its list. A sample then looks for the original address in the
 * registers and on the stack of the kernel. An address is accepted if the instruction before it
 * calls the function. Other walks end there.
 */
#include "bpf/probed.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/stack-calls.bpf.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define PROBED_WORD        sizeof(__u64)
#define PROBED_RETURNS_MAX 8   /* maximum number of functions that are checked for one frame */
#define PROBED_SLOT_BYTES  128 /* size of a slot of [uprobes] */
/* Maximum size of an instruction in its slot, including the code that the kernel adds after it. */
#define PROBED_INSTRUCTION_MAX 16
#define PROBED_SAVED_WORDS     3 /* registers that the code in the first slot pushes */
#define PROBED_PAGE_BYTES      4096
#define PROBED_KERNEL_WORDS    64 /* words of the kernel's stack that are searched */
#define PROBED_INTERRUPTS                                                                          \
	0xfffffe0000000000ull /* where the interrupt tables of the CPUs are mapped */
#define PROBED_INT3          3
#define PROBED_FRED_SOFTWARE 6  /* the type of exceptions that an instruction causes on purpose */
#define PROBED_INT3_BYTES    80 /* bytes of the entry code of breakpoints */

struct probed_kernels probed_kernels SEC(".maps");

__noinline __u64 probed_return_address(__u64 *next, __u64 at, __u64 address)
{
	struct return_instance *i;
	__u64 stack;

#pragma clang loop unroll(disable)
	for (__u32 n = 0; next && n < PROBED_RETURNS_MAX && *next; n++) {
		i = (struct return_instance *)*next;
		stack = BPF_CORE_READ(i, stack);
		if (stack == at)
			return BPF_CORE_READ(i, orig_ret_vaddr);
		if (stack > at)
			break;
		*next = (__u64)BPF_CORE_READ(i, next);
	}
	return address;
}

#if defined(__TARGET_ARCH_x86)
/*
 * Returns the number of words that the code at IP pops before it returns. IP is in the first slot,
 * after the system call.
 */
static __always_inline __u32 probed_pops(__u64 ip)
{
	__u32 code = 0;

	bpf_probe_read_user(&code, sizeof(code), (const void *)ip);
	if (code == 0xc3595b41) /* pop %r11; pop %rcx; ret */
		return 2;
	return (code & 0xffff) == 0xc359 ? 1 : 0;
}

/*
 * Returns the return address of the function that has returned last, if that address was at SP;
 * otherwise 0.
 */
static __always_inline __u64 probed_returned_to(struct uprobe_task *utask, __u64 sp)
{
	struct return_instance *i;

	if (!bpf_core_field_exists(utask->ri_pool))
		return 0;
	i = BPF_CORE_READ(utask, ri_pool);
	return i && BPF_CORE_READ(i, stack) == sp ? BPF_CORE_READ(i, orig_ret_vaddr) : 0;
}

/*
 * Returns true if the return address of W's function has been replaced, but the original address is
 * not in the kernel's list yet.
 */
static __always_inline bool probed_is_unlisted(const struct unwind_walk *w, __u64 first_slot)
{
	__u64 next = w->probed, returns;

	/* Functions that were left by longjmp() are still in the list, before this one. */
	return bpf_probe_read_user(&returns, sizeof(returns), (const void *)w->sp) == 0 &&
	       returns == first_slot && probed_return_address(&next, w->sp, 0) == 0;
}

/*
 * Moves W, which is at the return of a function with a return probe, to the original return
 * address.
 */
static __always_inline void probed_leave_return(struct unwind_walk *w, struct uprobe_task *utask)
{
	__u64 sp = w->sp, ip = 0;

#pragma clang loop unroll(disable)
	for (__u32 i = 0; i <= PROBED_SAVED_WORDS && !ip; i++, sp += PROBED_WORD)
		ip = probed_return_address(&w->probed, sp - PROBED_WORD, 0);
	if (ip) {
		w->ip = ip;
		w->sp = sp - PROBED_WORD;
		return;
	}
	/*
	 * The kernel has removed the original address from its list, and has put the address on the
	 * stack, or is about to do so.
	 */
	sp = w->sp + probed_pops(w->ip) * PROBED_WORD;
	if (bpf_probe_read_user(&ip, sizeof(ip), (const void *)sp) < 0 || !stack_follows_call(ip))
		ip = probed_returned_to(utask, sp);
	if (ip) {
		w->ip = ip;
		w->sp = sp + PROBED_WORD;
	}
}

/* Returns the number of words that [uprobes-trampoline] has pushed when a thread is at OFFSET. */
static __always_inline __u32 probed_pushed(__u64 offset)
{
	switch (offset) {
	case 0:
	case 17:
		return 0;
	case 1:
	case 16:
		return 1;
	case 3:
	case 14:
		return 2;
	}
	return PROBED_SAVED_WORDS;
}

/*
 * Returns true if W is in [uprobes-trampoline]. If so, moves W behind the probe, where the
 * trampoline returns.
 */
static __always_inline bool probed_leave_trampoline(struct unwind_walk *w, struct mm_struct *mm)
{
	const __u64 offset = w->ip & (PROBED_PAGE_BYTES - 1);
	__u64 code, ip, sp;

	if (!bpf_core_field_exists(mm->uprobes_state.head_tramps) ||
	    !BPF_CORE_READ(mm, uprobes_state.head_tramps.first) || offset > 17 ||
	    bpf_probe_read_user(&code, sizeof(code), (const void *)(w->ip - offset)) < 0 ||
	    code != 0x50c0c74850534151) /* push %rcx, %r11, %rax; mov $336, %rax */
		return false;
	sp = w->sp + probed_pushed(offset) * PROBED_WORD;
	if (bpf_probe_read_user(&ip, sizeof(ip), (const void *)sp) == 0) {
		w->ip = ip;
		w->sp = sp + PROBED_WORD;
	}
	return true;
}

/*
 * Returns true if a breakpoint has brought the current task, with REGS, into the kernel. The entry
 * code of breakpoints then made a call, whose return address is right below REGS. If the address of
 * that code is unknown (Xen), the answer is always true.
 */
static __always_inline bool probed_came_by_breakpoint(struct pt_regs *regs)
{
	const void *gate_at = (const void *)(PROBED_INTERRUPTS + 16 * PROBED_INT3);
	__u64 gate[2], begin, returns;

	/* A CPU with FRED does not use the interrupt table, but stores the type of the event. */
	if (bpf_core_field_exists(regs->ssx) &&
	    (regs->ssx >> 32 & 0xf00ff) == (PROBED_FRED_SOFTWARE << 16 | PROBED_INT3))
		return true;
	if (bpf_probe_read_kernel(gate, sizeof(gate), gate_at) < 0 ||
	    bpf_probe_read_kernel(&returns, sizeof(returns), (const __u64 *)regs - 1) < 0)
		return true;
	begin = gate[1] << 32 | (gate[0] >> 48) << 16 | (gate[0] & 0xffff);
	return begin == 0 || returns - begin < PROBED_INT3_BYTES;
}

/*
 * Returns true if the breakpoint before IP has stopped the current task, and the kernel is looking
 * for its probe. The byte alone is no proof, since padding or a part of an instruction can look
 * like a breakpoint.
 */
static __always_inline bool probed_is_trapped(struct pt_regs *regs, __u64 ip)
{
	__u8 code[2];

	if ((long)regs->orig_ax != -1 || probed_first_byte() ||
	    bpf_probe_read_user(code, sizeof(code), (const void *)(ip - 1)) < 0)
		return false;
	/*
	 * (if there is a breakpoint at IP, too, it belongs to the probe, and the byte before IP is
	 * padding)
	 */
	return code[0] == PROBED_BREAKPOINT && code[1] != PROBED_BREAKPOINT &&
	       probed_came_by_breakpoint(regs);
}
#endif

/* Returns true if ADDRESS is in user space, behind a call of the function that contains IP. */
static __always_inline bool probed_is_caller(__u64 address, __u64 ip)
{
#if defined(__TARGET_ARCH_x86)
	return address >= 0x10000 && !(address >> 47) && stack_calls_into(address, ip);
#else
	return false;
#endif
}

/*
 * This is a separate function, since the verifier would examine its code in each round of a loop.
 */
__noinline bool probed_calls_into(__u64 address, __u64 ip)
{
	return probed_is_caller(address, ip);
}

struct probed_search {
	__u64 sp, ip;
	__u64 found;
};

static long probed_search_word(__u32 i, struct probed_search *s)
{
	__u64 word;

	if (bpf_probe_read_kernel(&word, sizeof(word), (const void *)(s->sp + i * PROBED_WORD)) < 0)
		return 1;
	if (!probed_is_caller(word, s->ip))
		return 0;
	s->found = word;
	return 1;
}

__noinline __u64 probed_unlisted_return(const struct unwind_walk *w)
{
	__u32 zero = 0;
	struct probed_kernel *kernel = bpf_map_lookup_elem(&probed_kernels, &zero);
	struct probed_search s = {};

	if (!w || !kernel || !kernel->sp)
		return 0;
	s.sp = kernel->sp;
	s.ip = w->ip;
	for (__u32 i = 0; i < PROBED_REGISTERS; i++)
		if (probed_calls_into(kernel->registers[i], s.ip))
			return kernel->registers[i];
	bpf_loop(PROBED_KERNEL_WORDS, probed_search_word, &s, 0);
	return s.found;
}

__noinline __u32 probed_first_byte(void)
{
	struct uprobe_task *utask = bpf_get_current_task_btf()->utask;
	struct arch_uprobe *probe;

	if (!utask || !bpf_core_field_exists(utask->auprobe))
		return 0;
	probe = BPF_CORE_READ(utask, auprobe);
	return probe ? BPF_CORE_READ(probe, insn[0]) : 0;
}

__noinline int probed_begin_walk(struct unwind_walk *w)
{
#if defined(__TARGET_ARCH_x86)
	struct task_struct *p = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(p);
	struct uprobe_task *utask = p->utask;
	__u64 behind, first_slot;

	if (!w || !utask)
		return 0;
	w->probed = (__u64)BPF_CORE_READ(utask, return_instances);
	behind = w->ip - utask->xol_vaddr;
	first_slot = BPF_CORE_READ(p, mm, uprobes_state.xol_area, vaddr);
	if (behind < PROBED_INSTRUCTION_MAX) {
		w->ip = utask->vaddr + behind;
	} else if (w->ip - first_slot < PROBED_SLOT_BYTES) {
		probed_leave_return(w, utask);
	} else if (!probed_leave_trampoline(w, p->mm) && probed_is_trapped(regs, w->ip)) {
		w->ip -= 1;
		w->is_trapped = true;
	} else {
		w->is_unlisted = first_slot && probed_is_unlisted(w, first_slot);
	}
#endif
	return 0;
}
