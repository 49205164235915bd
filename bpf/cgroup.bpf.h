/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The path of each cgroup that a record names by its id (docs/architecture/cgroups.md).
 *
 * It is sent once, before the first record with the id, and again when it is not known any more
 * that it was. A task keeps its cgroup and all above it, and their names, also when their
 * directories are gone.
 */
#pragma once

#include "bpf/context.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"

#define CGROUP_SET_BITS 12
#define CGROUP_WAYS     4

/*
 * Ids whose path was sent: sets, in each of which the oldest goes. CPUs may write to a set at the
 * same time: then one is forgotten, and its path is sent again. User space clears all of them.
 */
__u64 cgroups_sent[1 << CGROUP_SET_BITS][CGROUP_WAYS] = {};

/* (beside cgroups, the files in them have ids of the same sequence) */
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

static __always_inline void cgroup_set_sent(__u64 id)
{
	__u64 *set = cgroup_set_of(id);

	for (int i = CGROUP_WAYS - 1; i > 0; i--)
		set[i] = set[i - 1];
	set[0] = id;
}

/*
 * Writes the path of C into REC, with all but its head: levels that begin in the first BEGIN bytes
 * and have names of less than NAME bytes, NUL included. REC has room for BEGIN + NAME. Returns
 * false if a name cannot be read.
 */
static __always_inline bool cgroup_fill(struct rec_cgroup *rec, struct cgroup *c, __u64 id,
					const __u32 begin, const __u32 name)
{
	int level = BPF_CORE_READ(c, level), i;
	__u32 at = 0;

	rec->path[0] = '/'; /* of the root itself */
	rec->path[1] = '\0';
	/* (what would differ from turn to turn, the verifier would follow through all of them) */
	for (i = 1; i <= CGROUP_LEVELS_MAX && i <= level && at < begin; i++) {
		struct cgroup *above = NULL;
		long n;

		bpf_core_read(&above, sizeof(above), &c->ancestors[i]);
		rec->path[at] = '/';
		n = bpf_probe_read_kernel_str(rec->path + at + 1, name,
					      BPF_CORE_READ(above, kn, name));
		if (n <= 1)
			return false;
		at += n;
		if (n == name && name < CGROUP_NAME_BYTES)
			break;
	}
	rec->id = id;
	rec->bytes = at ? at + 1 : 2;
	rec->is_cut = i <= level;
	return true;
}

/* Returns whether it is done with C: its path does not have to be sent with more room. */
static __always_inline bool cgroup_send_in(struct cgroup *c, __u64 id, __u64 who, __u64 now_ns,
					   const __u32 begin, const __u32 name)
{
	struct rec_cgroup *rec;
	bool filled;

	rec = rec_reserve(REC_CGROUP_RING, REC_CGROUP_BYTES(begin + name), now_ns);
	if (!rec)
		return true;
	filled = cgroup_fill(rec, c, id, begin, name);
	if (!filled || (rec->is_cut && name < CGROUP_NAME_BYTES)) {
		bpf_ringbuf_discard(rec, BPF_RB_NO_WAKEUP);
		if (!filled)
			rec_lose(REC_RING_LIFECYCLE, now_ns);
		return !filled;
	}
	rec_fill_head_of(&rec->head, now_ns, REC_CGROUP, REC_CGROUP_BYTES(rec->bytes), who);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	cgroup_set_sent(id);
	return true;
}

/*
 * Sends the path of cgroup C, whose id is ID. (The ring has room only for sizes that are known
 * here: most paths are short.) Not static, for the verifier: it looks at this once, and not for
 * each way that leads here. Returns nothing of use.
 */
__noinline __u64 cgroup_send_path(__u64 c, __u64 id, __u64 who, __u64 now_ns)
{
	if (!cgroup_send_in((struct cgroup *)c, id, who, now_ns, 128, 128))
		cgroup_send_in((struct cgroup *)c, id, who, now_ns,
			       CGROUP_PATH_BYTES - CGROUP_NAME_BYTES, CGROUP_NAME_BYTES);
	return 0;
}

/* Sends the path of the cgroup that P is in, unless it was sent. Returns the id. */
static __always_inline __u64 cgroup_send(struct task_struct *p, __u64 now_ns)
{
	struct cgroup *c = BPF_CORE_READ(p, cgroups, dfl_cgrp);
	__u64 id = BPF_CORE_READ(c, kn, id);

	if (!cgroup_is_sent(id))
		cgroup_send_path((__u64)c, id, rec_who(p), now_ns);
	return id;
}
