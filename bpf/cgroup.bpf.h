/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Paths of the cgroups that records name by their ids (docs/architecture/cgroups.md).
 *
 * A path is sent before the first record with its id. The path is sent again if the eBPF programs
 * no longer know that it was sent. A task keeps its cgroup, all cgroups above it and their names
 * alive, even after their directories are removed.
 */
#pragma once

#include "bpf/context.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"

#define CGROUP_SET_BITS 12
#define CGROUP_WAYS     4

/*
 * Ids whose paths were sent, in sets. In a set, a new id replaces the oldest one. If two CPUs write
 * to a set at the same time, one of the ids is lost, and its path is sent again. User space clears
 * all sets.
 */
extern __u64 cgroups_sent[1 << CGROUP_SET_BITS][CGROUP_WAYS];

/*
 * (the ids of cgroups are hashed, since they have gaps: files in cgroups take ids of the same
 * sequence)
 */
static __always_inline __u64 *cgroup_set_of(__u64 id)
{
	return cgroups_sent[id * 0x9e3779b97f4a7c15ull >> (64 - CGROUP_SET_BITS)];
}

static __always_inline bool cgroup_is_sent(__u64 id)
{
	const __u64 *set = cgroup_set_of(id);

	for (int i = 0; i < CGROUP_WAYS; i++)
		if (set[i] == id)
			return true;
	return false;
}

/*
 * Sends the path of the cgroup at address C with the id ID. This function is not inlined, so the
 * verifier checks it once, and not for each path through a program. Always returns 0.
 */
__u64 cgroup_send_path(__u64 c, __u64 id, __u64 who, __u64 now_ns);

/* Sends the path of P's cgroup, unless it was sent. Returns the id. */
static __always_inline __u64 cgroup_send(struct task_struct *p, __u64 now_ns)
{
	struct cgroup *c = BPF_CORE_READ(p, cgroups, dfl_cgrp);
	__u64 id = BPF_CORE_READ(c, kn, id);

	if (!cgroup_is_sent(id))
		cgroup_send_path((__u64)c, id, rec_who(p), now_ns);
	return id;
}
