/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Measures the kernel's time in the timer that takes samples, of all samplers.
 */
#include "bpf/vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bench/tick-time.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct hrtimer {
	void *function;
} __attribute__((preserve_access_index));

const volatile __u64 sampler = 0; /* the address of the function */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tick_time);
} times SEC(".maps");

static __always_inline struct tick_time *tick_time_mine(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&times, &zero);
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_timer_begins, struct hrtimer *timer)
{
	struct tick_time *t = (__u64)timer->function == sampler ? tick_time_mine() : NULL;

	if (t)
		t->begin_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_timer_ends)
{
	__u64 now_ns = bpf_ktime_get_ns();
	struct tick_time *t = tick_time_mine();

	if (!t || !t->begin_ns)
		return 0;
	t->ns += now_ns - t->begin_ns;
	t->n++;
	t->begin_ns = 0;
	return 0;
}
