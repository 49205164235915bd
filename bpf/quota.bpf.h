/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Threads that are throttled, since their cgroup has used up its quota of CPU time. Part of
 * offcpu.bpf.c.
 */
#pragma once

#include "bpf/cgroup.bpf.h"
#include "bpf/record.h"

/* The kernel's MAX_RT_PRIO. Threads whose `prio` is lower are real-time or deadline threads. */
#define QUOTA_PRIO_MIN 100

/* Groups above a thread that are searched. */
#define QUOTA_LEVELS_MAX 16

/* Fills TO with the quota of TG, a group of TASK. */
static __always_inline void quota_fill(struct offcpu_quota *to, struct task_group *tg,
				       struct task_struct *task, __u64 now_ns)
{
	struct cgroup *c = BPF_CORE_READ(tg, css.cgroup);
	__u64 id = BPF_CORE_READ(c, kn, id);

	to->quota_ns = BPF_CORE_READ(tg, cfs_bandwidth.quota);
	to->period_ns = (__u64)BPF_CORE_READ(tg, cfs_bandwidth.period);
	if (BPF_CORE_READ(c, root) != BPF_CORE_READ(task, cgroups, dfl_cgrp, root))
		id |= OFFCPU_CGROUP_V1;
	to->cgroup_id = id;
	if (!cgroup_is_sent(id))
		cgroup_send_path((__u64)c, id, rec_who(task), now_ns);
}

/* Finds the group above TASK that is throttled on this CPU. */
static __always_inline void quota_find(struct offcpu_quota *to, struct task_struct *task,
				       __u64 now_ns)
{
	struct cfs_rq *queue = BPF_CORE_READ(task, se.cfs_rq), **queues;
	__u32 cpu = bpf_get_smp_processor_id();
	struct task_group *tg = NULL;

#pragma clang loop unroll(disable)
	for (int i = 0; i < QUOTA_LEVELS_MAX && queue; i++) {
		tg = BPF_CORE_READ(queue, tg);
		if (!tg || BPF_CORE_READ_BITFIELD_PROBED(queue, throttled))
			break;
		tg = BPF_CORE_READ(tg, parent);
		queues = BPF_CORE_READ(tg, cfs_rq);
		queue = NULL;
		bpf_probe_read_kernel(&queue, sizeof(queue), queues + cpu);
		tg = NULL;
	}
	if (tg)
		quota_fill(to, tg, task, now_ns);
}

/*
 * Fills TO for TASK, which leaves its CPU in state R at NOW_NS. Since 6.18, a thread that is
 * throttled leaves its queue itself, before it returns to its program. Earlier kernels remove the
 * queue of its group from the CPU.
 */
static __always_inline void quota_read(struct offcpu_quota *to, struct task_struct *task,
				       __u64 now_ns)
{
	/*
	 * The quota does not apply to real-time and deadline threads, nor to a thread that has such
	 * a priority only while it holds a lock. The groups of such threads can be throttled
	 * nevertheless.
	 */
	if (task->prio < QUOTA_PRIO_MIN)
		return;
	if (!bpf_core_field_exists(task->se.cfs_rq) ||
	    !bpf_core_field_exists(struct cfs_rq, throttle_count))
		return;
	if (bpf_core_field_exists(task->throttled)) {
		if (!task->throttled)
			return;
	} else if (BPF_CORE_READ(task, se.cfs_rq, throttle_count) <= 0) {
		return;
	}
	quota_find(to, task, now_ns);
}
