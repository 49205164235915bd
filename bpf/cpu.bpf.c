/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Activities of a CPU other than running threads: hard interrupts, softirqs, idle states. At its
 * end, each activity is written as one finished FXT record. Until then, the begin of the activity
 * is kept in the state of the CPU.
 *
 * Each of the three kinds has its own word ring, because activities of different kinds interrupt
 * each other. Within one ring, records never interrupt each other:
 *
 *  - handlers of hard interrupts run with interrupts off. If a handler calls other handlers (of the
 *    lines behind a multiplexer), these run between the eBPF programs for the first handler, not
 *    inside one of them.
 *  - softirqs run with interrupts on, but no softirq begins on a CPU before the previous one has
 *    ended, and the tracepoint keeps the thread (on PREEMPT_RT) on the CPU. A hard interrupt can
 *    arrive in the middle of an eBPF program, but its programs write to another ring.
 *  - idle states are entered and left by the CPU's idle thread alone, never from an interrupt.
 *
 * A begin without an end is overwritten by the next begin; an end without a begin is dropped. The
 * eBPF programs for ends are attached first, so no begin waits for an end that was missed.
 */
#include "bpf/context.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/cpu-state.bpf.h"
#include "bpf/record.h"
#include "bpf/ring.bpf.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-wire.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define IDLE_EXIT ((__u32)-1) /* PWR_EVENT_EXIT */

const volatile __u64 cpu_ring_bytes = 0;                /* a power of two */
const volatile __u32 cpu_rings_from[CPU_RINGS] = { 0 }; /* the first ring of each CPU_RING_* */

struct cpu_states cpu_states SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by user space */
	__uint(key_size, sizeof(__u32));
	/* Set by user space: size of struct word_ring, the ring, and the slack. */
	__uint(value_size, 8192);
} cpu_rings SEC(".maps");

static __always_inline bool cpu_reserve(struct reservation *r, __u32 ring, __u32 cpu, __u32 words,
					__u64 now_ns)
{
	__u32 at = cpu_rings_from[ring] + cpu;
	struct word_ring *word_ring = bpf_map_lookup_elem(&cpu_rings, &at);
	struct ring_lost *mark;

	return word_ring &&
	       ring_reserve(r, word_ring, cpu_ring_bytes, words * sizeof(__u64), now_ns, &mark);
}

/* Writes the four words with which all these records begin. PROCESS is the pseudo-process. */
static __always_inline void put_head(__u64 *words, __u64 header, __u32 n_words, __u64 begin_ns,
				     __u32 process, __u32 cpu)
{
	words[0] = header | fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(n_words) |
		   fxt_put_event_type(FXT_EVENT_DURATION_COMPLETE);
	words[1] = begin_ns;
	words[2] = process;
	words[3] = process + 1 + cpu;
}

/* ---- hard interrupts ---- */

SEC("?tp_btf/irq_handler_entry")
int TIMED_PROG(COST_IRQ, on_irq_handler_entry, int irq, struct irqaction *action)
{
	struct cpu_state *state = cpu_state();
	__u32 depth;

	if (!state)
		return 0;
	depth = state->irq_depth++;
	if (depth < CPU_IRQ_DEPTH_MAX)
		state->irq_begin_ns[depth] = bpf_ktime_get_boot_ns();
	return 0;
}

/* Reads the handler's name into STATE, padded with zeroes. Returns its length. */
static __always_inline __u32 read_irq_name(struct cpu_state *state, struct irqaction *action)
{
	long n;

	__builtin_memset(state->irq_name, 0, sizeof(state->irq_name));
	n = bpf_probe_read_kernel_str(state->irq_name, sizeof(state->irq_name), action->name);
	if (n > 1 && n <= CPU_IRQ_NAME_BYTES)
		return n - 1;
	state->irq_name[0] = '?';
	return 1;
}

SEC("?tp_btf/irq_handler_exit")
int TIMED_PROG(COST_IRQ, on_irq_handler_exit, int irq, struct irqaction *action, int ret)
{
	__u32 cpu = bpf_get_smp_processor_id(), depth, length, name_words, n;
	struct cpu_state *state = cpu_state();
	struct reservation r;
	const __u64 *name;
	__u64 now_ns;

	if (!state || state->irq_depth == 0)
		return 0;
	depth = --state->irq_depth;
	if (depth >= CPU_IRQ_DEPTH_MAX)
		return 0;
	now_ns = bpf_ktime_get_boot_ns();
	length = read_irq_name(state, action);
	name_words = (length + 7) / 8;
	/*
	 * name_words is less than 8. Without the barrier, clang would omit the check that the
	 * verifier of Linux 6.1 needs.
	 */
	barrier_var(name_words);
	name_words &= 7;
	n = 4 + name_words + 3;
	if (!cpu_reserve(&r, CPU_RING_IRQ, cpu, n, now_ns))
		return 0;
	put_head(r.words,
		 fxt_put_event_n_args(2) | fxt_put_event_category(FXT_NAME_IRQ) |
			 fxt_put_event_name(fxt_put_string_ref_inline(1) | length),
		 n, state->irq_begin_ns[depth], FXT_KOID_IRQ, cpu);
	/*
	 * Copies a name of the maximum length. If the name is shorter, the arguments overwrite the
	 * rest.
	 */
	name = (const __u64 *)state->irq_name;
	for (int i = 0; i < CPU_IRQ_NAME_BYTES / 8; i++)
		r.words[4 + i] = name[i];
	r.words[4 + name_words] = fxt_arg32(FXT_ARG_INT32, FXT_NAME_IRQ, (__u32)irq);
	r.words[5 + name_words] = fxt_arg32(FXT_ARG_BOOL, FXT_NAME_HANDLED, ret != 0);
	r.words[6 + name_words] = now_ns;
	ring_commit(&r, cpu_ring_bytes);
	return 0;
}

/* ---- softirqs ---- */

SEC("?tp_btf/softirq_entry")
int TIMED_PROG(COST_SOFTIRQ, on_softirq_entry, unsigned int vector)
{
	struct cpu_state *state = cpu_state();

	if (state)
		state->softirq_begin_ns = bpf_ktime_get_boot_ns();
	return 0;
}

SEC("?tp_btf/softirq_exit")
int TIMED_PROG(COST_SOFTIRQ, on_softirq_exit, unsigned int vector)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_state *state = cpu_state();
	struct reservation r;
	__u64 begin_ns, now_ns;

	if (!state || state->softirq_begin_ns == 0)
		return 0;
	begin_ns = state->softirq_begin_ns;
	state->softirq_begin_ns = 0;
	now_ns = bpf_ktime_get_boot_ns();
	if (vector > FXT_NAME_SOFTIRQ_RCU - FXT_NAME_SOFTIRQ_HI ||
	    !cpu_reserve(&r, CPU_RING_SOFTIRQ, cpu, 5, now_ns))
		return 0;
	put_head(r.words,
		 fxt_put_event_category(FXT_NAME_SOFTIRQ) |
			 fxt_put_event_name(FXT_NAME_SOFTIRQ_HI + vector),
		 5, begin_ns, FXT_KOID_SOFTIRQ, cpu);
	r.words[4] = now_ns;
	ring_commit(&r, cpu_ring_bytes);
	return 0;
}

/* ---- idle states ---- */

/* User space adds the name of the state. */
SEC("?tp_btf/cpu_idle")
int TIMED_PROG(COST_POWER, on_cpu_idle, unsigned int idle_state, unsigned int cpu_id)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 begin_ns, now_ns = bpf_ktime_get_boot_ns();
	struct cpu_state *state = cpu_state();
	struct reservation r;

	if (!state)
		return 0;
	begin_ns = state->idle_begin_ns;
	state->idle_begin_ns = idle_state == IDLE_EXIT ? 0 : now_ns;
	if (idle_state != IDLE_EXIT) {
		state->idle_state = idle_state;
		return 0;
	}
	if (begin_ns == 0 || !cpu_reserve(&r, CPU_RING_IDLE, cpu, 6, now_ns))
		return 0;
	put_head(r.words, fxt_put_event_n_args(1) | fxt_put_event_category(FXT_NAME_POWER), 6,
		 begin_ns, FXT_KOID_POWER, cpu);
	r.words[4] = fxt_arg32(FXT_ARG_UINT32, FXT_NAME_STATE, state->idle_state);
	r.words[5] = now_ns;
	ring_commit(&r, cpu_ring_bytes);
	return 0;
}
