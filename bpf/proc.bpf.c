/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The life of processes and threads: fork, exec, exit, rename, and who is there at the start.
 *
 * These are rare beside switches, of several sizes, and must not get lost: they go through a BPF
 * ring buffer per CPU that nothing else writes to. The maps that all programs share are here too.
 */
#include "bpf/context.bpf.h"
#include "bpf/doorbell.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/record.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 filter_kinds = 0;
const volatile __u64 lifecycle_ring_bytes = 0; /* a power of two */

struct doorbell doorbell SEC(".maps");
struct filter_pids filter_pids SEC(".maps");
struct filter_comms filter_comms SEC(".maps");
struct filter_uids filter_uids SEC(".maps");
struct filter_cgroups filter_cgroups SEC(".maps");
struct filter_verdicts filter_verdicts SEC(".maps");

struct lifecycle_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536); /* user space makes the real ones */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* user space: possible CPUs */
	__type(key, __u32);
	__array(values, struct lifecycle_ring);
} lifecycle_rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lifecycle_state);
} lifecycle_states SEC(".maps");

static __always_inline void fill_head(struct rec_head *h, __u64 now_ns, __u16 kind, __u32 size,
				      struct task_struct *p)
{
	h->ts_ns = now_ns;
	h->size = size;
	h->kind = kind;
	h->cpu = bpf_get_smp_processor_id();
	h->pid = process_id(p);
	h->tid = p->pid;
}

static __always_inline void fill_identity(struct rec_identity *id, struct task_struct *p)
{
	id->start_ns = p->start_boottime;
	id->cgroup_id = BPF_CORE_READ(p, cgroups, dfl_cgrp, kn, id);
	id->pid = process_id(p);
	id->tid = p->pid;
	id->parent_pid = BPF_CORE_READ(p, real_parent, tgid);
	id->uid = BPF_CORE_READ(p, cred, euid.val);
	id->prio = p->prio;
	id->flags = p->flags & PF_KTHREAD ? IDENTITY_KTHREAD : 0;
	bpf_probe_read_kernel_str(id->comm, sizeof(id->comm), p->comm);
}

static __always_inline void count_lost(struct lifecycle_state *state, __u64 now_ns)
{
	if (state->lost_count++ == 0)
		state->lost_first_ns = now_ns;
	state->lost_last_ns = now_ns;
}

/* Room for SIZE bytes in this CPU's ring, preceded by the mark of a loss if there was one; or NULL,
 * counted. */
static __always_inline void *lifecycle_reserve(__u64 size, __u64 now_ns)
{
	__u32 cpu = bpf_get_smp_processor_id(), zero = 0;
	struct lifecycle_state *state = bpf_map_lookup_elem(&lifecycle_states, &zero);
	void *ring = bpf_map_lookup_elem(&lifecycle_rings, &cpu);
	struct rec_lost *mark;
	void *rec;

	if (!state || !ring)
		return NULL;
	if (state->lost_count) {
		mark = bpf_ringbuf_reserve(ring, sizeof(*mark), 0);
		if (!mark) {
			count_lost(state, now_ns);
			return NULL;
		}
		mark->head.ts_ns = state->lost_first_ns;
		mark->head.size = sizeof(*mark);
		mark->head.kind = REC_LOST;
		mark->head.cpu = cpu;
		mark->head.pid = mark->head.tid = 0;
		mark->count = state->lost_count;
		mark->first_ns = state->lost_first_ns;
		mark->last_ns = state->lost_last_ns;
		bpf_ringbuf_submit(mark, BPF_RB_NO_WAKEUP);
		state->lost_count = 0;
	}
	rec = bpf_ringbuf_reserve(ring, size, 0);
	if (!rec) {
		count_lost(state, now_ns);
		return NULL;
	}
	state->bytes += size;
	doorbell_on_quarter(state->bytes - size, state->bytes, lifecycle_ring_bytes / 4);
	return rec;
}

/* The child of a selected process is selected. If there is no room for it, what it would have
 * shown is lost. */
static __always_inline void follow(struct task_struct *child, __u64 now_ns)
{
	__u32 tgid = (__u32)child->tgid, zero = 0;
	struct lifecycle_state *state = bpf_map_lookup_elem(&lifecycle_states, &zero);
	__u8 lives = FILTER_PID_LIVES;

	if (bpf_map_update_elem(&filter_pids, &tgid, &lives, BPF_ANY) < 0 && state)
		count_lost(state, now_ns);
}

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(on_sched_process_fork, struct task_struct *parent, struct task_struct *child)
{
	__u64 now_ns = bpf_ktime_get_boot_ns();
	bool selected = filter_selects(parent);
	struct rec_fork *rec;
	__u32 tgid;

	if (filter_kinds & FILTER_PID && child->pid == child->tgid) {
		tgid = (__u32)parent->tgid;
		if (bpf_map_lookup_elem(&filter_pids, &tgid))
			follow(child, now_ns);
	}
	if (!selected && !filter_selects(child))
		return 0;
	rec = lifecycle_reserve(sizeof(*rec), now_ns);
	if (!rec)
		return 0;
	fill_head(&rec->head, now_ns, REC_FORK, sizeof(*rec), parent);
	fill_identity(&rec->child, child);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(on_sched_process_exec, struct task_struct *p, int old_pid, struct linux_binprm *bprm)
{
	__u64 now_ns = bpf_ktime_get_boot_ns();
	unsigned long start, bytes;
	struct rec_exec *rec;

	if (!filter_selects(p))
		return 0;
	rec = lifecycle_reserve(sizeof(*rec), now_ns);
	if (!rec)
		return 0;
	fill_head(&rec->head, now_ns, REC_EXEC, sizeof(*rec), p);
	fill_identity(&rec->task, p);
	rec->old_tid = old_pid;
	rec->file[0] = '\0';
	bpf_probe_read_kernel_str(rec->file, sizeof(rec->file), bprm->filename);

	/* Not a fault that could sleep: the kernel has just written these pages. */
	start = BPF_CORE_READ(p, mm, arg_start);
	bytes = BPF_CORE_READ(p, mm, arg_end) - start;
	if (bytes > sizeof(rec->args))
		bytes = sizeof(rec->args);
	rec->args_bytes = bytes;
	if (bpf_probe_read_user(rec->args, bytes, (const void *)start) < 0)
		rec->args_bytes = 0;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(on_sched_process_exit, struct task_struct *p)
{
	__u64 now_ns = bpf_ktime_get_boot_ns();
	bool selected = filter_selects(p);
	struct rec_exit *rec;
	__u32 tgid = (__u32)p->tgid;
	bool ends = BPF_CORE_READ(p, signal, live.counter) == 0;

	/* Other threads of it may still be on their way out: on_sched_process_free lets it go. */
	if (filter_kinds & FILTER_PID && ends) {
		__u8 *value = bpf_map_lookup_elem(&filter_pids, &tgid);

		if (value)
			*value = FILTER_PID_ENDED;
	}
	if (!selected)
		return 0;
	rec = lifecycle_reserve(sizeof(*rec), now_ns);
	if (!rec)
		return 0;
	fill_head(&rec->head, now_ns, REC_EXIT, sizeof(*rec), p);
	fill_identity(&rec->task, p);
	rec->exit_code = p->exit_code;
	rec->process_ends = ends;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

/* Nothing is left of the task. Its id may have been given out again: then it is not marked. */
SEC("?tp_btf/sched_process_free")
int BPF_PROG(on_sched_process_free, struct task_struct *p)
{
	__u32 tgid = (__u32)p->tgid;
	__u8 *value;

	if (p->pid != p->tgid)
		return 0;
	value = bpf_map_lookup_elem(&filter_pids, &tgid);
	if (value && *value == FILTER_PID_ENDED)
		bpf_map_delete_elem(&filter_pids, &tgid);
	return 0;
}

SEC("?tp_btf/task_rename")
int BPF_PROG(on_task_rename, struct task_struct *p, const char *comm)
{
	__u64 now_ns = bpf_ktime_get_boot_ns();
	struct rec_rename *rec;

	/* Under a filter by name both the loss and the gain of the name are of interest. */
	if (filter_kinds && !(filter_selects_but_comm(p) &&
			      (filter_selects_comm(p->comm) || filter_selects_comm(comm))))
		return 0;
	rec = lifecycle_reserve(sizeof(*rec), now_ns);
	if (!rec)
		return 0;
	fill_head(&rec->head, now_ns, REC_RENAME, sizeof(*rec), p);
	fill_identity(&rec->task, p);
	rec->comm[0] = '\0';
	bpf_probe_read_kernel_str(rec->comm, sizeof(rec->comm), comm);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("?iter/task")
int on_iter_task(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct rec_task rec = {};

	if (!p)
		return 0;
	rec.head.ts_ns = bpf_ktime_get_boot_ns();
	rec.head.size = sizeof(rec);
	rec.head.kind = REC_TASK;
	rec.head.cpu = p->thread_info.cpu;
	rec.head.pid = process_id(p);
	rec.head.tid = p->pid;
	fill_identity(&rec.task, p);
	if (p->on_cpu)
		rec.task.flags |= IDENTITY_ON_CPU;
	if (filter_selects(p))
		rec.task.flags |= IDENTITY_SELECTED;
	bpf_seq_write(ctx->meta->seq, &rec, sizeof(rec));
	return 0;
}
