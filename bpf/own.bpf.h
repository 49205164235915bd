/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Restricts a session to one user's own processes: those that this user may attach a debugger to,
 * without regard to other user namespaces and security modules. The rules are those of
 * kernel/ptrace.c, or stricter:
 *  - real, effective and saved ids are the user's: the uid, and one of the user's gids;
 *  - no capabilities, unless they count only in a user namespace that the user has made;
 *  - dumpable. The kernel clears this flag before it changes credentials, and a process can clear
 *    it itself;
 *  - not in the middle of exec, when the new program's memory and name exist beside the old
 *    program's rights.
 *
 * For root, only the ids count, since root may attach to all processes.
 *
 * The check is repeated for each event. The task can change at the same time on another CPU: the
 * kernel writes the credentials before the memory. So the check reads the credentials first, and
 * both must still be the same at its end.
 *
 * An exiting task has no memory to check any more. The result at the begin of its exit is kept
 * until the task is freed.
 */
#pragma once

#include "bpf/context.bpf.h"
#include "bpf/record.h"

#define PF_EXITING 0x00000004

#define OWN_DUMPABLE_MASK 3
#define OWN_DUMP_USER     1  /* SUID_DUMP_USER */
#define OWN_NS_LEVELS     33 /* the kernel's limit of nested user namespaces */
#define OWN_EXITING_MAX   32768

/*
 * Tasks that belonged to the user when they began to exit: address -> start time. The start time
 * distinguishes such a task from later tasks at the same address, since not every end is reported
 * (some kernels hide the tasks of a supervisor from tracing).
 */
struct own_exiting {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OWN_EXITING_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u64); /* boot time in ns */
};

extern struct own_exiting own_exiting SEC(".maps");

extern const volatile __u32 filter_kinds;
extern const volatile __u32 own_uid;
extern const volatile __u32 own_n_gids; /* 0 = any gid */
extern const volatile __u32 own_gids[OWN_GIDS_MAX];

/* Keeps the CPU and the compiler from doing reads after this call before reads that precede it. */
static __always_inline void own_read_barrier(void)
{
#if defined(__TARGET_ARCH_x86)
	barrier();
#else
	__u64 word = 0;

	__sync_lock_test_and_set(&word, 1);
#endif
}

/*
 * Returns true if the task at address TASK belongs to the user. (The verifier checks this function
 * once for each program.)
 */
bool own_is_at(__u64 task);

/* Returns true if P belongs to the user. */
static __always_inline bool own_is(struct task_struct *p)
{
	return own_is_at(context_address(p));
}

/* Keeps the result of own_is() for P, the current task, at the start of its exit. */
static __always_inline void own_keep_exiting(struct task_struct *p)
{
	__u64 address = (__u64)p, begun_ns = BPF_CORE_READ(p, start_boottime);

	/* If the map is full, the task is not shown any more. */
	if (BPF_CORE_READ(p, mm) && own_is(p))
		bpf_map_update_elem(&own_exiting, &address, &begun_ns, BPF_ANY);
}

/* Forgets P, which has been freed. */
static __always_inline void own_forget(struct task_struct *p)
{
	__u64 address = (__u64)p;

	bpf_map_delete_elem(&own_exiting, &address);
}
