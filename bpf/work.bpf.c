/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Work items, and changes of CPU frequencies. Both come from threads and from interrupts, which can
 * interrupt each other, so they use BPF ring buffers.
 *
 * A worker runs one item at a time. The worker can sleep in the item and continue on another CPU,
 * so the begin of an item is stored with the worker's thread. Items of "BH" workqueues (since 6.9)
 * run in softirqs, which have no thread of their own, one at a time on each CPU. The begin of such
 * an item is in the CPU's state. The kernel skips an eBPF program that is already running on the
 * same CPU. So each hook has two eBPF programs, one for threads and one for softirqs, and each
 * ignores the items of the other.
 */
#include "bpf/context.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/cpu-state.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define PF_WQ_WORKER 0x00000020

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct work_state);
} work_states SEC(".maps");

/* Functions whose names were sent. When the table is full, names are sent each time. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, __u8);
} work_functions SEC(".maps");

/* Returns true if P is a kworker (or a rescuer), and not a softirq that interrupts one. */
static __always_inline bool is_worker(struct task_struct *p)
{
	return p->flags & PF_WQ_WORKER && !in_interrupt(p);
}

/* Sends the name of FUNCTION, once. The kernel itself resolves the symbol. */
static __always_inline void send_function(__u64 function, __u64 now_ns, struct task_struct *p)
{
	static const char format[] = "%ps";
	struct rec_function *rec;
	__u8 one = 1;

	if (bpf_map_lookup_elem(&work_functions, &function))
		return;
	rec = rec_reserve(REC_FUNCTION_RING, sizeof(*rec), now_ns);
	if (!rec)
		return;
	rec_fill_head(&rec->head, now_ns, REC_FUNCTION, sizeof(*rec), p);
	rec->function = function;
	rec->name[0] = '\0';
	bpf_snprintf(rec->name, sizeof(rec->name), format, &function, sizeof(function));
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	bpf_map_update_elem(&work_functions, &function, &one, BPF_ANY);
}

/* Sends the end of the item in STATE. */
static __always_inline void send_work(struct work_state *state, bool in_softirq,
				      struct task_struct *p)
{
	__u64 now_ns = bpf_ktime_get_boot_ns();
	__u64 begin_ns = state->begin_ns, function = state->function;
	struct rec_work *rec;

	if (begin_ns == 0)
		return;
	state->begin_ns = 0;
	send_function(function, now_ns, p);
	rec = rec_reserve(REC_WORK_RING, sizeof(*rec), now_ns);
	if (!rec)
		return;
	rec_fill_head(&rec->head, now_ns, REC_WORK, sizeof(*rec), p);
	rec->begin_ns = begin_ns;
	rec->function = function;
	rec->in_softirq = in_softirq;
	rec->pad_0 = 0;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

static __always_inline void begin_work(struct work_state *state, struct work_struct *work)
{
	state->function = (__u64)work->func;
	state->begin_ns = bpf_ktime_get_boot_ns();
}

SEC("?tp_btf/workqueue_execute_start")
int TIMED_PROG(COST_WORKQUEUE, on_work_start, struct work_struct *work)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct work_state *state;

	if (!is_worker(p) || !filter_selects(p))
		return 0;
	state = bpf_task_storage_get(&work_states, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (state)
		begin_work(state, work);
	else
		rec_lose(REC_RING_WORKQUEUE, bpf_ktime_get_boot_ns());
	return 0;
}

/* The item can be freed by now, so its memory is not read. */
SEC("?tp_btf/workqueue_execute_end")
int TIMED_PROG(COST_WORKQUEUE, on_work_end)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct work_state *state;

	if (!is_worker(p))
		return 0;
	state = bpf_task_storage_get(&work_states, p, NULL, 0);
	if (state)
		send_work(state, false, p);
	return 0;
}

SEC("?tp_btf/workqueue_execute_start")
int TIMED_PROG(COST_WORKQUEUE, on_bh_work_start, struct work_struct *work)
{
	struct cpu_state *state = cpu_state();

	if (state && !is_worker(bpf_get_current_task_btf()))
		begin_work(&state->bh_work, work);
	return 0;
}

SEC("?tp_btf/workqueue_execute_end")
int TIMED_PROG(COST_WORKQUEUE, on_bh_work_end)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct cpu_state *state = cpu_state();

	if (state && !is_worker(p))
		send_work(&state->bh_work, true, p);
	return 0;
}

SEC("?tp_btf/cpu_frequency")
int TIMED_PROG(COST_POWER, on_cpu_frequency, unsigned int khz, unsigned int cpu)
{
	__u64 now_ns = bpf_ktime_get_boot_ns();
	struct rec_frequency *rec = rec_reserve(REC_FREQUENCY_RING, sizeof(*rec), now_ns);

	if (!rec)
		return 0;
	rec_fill_head(&rec->head, now_ns, REC_FREQUENCY, sizeof(*rec), bpf_get_current_task_btf());
	rec->khz = khz;
	rec->cpu = cpu;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}
