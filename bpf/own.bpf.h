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
 * kernel writes credentials before the memory, so they are read before it, and both must still be
 * the same after everything has been read.
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
 * Tasks, by their addresses, that were the user's when they began to exit, with their start times.
 * The start time tells them from other tasks that get the same address later, since not every end
 * is reported (some kernels hide the tasks of a supervisor from tracing).
 */
struct own_exiting {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OWN_EXITING_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u64); /* boot time in ns */
};

extern struct own_exiting own_exiting SEC(".maps");

extern const volatile __u32 own_uid;
extern const volatile __u32 own_n_gids; /* 0 = any gid */
extern const volatile __u32 own_gids[OWN_GIDS_MAX];

/* Since 6.18, the flags are an array of words. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct own_flags___words {
	__u64 __mm_flags[1];
};
struct mm_struct___words {
	struct own_flags___words flags;
};
#pragma clang attribute pop

/* Orders the reads before it before the reads after it. */
static __always_inline void own_read_barrier(void)
{
#if defined(__TARGET_ARCH_x86)
	barrier();
#else
	__u64 word = 0;

	__sync_lock_test_and_set(&word, 1);
#endif
}

static __always_inline bool own_has_ids(const struct cred *cred)
{
	__u32 uid = BPF_CORE_READ(cred, uid.val), gid = BPF_CORE_READ(cred, gid.val);

	if (uid != own_uid || BPF_CORE_READ(cred, euid.val) != uid ||
	    BPF_CORE_READ(cred, suid.val) != uid)
		return false;
	if (own_uid == 0)
		return true;
	if (BPF_CORE_READ(cred, egid.val) != gid || BPF_CORE_READ(cred, sgid.val) != gid)
		return false;
	for (__u32 i = 0; i < OWN_GIDS_MAX && i < own_n_gids; i++)
		if (own_gids[i] == gid)
			return true;
	return own_n_gids == 0;
}

/*
 * Whether CRED has no rights beyond its ids, or only rights that the user has anyway: in a user
 * namespace that the user has made, or in those below it.
 */
static __always_inline bool own_has_rights(const struct cred *cred)
{
	struct user_namespace *ns = BPF_CORE_READ(cred, user_ns);
	__u64 capabilities = ~0ull;
	int level = BPF_CORE_READ(ns, level);

	if (own_uid == 0)
		return true;
	if (level == 0)
		return bpf_core_read(&capabilities, sizeof(capabilities), &cred->cap_permitted) ==
			       0 &&
		       capabilities == 0;
	for (int i = 0; i < OWN_NS_LEVELS && level > 1; i++) {
		ns = BPF_CORE_READ(ns, parent);
		level = BPF_CORE_READ(ns, level);
	}
	return level == 1 && BPF_CORE_READ(ns, owner.val) == own_uid;
}

static __always_inline bool own_is_dumpable(struct mm_struct *mm)
{
	const struct mm_struct___words *words = (const void *)mm;
	__u64 flags = 0;

	if (own_uid == 0)
		return true;
	if (bpf_core_field_exists(words->flags.__mm_flags))
		flags = BPF_CORE_READ(words, flags.__mm_flags[0]);
	else if (bpf_core_field_exists(mm->flags))
		flags = BPF_CORE_READ(mm, flags);
	return (flags & OWN_DUMPABLE_MASK) == OWN_DUMP_USER;
}

static __always_inline bool own_was(struct task_struct *p)
{
	__u64 address = (__u64)p;
	const __u64 *begun_ns = bpf_map_lookup_elem(&own_exiting, &address);

	return begun_ns && *begun_ns == BPF_CORE_READ(p, start_boottime);
}

static __noinline bool own_is(struct task_struct *p)
{
	const struct cred *cred = BPF_CORE_READ(p, real_cred);
	__u32 flags = BPF_CORE_READ(p, flags);
	struct mm_struct *mm;

	if (flags & PF_KTHREAD || !cred || !own_has_ids(cred) || !own_has_rights(cred))
		return false;
	own_read_barrier();
	mm = BPF_CORE_READ(p, mm);
	if (!mm)
		return flags & PF_EXITING && own_was(p);
	/* (exec sets end_code last in the new memory) */
	if (BPF_CORE_READ(mm, end_code) == 0 || !own_is_dumpable(mm))
		return false;
	own_read_barrier();
	return BPF_CORE_READ(p, mm) == mm && BPF_CORE_READ(p, real_cred) == cred;
}

/* Keeps the result for P, the current task, which begins to exit. */
static __always_inline void own_keep_exiting(struct task_struct *p)
{
	__u64 address = (__u64)p, begun_ns = BPF_CORE_READ(p, start_boottime);

	/* (if the map is full, the task is not shown any more) */
	if (BPF_CORE_READ(p, mm) && own_is(p))
		bpf_map_update_elem(&own_exiting, &address, &begun_ns, BPF_ANY);
}

/* Forgets P, which has been freed. */
static __always_inline void own_forget(struct task_struct *p)
{
	__u64 address = (__u64)p;

	bpf_map_delete_elem(&own_exiting, &address);
}
