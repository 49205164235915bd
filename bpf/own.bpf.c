/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#include "bpf/own.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Since Linux 6.18, the flags of an mm_struct are an array of words. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct own_flags___words {
	__u64 __mm_flags[1];
};
struct mm_struct___words {
	struct own_flags___words flags;
};
#pragma clang attribute pop

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
 * A search for the ancestor of a user namespace that is a child of the initial namespace. That
 * ancestor has level 1.
 */
struct own_search {
	struct user_namespace *ns;
	int level;
};

static long own_to_parent(__u32 i, struct own_search *s)
{
	struct user_namespace *ns = s->ns;

	if (s->level <= 1)
		return 1;
	ns = BPF_CORE_READ(ns, parent);
	s->level = BPF_CORE_READ(ns, level);
	s->ns = ns;
	return 0;
}

/*
 * Returns true if CRED gives no rights beyond its ids, or only rights that the user has anyway:
 * those in a user namespace that the user has made, or in namespaces below it.
 */
static __always_inline bool own_has_rights(const struct cred *cred)
{
	struct user_namespace *ns = BPF_CORE_READ(cred, user_ns);
	struct own_search s = { .ns = ns, .level = BPF_CORE_READ(ns, level) };
	__u64 capabilities = ~0ull;

	if (own_uid == 0)
		return true;
	if (s.level == 0)
		return bpf_core_read(&capabilities, sizeof(capabilities), &cred->cap_permitted) ==
			       0 &&
		       capabilities == 0;
	bpf_loop(OWN_NS_LEVELS, own_to_parent, &s, 0);
	ns = s.ns;
	return s.level == 1 && BPF_CORE_READ(ns, owner.val) == own_uid;
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

__noinline bool own_is_at(__u64 task)
{
	struct task_struct *p = (struct task_struct *)task;
	const struct cred *cred;
	struct mm_struct *mm;
	__u32 flags;

	/*
	 * Linux 6.1 verifies this function even if no program calls it and its map does not exist.
	 * With this check, the verifier skips the code that uses the map.
	 */
	if (!(filter_kinds & FILTER_OWN))
		return false;
	cred = BPF_CORE_READ(p, real_cred);
	flags = BPF_CORE_READ(p, flags);
	if (flags & PF_KTHREAD || !cred || !own_has_ids(cred) || !own_has_rights(cred))
		return false;
	own_read_barrier();
	mm = BPF_CORE_READ(p, mm);
	if (!mm)
		return flags & PF_EXITING && own_was(p);
	/*
	 * exec sets end_code last in the new memory. While end_code is 0, the exec is not complete.
	 */
	if (BPF_CORE_READ(mm, end_code) == 0 || !own_is_dumpable(mm))
		return false;
	own_read_barrier();
	return BPF_CORE_READ(p, mm) == mm && BPF_CORE_READ(p, real_cred) == cred;
}
