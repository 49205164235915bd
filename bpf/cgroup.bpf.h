/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Paths of the cgroups that records name by their ids (docs/architecture/cgroups.md).
 *
 * A path is sent before the first record with the id. It is sent again if the program no longer
 * knows that it was sent. A task keeps its cgroup, all cgroups above it and their names alive, even
 * after their directories are removed.
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
__u64 cgroups_sent[1 << CGROUP_SET_BITS][CGROUP_WAYS] = {};

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

static __always_inline void cgroup_set_sent(__u64 id)
{
	__u64 *set = cgroup_set_of(id);

	for (int i = CGROUP_WAYS - 1; i > 0; i--)
		set[i] = set[i - 1];
	set[0] = id;
}

/*
 * A path that is being written. Its record has the number of bytes so far, the next level in
 * is_cut, and the id 0 after a name that cannot be read. The verifier does not know the contents of
 * records, so it does not follow them through the rounds of the loop.
 */
struct cgroup_path {
	struct rec_cgroup *rec;
	struct cgroup *c;
	int level;
};

/*
 * Adds the next level to P. The path in the record has room for levels that begin in its first
 * BEGIN bytes, and for a name of NAME bytes after these. Returns 1 after the last level, or if a
 * level does not fit.
 */
static __always_inline long cgroup_add_level(struct cgroup_path *p, const __u64 begin,
					     const __u32 name)
{
	struct cgroup *c = p->c, *above = NULL;
	struct rec_cgroup *rec = p->rec;
	int level = (int)rec->is_cut;
	__u64 at = rec->bytes;
	long n;

	barrier_var(at);
	if (level > p->level || at >= begin)
		return 1;
	bpf_core_read(&above, sizeof(above), &c->ancestors[level]);
	rec->path[at] = '/';
	n = bpf_probe_read_kernel_str(rec->path + at + 1, name, BPF_CORE_READ(above, kn, name));
	if (n <= 1) {
		rec->id = 0;
		return 1;
	}
	rec->bytes = at + n;
	if (n == name && name < CGROUP_NAME_BYTES)
		return 1;
	rec->is_cut = (__u32)level + 1;
	return 0;
}

/* Most paths are short. */
#define CGROUP_SHORT_BYTES 128

static long cgroup_add_short(__u32 i, struct cgroup_path *p)
{
	return cgroup_add_level(p, CGROUP_SHORT_BYTES, CGROUP_SHORT_BYTES);
}

static long cgroup_add_long(__u32 i, struct cgroup_path *p)
{
	return cgroup_add_level(p, CGROUP_PATH_BYTES - CGROUP_NAME_BYTES, CGROUP_NAME_BYTES);
}

/*
 * Writes the path of C into REC, and fills all of REC except its head. REC has room for
 * CGROUP_PATH_BYTES, or, if IS_SHORT is true, for 2 * CGROUP_SHORT_BYTES. Returns false if a name
 * cannot be read.
 */
static __always_inline bool cgroup_fill(struct rec_cgroup *rec, struct cgroup *c, __u64 id,
					const bool is_short)
{
	struct cgroup_path p = { .rec = rec, .c = c, .level = BPF_CORE_READ(c, level) };

	rec->path[0] = '/'; /* the path of the root */
	rec->path[1] = '\0';
	rec->id = id;
	rec->bytes = 0;
	rec->is_cut = 1;
	bpf_loop(CGROUP_LEVELS_MAX, is_short ? cgroup_add_short : cgroup_add_long, &p, 0);
	if (rec->id == 0)
		return false;
	rec->bytes = rec->bytes ? rec->bytes + 1 : 2;
	rec->is_cut = (int)rec->is_cut <= p.level;
	return true;
}

/* Returns true unless the path must be sent again in a record with more room. */
static __always_inline bool cgroup_send_in(struct cgroup *c, __u64 id, __u64 who, __u64 now_ns,
					   const bool is_short)
{
	const __u32 bytes = is_short ? 2 * CGROUP_SHORT_BYTES : CGROUP_PATH_BYTES;
	struct rec_cgroup *rec;
	bool filled;

	rec = rec_reserve(REC_CGROUP_RING, REC_CGROUP_BYTES(bytes), now_ns);
	if (!rec)
		return true;
	filled = cgroup_fill(rec, c, id, is_short);
	if (!filled || (rec->is_cut && is_short)) {
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
 * Sends the path of cgroup C with the id ID. The ring can only reserve constant sizes, so a short
 * record is tried first. This function is not static, so the verifier checks it once, and not for
 * each path of the program. Always returns 0.
 */
__noinline __u64 cgroup_send_path(__u64 c, __u64 id, __u64 who, __u64 now_ns)
{
	if (!cgroup_send_in((struct cgroup *)c, id, who, now_ns, true))
		cgroup_send_in((struct cgroup *)c, id, who, now_ns, false);
	return 0;
}

/* Sends the path of P's cgroup, unless it was sent. Returns the id. */
static __always_inline __u64 cgroup_send(struct task_struct *p, __u64 now_ns)
{
	struct cgroup *c = BPF_CORE_READ(p, cgroups, dfl_cgrp);
	__u64 id = BPF_CORE_READ(c, kn, id);

	if (!cgroup_is_sent(id))
		cgroup_send_path((__u64)c, id, rec_who(p), now_ns);
	return id;
}
