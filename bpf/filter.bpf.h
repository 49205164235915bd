/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The filter of a session. The filter is applied before anything is written to a ring.
 *
 * All kinds of filter that are set must match. Within one kind, one matching value is enough. The
 * idle thread is never selected. Children of selected processes are selected: the map of pids gets
 * the present processes at the start, grows at each fork and shrinks at each exit (proc.bpf.c). A
 * cgroup is identified by its name below its parent, since a restarted unit gets a new id under the
 * old name. The result of the filter is cached by the id of the cgroup.
 */
#pragma once

#include "bpf/context.bpf.h"
#include "bpf/own.bpf.h"
#include "bpf/record.h"

struct filter_pids {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILTER_PIDS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);   /* tgid */
	__type(value, __u64); /* FILTER_PID_... (bpf/record.h) */
};

struct filter_comm_key {
	__u64 halves[2];
};

struct filter_comms {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILTER_VALUES_MAX);
	__type(key, struct filter_comm_key);
	__type(value, __u8);
};

struct filter_uids {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILTER_VALUES_MAX);
	__type(key, __u32);
	__type(value, __u8);
};

struct filter_cgroups {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FILTER_CGROUPS_MAX);
	__type(key, __u32);
	__type(value, struct filter_cgroup);
};

struct filter_verdicts {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64); /* cgroup id */
	__type(value, __u8);
};

extern struct filter_pids filter_pids SEC(".maps");
extern struct filter_comms filter_comms SEC(".maps");
extern struct filter_uids filter_uids SEC(".maps");
extern struct filter_cgroups filter_cgroups SEC(".maps");
extern struct filter_verdicts filter_verdicts SEC(".maps");

static __always_inline void filter_comm_key(struct filter_comm_key *key, const char *comm)
{
	key->halves[0] = key->halves[1] = 0;
	bpf_probe_read_kernel_str(key, sizeof(*key), comm);
}

/*
 * Returns true if the cgroup at address CGROUP, or one above it, is the cgroup of filter I: it has
 * the same parent and name. (The verifier checks this function once for each program, and not for
 * each filter.)
 */
bool filter_cgroup_is(__u64 cgroup, __u32 i);

static __always_inline bool filter_by_cgroup(struct task_struct *p)
{
	struct cgroup *c = BPF_CORE_READ(p, cgroups, dfl_cgrp);
	__u64 id = BPF_CORE_READ(c, kn, id);
	__u8 *known = bpf_map_lookup_elem(&filter_verdicts, &id), verdict = 0;

	if (known)
		return *known;
	for (__u32 i = 0; i < FILTER_CGROUPS_MAX && !verdict; i++)
		verdict = filter_cgroup_is((__u64)c, i);
#if !defined(FILTER_IN_NMI) /* in an NMI, the interrupted code may be writing the same result */
	bpf_map_update_elem(&filter_verdicts, &id, &verdict, BPF_ANY);
#endif
	return verdict;
}

/*
 * Returns true if P matches all filters except --comm. (At a rename, the caller checks that filter
 * with both names.)
 */
static __always_inline bool filter_selects_but_comm(struct task_struct *p)
{
	__u32 tgid = (__u32)p->tgid, uid;

	if (p->pid == 0)
		return false;
	if (filter_kinds & FILTER_PID && !bpf_map_lookup_elem(&filter_pids, &tgid))
		return false;
	if (filter_kinds & FILTER_UID) {
		uid = BPF_CORE_READ(p, cred, euid.val);
		if (!bpf_map_lookup_elem(&filter_uids, &uid))
			return false;
	}
	if (filter_kinds & FILTER_CGROUP && !filter_by_cgroup(p))
		return false;
	return !(filter_kinds & FILTER_OWN) || own_is(p);
}

static __always_inline bool filter_selects_comm(const char *comm)
{
	struct filter_comm_key key;

	if (!(filter_kinds & FILTER_COMM))
		return true;
	filter_comm_key(&key, comm);
	return bpf_map_lookup_elem(&filter_comms, &key) != NULL;
}

static __always_inline bool filter_selects(struct task_struct *p)
{
	return !filter_kinds || (filter_selects_but_comm(p) && filter_selects_comm(p->comm));
}
