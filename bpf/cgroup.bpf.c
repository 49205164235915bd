/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Sends the paths of cgroups.
 */
#include "bpf/cgroup.bpf.h"
#include "bpf/context.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u64 cgroups_sent[1 << CGROUP_SET_BITS][CGROUP_WAYS] = {};

static __always_inline void cgroup_set_sent(__u64 id)
{
	__u64 *set = cgroup_set_of(id);

	for (int i = CGROUP_WAYS - 1; i > 0; i--)
		set[i] = set[i - 1];
	set[0] = id;
}

/*
 * A path that is being written. Until the path is complete, its record stores the state of the
 * loop: `bytes` is the number of bytes so far, `is_cut` is the next level, and `id` is 0 after an
 * unreadable name. The verifier does not track the contents of records, so it does not examine each
 * round of the loop separately.
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

/* The ring can only reserve constant sizes, so a short record is tried first. */
__noinline __u64 cgroup_send_path(__u64 c, __u64 id, __u64 who, __u64 now_ns)
{
	if (!cgroup_send_in((struct cgroup *)c, id, who, now_ns, true))
		cgroup_send_in((struct cgroup *)c, id, who, now_ns, false);
	return 0;
}

/*
 * One work area is enough: only one instance of the iterator runs at a time, since only the
 * session's worker reads it.
 */
static struct rec_cgroup cgroup_room;

/* Sends the path of the cgroup of each task, unless that path was sent before. */
SEC("?iter/task")
int on_iter_cgroups(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct rec_cgroup *rec = &cgroup_room;
	struct cgroup *c;
	__u64 id;
	__u32 size;

	if (!p || (filter_kinds & FILTER_OWN && !own_is(p)))
		return 0;
	c = BPF_CORE_READ(p, cgroups, dfl_cgrp);
	id = BPF_CORE_READ(c, kn, id);
	/* A path that is unreadable now is sent with the next record of the task. */
	if (cgroup_is_sent(id) || !cgroup_fill(rec, c, id, false))
		return 0;
	size = REC_CGROUP_BYTES(rec->bytes);
	if (size > sizeof(*rec))
		return 0;
	rec_fill_head(&rec->head, bpf_ktime_get_boot_ns(), REC_CGROUP, size, p);
	if (filter_kinds & FILTER_OWN) {
		own_read_barrier();
		if (!own_is(p))
			return 0;
	}
	/* If the kernel's buffer is full, the iterator repeats this task. */
	if (bpf_seq_write(ctx->meta->seq, rec, size) == 0)
		cgroup_set_sent(id);
	return 0;
}
