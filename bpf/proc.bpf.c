/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The life of processes and threads: fork, exec, exit, rename, and the tasks that exist at the
 * start; and CPUs that go offline.
 *
 * These events are rare compared with switches, differ in size, and must not be lost. So the events
 * have their own BPF ring buffer per CPU (bpf/rec-ring.bpf.h). This file also contains the maps
 * that all eBPF programs share.
 */
#include "bpf/cgroup.bpf.h"
#include "bpf/context.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"
#include "bpf/task-state.bpf.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 filter_kinds = 0;
const volatile __u32 own_uid = 0;
const volatile __u32 own_n_gids = 0;
const volatile __u32 own_gids[OWN_GIDS_MAX] = { 0 };
const volatile __u32 possible_cpus = 1;
const volatile __u64 rec_ring_bytes[REC_RINGS] = { 0 };

struct costs costs SEC(".maps");
struct doorbell doorbell SEC(".maps");
struct filter_pids filter_pids SEC(".maps");
struct filter_comms filter_comms SEC(".maps");
struct filter_uids filter_uids SEC(".maps");
struct filter_cgroups filter_cgroups SEC(".maps");
struct filter_verdicts filter_verdicts SEC(".maps");
struct own_exiting own_exiting SEC(".maps");

/* true = records of CPUs that go offline are sent. */
const volatile bool report_cpus_gone = false;
/*
 * CPUs that go offline are always counted, since their perf events are lost, even if a CPU is
 * online again before user space notices.
 */
__u32 cpu_departures[CPU_DEPARTURES] = {};

struct rec_rings rec_rings SEC(".maps");
struct rec_states rec_states SEC(".maps");

/* Returns the parent of P; 0 if the filter hides it. */
static __always_inline __u32 parent_of(struct task_struct *p)
{
	struct task_struct *parent = BPF_CORE_READ(p, real_parent);

	if (filter_kinds & FILTER_OWN && !own_is(parent))
		return 0;
	return BPF_CORE_READ(parent, tgid);
}

static __always_inline void fill_identity(struct rec_identity *id, struct task_struct *p,
					  __u64 cgroup_id)
{
	id->start_ns = p->start_boottime;
	id->cgroup_id = cgroup_id;
	id->pid = process_id(p);
	id->tid = p->pid;
	id->parent_pid = parent_of(p);
	id->uid = BPF_CORE_READ(p, real_cred, euid.val);
	id->prio = p->prio;
	id->flags = p->flags & PF_KTHREAD ? IDENTITY_KTHREAD : 0;
	bpf_probe_read_kernel_str(id->comm, sizeof(id->comm), p->comm);
}

/* ---- selected processes ---- */

/* The number of selected processes that live: those whose entries have FILTER_PID_COUNTED. */
__u32 filter_n_live = 0;

/* Returns the start time of the process of P, as entries of filter_pids store it. */
static __always_inline __u64 proc_start(struct task_struct *p)
{
	return BPF_CORE_READ(p, group_leader, start_boottime) & ~FILTER_PID_BITS;
}

/*
 * Returns true if the process of P is selected. If the start time in the entry differs, the entry
 * belongs to an earlier process with this id. (The entry 0 selects any process with this id.)
 */
static __always_inline bool proc_is_selected(struct task_struct *p)
{
	__u32 tgid = BPF_CORE_READ(p, tgid);
	__u64 *entry = bpf_map_lookup_elem(&filter_pids, &tgid), value;

	if (!entry)
		return false;
	value = *entry;
	return value == 0 || (value & ~FILTER_PID_BITS) == proc_start(p);
}

/*
 * Changes *ENTRY from BEFORE to AFTER, and updates the number of living processes. Returns false if
 * another program has changed the entry meanwhile. The number may be too high for a moment, but
 * never too low, because the session ends at 0.
 */
static __always_inline bool proc_change_entry(__u64 *entry, __u64 before, __u64 after)
{
	bool adds = after & ~before & FILTER_PID_COUNTED;
	bool removes = before & ~after & FILTER_PID_COUNTED, done;

	if (adds)
		__sync_fetch_and_add(&filter_n_live, 1);
	done = __sync_val_compare_and_swap(entry, before, after) == before;
	if (done ? removes : adds)
		__sync_fetch_and_add(&filter_n_live, -1);
	return done;
}

/*
 * Adds the process TGID that began at START, unless it has an entry. Returns false if the process
 * has an entry, or if the map is full. If the map is full, counts a lost record.
 */
static __always_inline bool proc_add_entry(__u32 tgid, __u64 start)
{
	__u64 value = start | FILTER_PID_COUNTED;

	__sync_fetch_and_add(&filter_n_live, 1);
	if (bpf_map_update_elem(&filter_pids, &tgid, &value, BPF_NOEXIST) == 0)
		return true;
	__sync_fetch_and_add(&filter_n_live, -1);
	if (!bpf_map_lookup_elem(&filter_pids, &tgid))
		rec_lose(REC_RING_LIFECYCLE, bpf_ktime_get_boot_ns());
	return false;
}

/*
 * Marks the entry of the process TGID, whose last thread exits. If on_iter_follow changes the entry
 * at the same time, on_iter_follow marks the entry.
 */
static __always_inline void proc_end_entry(__u32 tgid, __u64 start)
{
	__u64 *entry = bpf_map_lookup_elem(&filter_pids, &tgid), value;

	if (!entry)
		return;
	value = *entry;
	if (value != (start | FILTER_PID_ENDED))
		proc_change_entry(entry, value, start | FILTER_PID_ENDED);
}

/* Removes ENTRY, whose process has ended, and whose id TGID has another owner. */
static __always_inline void proc_remove_entry(__u32 tgid, __u64 *entry, __u64 value)
{
	if (proc_change_entry(entry, value, FILTER_PID_ENDED))
		bpf_map_delete_elem(&filter_pids, &tgid);
}

/* Selects the child of a selected process. */
static __always_inline void proc_follow(struct task_struct *parent, struct task_struct *child)
{
	__u32 tgid = (__u32)child->tgid;
	__u64 start = proc_start(child), *entry = bpf_map_lookup_elem(&filter_pids, &tgid), value;

	/*
	 * The entry of an earlier process with the child's id is removed, because its end may not
	 * have been reported. The removal comes before the check of the parent, since
	 * on_iter_follow can select both parent and child meanwhile.
	 */
	if (entry) {
		value = *entry;
		if ((value & ~FILTER_PID_BITS) == start)
			return;
		proc_remove_entry(tgid, entry, value);
	}
	if (proc_is_selected(parent))
		proc_add_entry(tgid, start);
}

/* ---- events ---- */

SEC("?tp_btf/sched_process_fork")
int TIMED_PROG(COST_LIFECYCLE, on_sched_process_fork, struct task_struct *parent,
	       struct task_struct *child)
{
	__u64 now_ns = bpf_ktime_get_boot_ns();
	bool selected = filter_selects(parent);
	struct rec_fork *rec;
	__u64 cgroup_id;

	if (filter_kinds & FILTER_PID && child->pid == child->tgid)
		proc_follow(parent, child);
	/* The record would disclose either task to the owner of the other. */
	if (filter_kinds & FILTER_OWN && !(own_is(parent) && own_is(child)))
		return 0;
	if (!selected && !filter_selects(child))
		return 0;
	cgroup_id = cgroup_send(child, now_ns);
	rec = rec_reserve(REC_FORK_RING, sizeof(*rec), now_ns);
	if (!rec)
		return 0;
	rec_fill_head(&rec->head, now_ns, REC_FORK, sizeof(*rec), parent);
	fill_identity(&rec->child, child, cgroup_id);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int TIMED_PROG(COST_LIFECYCLE, on_sched_process_exec, struct task_struct *p, int old_pid,
	       struct linux_binprm *bprm)
{
	__u64 now_ns = bpf_ktime_get_boot_ns();
	unsigned long start, bytes;
	struct rec_exec *rec;
	__u64 cgroup_id;
	__u32 room;

	if (!filter_selects(p))
		return 0;
	cgroup_id = cgroup_send(p, now_ns);
	start = BPF_CORE_READ(p, mm, arg_start);
	bytes = BPF_CORE_READ(p, mm, arg_end) - start;
	/* (nearly all command lines are short) */
	room = bytes <= REC_ARGS_SHORT ? REC_ARGS_SHORT : REC_ARGS_BYTES;
	rec = rec_reserve(REC_EXEC_RING, REC_EXEC_BYTES(room), now_ns);
	if (!rec)
		return 0;
	rec_fill_head(&rec->head, now_ns, REC_EXEC, REC_EXEC_BYTES(room), p);
	fill_identity(&rec->task, p, cgroup_id);
	rec->old_tid = old_pid;
	rec->args_cut = bytes > room;
	rec->pad_0 = 0;
	rec->file[0] = '\0';
	bpf_probe_read_kernel_str(rec->file, sizeof(rec->file), bprm->filename);

	/* This read causes no fault: the kernel has just written these pages. */
	if (bytes > room)
		bytes = room;
	rec->args_bytes = bytes;
	if (bpf_probe_read_user(rec->args, bytes, (const void *)start) < 0) {
		/* (otherwise, the command line would be an empty one that goes on) */
		rec->args_bytes = 0;
		rec->args_cut = 0;
	}
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int TIMED_PROG(COST_LIFECYCLE, on_sched_process_exit, struct task_struct *p)
{
	__u64 now_ns = bpf_ktime_get_boot_ns();
	bool ends = BPF_CORE_READ(p, signal, live.counter) == 0, selected;
	struct rec_exit *rec;
	__u32 tgid = (__u32)p->tgid;
	__u64 cgroup_id;

	if (filter_kinds & FILTER_OWN)
		own_keep_exiting(p);
	selected = filter_selects(p);
	/*
	 * Other threads of the process can still be exiting. on_sched_process_free removes the
	 * entry.
	 */
	if (filter_kinds & FILTER_PID && ends)
		proc_end_entry(tgid, proc_start(p));
	if (!selected)
		return 0;
	cgroup_id = cgroup_send(p, now_ns);
	rec = rec_reserve(REC_EXIT_RING, sizeof(*rec), now_ns);
	if (!rec)
		return 0;
	rec_fill_head(&rec->head, now_ns, REC_EXIT, sizeof(*rec), p);
	fill_identity(&rec->task, p, cgroup_id);
	rec->exit_code = p->exit_code;
	rec->process_ends = ends;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

/*
 * Before Linux 6.16, an exit is reported after the task has lost its memory, so the result of
 * own_is() is kept here.
 */
SEC("?fentry/do_exit")
int BPF_PROG(on_own_exit)
{
	own_keep_exiting(bpf_get_current_task_btf());
	return 0;
}

/*
 * Runs when a task is freed. If the id is in use again, the entry has another start time, and
 * stays.
 */
SEC("?tp_btf/sched_process_free")
int TIMED_PROG(COST_LIFECYCLE, on_sched_process_free, struct task_struct *p)
{
	__u32 tgid = (__u32)p->tgid;
	__u64 *entry;

	if (filter_kinds & FILTER_OWN)
		own_forget(p);
	if (p->pid != p->tgid)
		return 0;
	entry = bpf_map_lookup_elem(&filter_pids, &tgid);
	if (entry && *entry == ((p->start_boottime & ~FILTER_PID_BITS) | FILTER_PID_ENDED))
		bpf_map_delete_elem(&filter_pids, &tgid);
	return 0;
}

SEC("?tp_btf/task_rename")
int TIMED_PROG(COST_LIFECYCLE, on_task_rename, struct task_struct *p, const char *comm)
{
	__u64 now_ns = bpf_ktime_get_boot_ns();
	struct rec_rename *rec;
	__u64 cgroup_id;

	/* With a filter by name, a rename is recorded if either name matches. */
	if (filter_kinds && !(filter_selects_but_comm(p) &&
			      (filter_selects_comm(p->comm) || filter_selects_comm(comm))))
		return 0;
	cgroup_id = cgroup_send(p, now_ns);
	rec = rec_reserve(REC_RENAME_RING, sizeof(*rec), now_ns);
	if (!rec)
		return 0;
	rec_fill_head(&rec->head, now_ns, REC_RENAME, sizeof(*rec), p);
	fill_identity(&rec->task, p, cgroup_id);
	rec->comm[0] = '\0';
	bpf_probe_read_kernel_str(rec->comm, sizeof(rec->comm), comm);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

/*
 * The kernel does not trace the last switch of a CPU to its idle thread, since the CPU is then
 * offline. This eBPF program runs on the CPU that takes another CPU offline.
 */
SEC("?tp_btf/cpuhp_exit")
int TIMED_PROG(COST_LIFECYCLE, on_cpuhp_exit, unsigned int cpu, int state, int step, int result)
{
	__u64 now_ns = bpf_ktime_get_boot_ns();
	struct rec_cpu_gone *rec;

	if (result != 0 || step != (int)bpf_core_enum_value(enum cpuhp_state, CPUHP_TEARDOWN_CPU))
		return 0;
	__sync_fetch_and_add(&cpu_departures[cpu & (CPU_DEPARTURES - 1)], 1);
	if (!report_cpus_gone)
		return 0;
	rec = rec_reserve(REC_CPU_GONE_RING, sizeof(*rec), now_ns);
	if (!rec)
		return 0;
	rec_fill_head(&rec->head, now_ns, REC_CPU_GONE, sizeof(*rec), bpf_get_current_task_btf());
	rec->gone_cpu = cpu;
	rec->pad_0 = 0;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

/* User space runs this program instead of reading 100,000 names from /proc/kallsyms. */
SEC("?syscall")
int on_kernel_text(struct kernel_text *text)
{
	__u64 start = 0, end = 0;

	bpf_kallsyms_lookup_name("_stext", sizeof("_stext"), 0, &start);
	bpf_kallsyms_lookup_name("_etext", sizeof("_etext"), 0, &end);
	text->start = start;
	text->end = end;
	return 0;
}

/* The number of processes that on_iter_follow has selected. */
__u32 filter_followed = 0;

static __always_inline bool proc_descends_from_selected(struct task_struct *p)
{
	for (int i = 0; i < FILTER_ANCESTORS_MAX; i++) {
		p = BPF_CORE_READ(p, real_parent);
		if (BPF_CORE_READ(p, tgid) == 0)
			return false;
		if (proc_is_selected(p))
			return true;
	}
	return false;
}

/*
 * Counts P, whose entry is *ENTRY with VALUE, or adds an entry. on_sched_process_exit may have run
 * before the entry was changed, so the process is checked for its end again.
 */
static __always_inline void proc_count(struct task_struct *p, __u64 *entry, __u64 value,
				       bool is_own)
{
	__u32 tgid = (__u32)p->tgid;
	__u64 start = proc_start(p);

	if (!(entry ? proc_change_entry(entry, value, start | FILTER_PID_COUNTED)
		    : proc_add_entry(tgid, start)))
		return;
	if (!is_own)
		__sync_fetch_and_add(&filter_followed, 1);
	/* (with this, and the atomic operation before it, the read comes after the write) */
	own_read_barrier();
	if (BPF_CORE_READ(p, signal, live.counter) == 0)
		proc_end_entry(tgid, start);
}

/*
 * Counts the selected processes, and selects the existing descendants of selected processes.
 * on_sched_process_fork is already attached, and selects each child whose parent is selected at the
 * fork. Any other child is in the list of tasks before its parent is selected, so the next round of
 * this program finds it.
 *
 * The entry of an earlier process with the id of P is removed here if P was forked before
 * on_sched_process_fork was attached. While P is new (TASK_NEW), on_sched_process_fork will handle
 * the entry, so it is left alone here.
 */
SEC("?iter/task")
int on_iter_follow(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	__u64 *entry, value = 0;
	bool is_new, is_own;
	__u32 tgid;

	if (!p || p->pid != p->tgid || BPF_CORE_READ(p, signal, live.counter) == 0)
		return 0;
	is_new = BPF_CORE_READ(p, __state) & TASK_NEW;
	own_read_barrier();
	tgid = (__u32)p->tgid;
	entry = bpf_map_lookup_elem(&filter_pids, &tgid);
	if (entry)
		value = *entry;
	/* (0: a request for the process that has this id) */
	is_own = entry && (value ? (value & ~FILTER_PID_BITS) == proc_start(p) : !is_new);
	if (is_own ? value & (FILTER_PID_COUNTED | FILTER_PID_ENDED) : entry && is_new)
		return 0;
	if (is_own || proc_descends_from_selected(p)) {
		proc_count(p, entry, value, is_own);
	} else if (entry) {
		proc_remove_entry(tgid, entry, value);
	}
	return 0;
}

SEC("?iter/task")
int on_iter_task(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct rec_task rec = {};

	/*
	 * User space writes all data that it gets to the archive, so it must not get data of other
	 * users' tasks.
	 */
	if (!p || (filter_kinds & FILTER_OWN && !own_is(p)))
		return 0;
	rec.head.ts_ns = bpf_ktime_get_boot_ns();
	rec.head.size = sizeof(rec);
	rec.head.kind = REC_TASK;
	rec.head.cpu = p->thread_info.cpu;
	rec.head.pid = process_id(p);
	rec.head.tid = p->pid;
	fill_identity(&rec.task, p, BPF_CORE_READ(p, cgroups, dfl_cgrp, kn, id));
	if (p->on_cpu)
		rec.task.flags |= IDENTITY_ON_CPU;
	if (filter_selects(p))
		rec.task.flags |= IDENTITY_SELECTED;
	rec.exec_id = BPF_CORE_READ(p, self_exec_id);
	/* If the owner of the task has changed meanwhile, the data is dropped. */
	if (filter_kinds & FILTER_OWN) {
		own_read_barrier();
		if (!own_is(p))
			return 0;
	}
	bpf_seq_write(ctx->meta->seq, &rec, sizeof(rec));
	return 0;
}
