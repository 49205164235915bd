/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Whose processes a session sees that is for one user's own only: those that this user might attach
 * a debugger to, whatever user namespace or security module would say beyond. As kernel/ptrace.c
 * has it, on the safe side:
 *
 *  - real, effective and saved ids are the user's: his uid, and a gid that he has;
 *  - no capabilities, unless they count only in a user namespace that he has made;
 *  - dumpable, which the kernel takes away before it changes credentials, and a process can give
 *    up;
 *  - not in the middle of exec. There the new program's memory and name stand beside the rights of
 *    the old one.
 *
 * Of root only the ids count: he may attach to all.
 *
 * It is asked again for each event. The task may be changing on another CPU: credentials are read
 * before the memory, as they are written behind it, and both have to be the same after all has been
 * read.
 *
 * A task on its way out has no memory any more by which it could be judged; what was the case when
 * it began to exit is kept until nothing is left of it.
 */
#pragma once

#include "bpf/context.bpf.h"
#include "bpf/record.h"

#define PF_EXITING 0x00000004

#define OWN_DUMPABLE_MASK 3
#define OWN_DUMP_USER     1  /* SUID_DUMP_USER */
#define OWN_NS_LEVELS     33 /* of user namespaces: the kernel's limit */
#define OWN_EXITING_MAX   32768

/*
 * Tasks, by their address, that were the user's when they began to exit, and when each had begun:
 * another task may get the address, and not each end is reported (there are kernels that hide from
 * tracing what a supervisor does).
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
extern const volatile __u32 own_n_gids; /* 0 = any one */
extern const volatile __u32 own_gids[OWN_GIDS_MAX];

/* Since 6.18 the flags are an array of words. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct own_flags___words {
	__u64 __mm_flags[1];
};
struct mm_struct___words {
	struct own_flags___words flags;
};
#pragma clang attribute pop

/* What is read behind is read later. */
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
 * Whether the rights that CRED has beyond its ids are none, or only those that the user has
 * himself: in a user namespace that he has made, or in those below it.
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
	/* (what exec puts in its place says last where its code ends) */
	if (BPF_CORE_READ(mm, end_code) == 0 || !own_is_dumpable(mm))
		return false;
	own_read_barrier();
	return BPF_CORE_READ(p, mm) == mm && BPF_CORE_READ(p, real_cred) == cred;
}

/* P, the current task, begins to exit. */
static __always_inline void own_keep_exiting(struct task_struct *p)
{
	__u64 address = (__u64)p, begun_ns = BPF_CORE_READ(p, start_boottime);

	/* (without room it is not shown any more) */
	if (BPF_CORE_READ(p, mm) && own_is(p))
		bpf_map_update_elem(&own_exiting, &address, &begun_ns, BPF_ANY);
}

/* Nothing is left of P. */
static __always_inline void own_forget(struct task_struct *p)
{
	__u64 address = (__u64)p;

	bpf_map_delete_elem(&own_exiting, &address);
}
