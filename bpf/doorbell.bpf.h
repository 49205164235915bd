/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The doorbell is the only thing that wakes user space up. A CPU rings the doorbell whenever
 * another quarter of a ring has been filled. If the doorbell's own ring is full, the doorbell has
 * been rung already, so nothing is lost.
 */
#pragma once

#include "bpf/vmlinux.h"
#include <bpf/bpf_helpers.h>

struct doorbell {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* where pages are larger, user space makes it one page */
};

extern struct doorbell doorbell SEC(".maps");

/*
 * Rings if a quarter of a ring was completed. BEFORE and AFTER count all bytes ever written to the
 * ring. QUARTER is a quarter of the ring's size, a power of two.
 */
static __always_inline void doorbell_on_quarter(__u64 before, __u64 after, __u64 quarter)
{
	__u64 ring = 0;

	if ((before ^ after) & quarter)
		bpf_ringbuf_output(&doorbell, &ring, sizeof(ring), BPF_RB_FORCE_WAKEUP);
}
