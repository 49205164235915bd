/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Activities that have begun on this CPU and not ended yet.
 */
#pragma once

#include "bpf/vmlinux.h"
#include "bpf/record.h"

#include <bpf/bpf_helpers.h>

struct cpu_states {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_state);
};

extern struct cpu_states cpu_states SEC(".maps");

static __always_inline struct cpu_state *cpu_state(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cpu_states, &zero);
}
