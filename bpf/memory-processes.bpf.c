/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The lifecycle of watched processes: forks, execs, and ends. User space is notified of these
 * events, since user space sets and removes the probes.
 */
#include "bpf/context.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/memory.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 memory_reach = 0; /* 1: references to blocks are searched at the end */

__u32 memory_instances = 0; /* number of the last instance; user space increments it, too */
/* Number of struct memory_happened that did not fit into the ring. */
__u64 memory_unreported_events = 0;
__u64 memory_unreported_ends = 0;   /* number of ended programs that did not fit into
				     * memory_ended */
__u64 memory_unreported_shares = 0; /* number of programs that did not fit into memory_shared */

/* Ended processes, by instance. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MEMORY_PROCESSES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct memory_process);
} memory_ended SEC(".maps");

/*
 * By tgid: the tid of the task that owns the probes of the process, if that is not the main thread.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MEMORY_PROCESSES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
} memory_owners SEC(".maps");

struct memory_threads_ended {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MEMORY_ENDED_THREADS_MAX);
	__type(key, struct memory_ended_thread);
	__type(value, struct memory_thread_end);
};

/*
 * Threads of watched processes that have ended while their process went on. An ended thread without
 * an entry here counts as running.
 */
struct memory_threads_ended memory_ended_threads SEC(".maps");

/*
 * Threads that have ended because their process exited. These threads have their own map: each exit
 * of a process adds many threads, which would displace the entries of memory_ended_threads.
 */
struct memory_threads_ended memory_killed_threads SEC(".maps");

/*
 * By tgid: programs whose memory another process uses, or has used. The entries stay, because a
 * watch of the program can begin later, or again after a pause.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MEMORY_PROCESSES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct memory_program);
} memory_shared SEC(".maps");

/* struct memory_happened, for user space's worker. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
} memory_events SEC(".maps");

static __always_inline void memory_emit_watch(__u32 what, struct task_struct *task, __u64 now_ns)
{
	struct memory_happened happened = {
		.ts_ns = now_ns,
		.start_ns = BPF_CORE_READ(task, group_leader, start_boottime),
		.what = what,
		.pid = (__u32)task->tgid,
	};

	if (bpf_ringbuf_output(&memory_events, &happened, sizeof(happened), BPF_RB_FORCE_WAKEUP) <
	    0)
		memory_count(&memory_unreported_events);
}

/*
 * The maximum number of attempts to store the time of a process's end. An attempt fails if another
 * thread stores its time at the same moment.
 */
#define MEMORY_ENDING_TRIES 8

/*
 * Called when the program of PROCESS has ended. The data of PROCESS remains in memory_ended until
 * user space has read it.
 */
static __always_inline void memory_end(struct memory_process *process, __u32 tgid, __u32 flags,
				       __u64 now_ns)
{
	struct memory_process ended = *process;

	ended.ended_ns = now_ns;
	ended.flags |= flags;
	/* Without an entry, the blocks of the program cannot be reported. */
	if (bpf_map_update_elem(&memory_ended, &ended.instance, &ended, BPF_ANY) < 0) {
		memory_count(&memory_unreported_ends);
		rec_lose(REC_RING_MEMORY, now_ns);
	}
	bpf_map_delete_elem(&memory_processes, &tgid);
}

/*
 * Returns the key of thread P. The thread pointer in the key is 0 if it is unknown or not needed.
 */
static __always_inline struct memory_ended_thread memory_thread_key(struct task_struct *p)
{
	return (struct memory_ended_thread){
		.pid = (__u32)p->tgid,
		.tls = memory_reach ? thread_pointer(p) : 0,
	};
}

/* Notes that thread P begins. */
static __always_inline void memory_note_begin(struct task_struct *p)
{
	struct memory_ended_thread thread = memory_thread_key(p);

	if (thread.tls)
		bpf_map_delete_elem(&memory_ended_threads, &thread);
}

/* Notes that thread P has ended, by itself, or (KILLED) because its process exited. */
static __always_inline void memory_note_end(struct task_struct *p, bool killed)
{
	struct memory_ended_thread thread = memory_thread_key(p);
	struct memory_thread_end end = {
		.altstack = p->sas_ss_sp,
		.start_ns = BPF_CORE_READ(p, group_leader, start_boottime),
		.exec_id = BPF_CORE_READ(p, self_exec_id),
	};

	if (!thread.tls)
		return;
	if (killed)
		bpf_map_update_elem(&memory_killed_threads, &thread, &end, BPF_ANY);
	else
		bpf_map_update_elem(&memory_ended_threads, &thread, &end, BPF_ANY);
}

/*
 * Notes that PROCESS was ending at NOW_NS. Several threads can call this at once: the latest time
 * remains, and only the first call returns true.
 */
static __always_inline bool memory_note_ending(struct memory_process *process, __u64 now_ns)
{
	__u64 before;

	for (int i = 0; i < MEMORY_ENDING_TRIES; i++) {
		before = *(volatile __u64 *)&process->ended_ns;
		if (before >= now_ns)
			return false;
		if (__sync_val_compare_and_swap(&process->ended_ns, before, now_ns) == before)
			return before == 0;
	}
	return false;
}

/*
 * Called when a process or thread with the id PID begins. If a process with this id is still in the
 * table, and was ending, this process has ended.
 */
static __always_inline void memory_end_previous(__u32 pid)
{
	struct memory_process *previous = bpf_map_lookup_elem(&memory_processes, &pid);

	if (previous && previous->ended_ns)
		memory_end(previous, pid, 0, previous->ended_ns);
}

SEC("?tp_btf/sched_process_fork")
int TIMED_PROG(COST_LIFECYCLE, on_memory_fork, struct task_struct *parent,
	       struct task_struct *child)
{
	memory_end_previous((__u32)child->pid);
	if (child->pid != child->tgid)
		memory_note_begin(child);
	/*
	 * A child that shares its parent's memory usually calls exec next, so it gets no event
	 * here. on_memory_share notes children that use this memory.
	 */
	if (child->pid == child->tgid && BPF_CORE_READ(child, mm) != BPF_CORE_READ(parent, mm) &&
	    filter_selects(child))
		memory_emit_watch(MEMORY_HAPPENED_FORK, child, bpf_ktime_get_boot_ns());
	return 0;
}

#define MEMORY_NR_VFORK 58 /* on x86-64; newer machines have only clone() */

/*
 * Notes that PARENT has called vfork(): the child can allocate and free blocks in PARENT's memory.
 * Children of posix_spawn() and system(), which use clone(), do not do this, so they are not noted.
 */
static __always_inline void memory_note_vfork(struct task_struct *parent)
{
#if defined(__TARGET_ARCH_x86)
	const struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(parent);
	__u32 tgid = (__u32)parent->tgid;
	struct memory_process *process = bpf_map_lookup_elem(&memory_processes, &tgid);

	if (process && regs->orig_ax == MEMORY_NR_VFORK)
		__sync_fetch_and_or(&process->flags, MEMORY_PROCESS_VFORKED);
#endif
}

/*
 * Runs in the parent. A child that shares its parent's memory while the parent continues (not by
 * vfork) allocates and frees blocks in this memory. These calls have the child's process id, so
 * they are not recorded, and the parent is marked. (At the fork, the kernel has not set vfork_done
 * yet.) Kernel threads have no memory.
 */
SEC("?tp_btf/sched_wakeup_new")
int TIMED_PROG(COST_LIFECYCLE, on_memory_share, struct task_struct *child)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	__u32 tgid = (__u32)parent->tgid;
	struct memory_program program = {};
	__u64 mm = (__u64)BPF_CORE_READ(child, mm);
	struct memory_process *process;

	if (child->pid != child->tgid || !mm || mm != (__u64)BPF_CORE_READ(parent, mm))
		return 0;
	if (child->vfork_done) {
		memory_note_vfork(parent);
		return 0;
	}
	program.start_ns = BPF_CORE_READ(parent, group_leader, start_boottime);
	program.exec_id = BPF_CORE_READ(parent, self_exec_id);
	/*
	 * (this entry is made first: a watch that begins meanwhile puts the process into
	 * memory_processes, and then looks for this entry)
	 */
	if (bpf_map_update_elem(&memory_shared, &tgid, &program, BPF_ANY) < 0)
		memory_count(&memory_unreported_shares);
	process = bpf_map_lookup_elem(&memory_processes, &tgid);
	if (process)
		__sync_fetch_and_or(&process->flags, MEMORY_PROCESS_SHARED);
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int TIMED_PROG(COST_LIFECYCLE, on_memory_exec, struct task_struct *p, int old_pid,
	       struct linux_binprm *bprm)
{
	__u32 tgid = (__u32)p->tgid;
	struct memory_process *process = bpf_map_lookup_elem(&memory_processes, &tgid);
	__u64 now_ns = bpf_ktime_get_boot_ns();
	bool selected = filter_selects(p), by_thread = old_pid != p->pid;
	struct memory_process next = {
		.pid = tgid,
		.flags = MEMORY_PROCESS_IMAGE,
		.since_ns = now_ns + 1, /* data of the old program has earlier times */
	};

	bpf_map_delete_elem(&memory_shared, &tgid);
	if (process) {
		memory_end(process, tgid, MEMORY_PROCESS_EXECED, now_ns);
		/*
		 * The probes remain on files that both the old and the new program have mapped, so
		 * the new program needs an instance at once.
		 */
		if (selected && !by_thread) {
			next.instance = __sync_add_and_fetch(&memory_instances, 1);
			bpf_map_update_elem(&memory_processes, &tgid, &next, BPF_ANY);
		}
	}
	if (process || selected)
		memory_emit_watch(by_thread ? MEMORY_HAPPENED_THREAD_EXEC : MEMORY_HAPPENED_EXEC, p,
				  now_ns);
	return 0;
}

/*
 * P has ended. Other threads of its process continue, or have been killed and not yet ended. If
 * other threads continue and P owned the probes, sends an event.
 */
static __always_inline void memory_thread_ended(struct task_struct *p, __u32 tgid)
{
	struct signal_struct *signal = p->signal;
	bool killed = signal->flags & SIGNAL_GROUP_EXIT;
	__u32 *owner;

	if ((bpf_core_field_exists(signal->group_exec_task) && signal->group_exec_task) ||
	    !bpf_map_lookup_elem(&memory_processes, &tgid))
		return;
	memory_note_end(p, killed);
	if (killed)
		return;
	owner = bpf_map_lookup_elem(&memory_owners, &tgid);
	if ((__u32)p->pid == (owner ? *owner : tgid))
		memory_emit_watch(MEMORY_HAPPENED_OWNER_EXIT, p, bpf_ktime_get_boot_ns());
}

SEC("?tp_btf/sched_process_exit")
int TIMED_PROG(COST_LIFECYCLE, on_memory_exit, struct task_struct *p)
{
	__u32 tgid = (__u32)p->tgid;
	struct memory_process *process;
	bool is_first;
	__u64 now_ns;

	if (BPF_CORE_READ(p, signal, live.counter) != 0) {
		memory_thread_ended(p, tgid);
		return 0;
	}
	bpf_map_delete_elem(&memory_shared, &tgid);
	process = bpf_map_lookup_elem(&memory_processes, &tgid);
	if (!process)
		return 0;
	now_ns = bpf_ktime_get_boot_ns();
	/*
	 * A thread is subtracted from the count of living threads some time before this eBPF
	 * program runs for the thread. So when that count is 0, this eBPF program may run for
	 * further threads, and records their ends, too. If P is the only thread that is left, P is
	 * the last one. Otherwise, user space ends the process when all its threads have ended.
	 */
	if (BPF_CORE_READ(p, signal, nr_threads) > 1) {
		memory_note_end(p, true);
		is_first = memory_note_ending(process, now_ns);
	} else {
		is_first = !process->ended_ns;
		memory_end(process, tgid, 0, now_ns);
	}
	if (is_first)
		memory_emit_watch(MEMORY_HAPPENED_EXIT, p, now_ns);
	return 0;
}
