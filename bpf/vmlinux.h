/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The kernel's types, as far as the eBPF programs read them.
 *
 * Only names and types of members matter: CO-RE adapts each access to the running kernel. Members
 * that only some kernels have are checked with bpf_core_field_exists(). Constants are those of the
 * kernel's user-space interface, which do not change.
 */
#pragma once

#define __VMLINUX_H__ /* for <bpf/bpf_tracing.h>: registers have the kernel's names */

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

#define true 1
#define false 0
#define NULL ((void *)0)

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_EXIST = 2,
	BPF_F_USER_STACK = 1 << 8,
	BPF_F_NO_PREALLOC = 1 << 0,
	BPF_F_MMAPABLE = 1 << 10,
	BPF_F_INNER_MAP = 1 << 12,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1 << 0,
	BPF_RB_NO_WAKEUP = 1 << 0,
	BPF_RB_FORCE_WAKEUP = 1 << 1,
	BPF_RB_AVAIL_DATA = 0,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	__u32 val;
} kuid_t;

typedef struct {
	__u32 val;
} kgid_t;

typedef struct {
	int counter;
} atomic_t;

struct user_namespace {
	struct user_namespace *parent;
	int level;
	kuid_t owner;
};

struct kernel_capabilities { /* two halves until 6.2, one number since */
	__u64 bits;
};

struct cred {
	kuid_t uid, euid, suid;
	kgid_t gid, egid, sgid;
	struct kernel_capabilities cap_permitted;
	struct user_namespace *user_ns;
};

struct kernfs_node {
	__u64 id;
	const char *name;
};

struct cgroup_root;

struct cgroup {
	struct cgroup_root *root;
	struct kernfs_node *kn;
	int level;
	struct cgroup *ancestors[]; /* since 6.1 */
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct task_struct;

struct signal_struct {
	atomic_t live;
	int nr_threads;
	unsigned int flags;
	struct task_struct *group_exec_task; /* since 5.17 */
};

#if defined(__TARGET_ARCH_x86)
typedef struct {
	void *vdso;
} mm_context_t;
#endif

struct xol_area {
	unsigned long vaddr;
};

struct hlist_node;

struct hlist_head {
	struct hlist_node *first;
};

struct uprobes_state {
	struct xol_area *xol_area;     /* memory for executing probed instructions: [uprobes] */
	struct hlist_head head_tramps; /* since 6.18: each is an [uprobes-trampoline] */
};

typedef struct {
	unsigned long pgd;
} pgd_t;

struct mm_struct {
	pgd_t *pgd;
#if defined(__TARGET_ARCH_x86)
	mm_context_t context;
#endif
	struct uprobes_state uprobes_state;
	unsigned long arg_start, arg_end;
	unsigned long start_code, end_code;
	unsigned long flags; /* until 6.17 */
};

struct rq;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct cfs_bandwidth {
	__s64 period; /* ns */
	__u64 quota;  /* ns */
};

struct cfs_rq;

struct task_group {
	struct cgroup_subsys_state css;
	struct cfs_rq **cfs_rq; /* of each CPU */
	struct task_group *parent;
	struct cfs_bandwidth cfs_bandwidth; /* with CONFIG_CFS_BANDWIDTH */
};

struct cfs_rq {
	struct rq *rq; /* with CONFIG_FAIR_GROUP_SCHED, as the next one */
	struct task_group *tg;
	bool throttled : 1; /* with CONFIG_CFS_BANDWIDTH, as the next one; an int before 6.18 */
	int throttle_count; /* it, or groups above it */
};

struct sched_entity {
	__u64 sum_exec_runtime;      /* ns */
	unsigned char sched_delayed; /* since 6.12 */
	struct cfs_rq *cfs_rq;       /* with CONFIG_FAIR_GROUP_SCHED */
};

struct thread_info {
	__u32 cpu;
	int preempt_count;   /* present where the count is in the task (arm64 and others) */
	__u32 status;        /* x86 */
	unsigned long flags; /* arm64 */
};

#if defined(__TARGET_ARCH_x86)
struct thread_struct {
	unsigned long fsbase;
};
#endif

/* A return address that a return probe has replaced. */
struct return_instance {
	unsigned long stack; /* the place of the return address */
	unsigned long orig_ret_vaddr;
	struct return_instance *next; /* return address of a caller */
};

struct arch_uprobe {
#if defined(__TARGET_ARCH_x86)
	unsigned char insn[16];
#else
	unsigned char insn[4];
#endif
};

struct uprobe_task {
	struct return_instance *return_instances;
	struct return_instance
		*ri_pool;            /* since 6.13: those that have returned, the last one first */
	unsigned long vaddr;         /* address of the instruction that has a copy */
	unsigned long xol_vaddr;     /* address of that copy */
	struct arch_uprobe *auprobe; /* since 6.12: whose programs run */
};

struct completion;

struct pid {
	unsigned int level; /* of its namespace; 0 = the first one */
};

struct task_struct {
	struct uprobe_task *utask;
	struct thread_info thread_info;
	unsigned int __state;
	int exit_state;
	int on_cpu;
	int on_rq;
	int prio;
	unsigned int flags;
	struct sched_entity se;
	struct pid *thread_pid;
	struct mm_struct *mm;
	unsigned in_execve : 1;
	unsigned in_iowait : 1;
	int exit_code;
	int pid;
	int tgid;
	struct task_struct *real_parent, *group_leader;
	struct completion *vfork_done;
	__u64 start_boottime;
	const struct cred *cred, *real_cred;
	__u64 self_exec_id;
	char comm[16];
	struct signal_struct *signal;
	struct css_set *cgroups;
	bool throttled; /* since 6.18, with CONFIG_CFS_BANDWIDTH */
	unsigned long sas_ss_sp;
#if defined(__TARGET_ARCH_x86)
	struct thread_struct thread;
#endif
};

struct work_struct {
	void (*func)(struct work_struct *);
};

struct irqaction {
	const char *name;
};

enum cpuhp_state {
	CPUHP_TEARDOWN_CPU = 1, /* relocated to this kernel's value by CO-RE */
};

struct linux_binprm {
	const char *filename;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct timespec64 {
	long long tv_sec;
	long tv_nsec;
};

struct super_block {
	__u32 s_dev;
	unsigned long s_magic;
};

/*
 * The time of the last change: i_ctime until 6.5, __i_ctime until 6.10, the last two members since.
 */
struct inode {
	unsigned long i_ino;
	__u32 i_generation;
	struct super_block *i_sb;
	struct timespec64 i_ctime;
	struct timespec64 __i_ctime;
	long long i_ctime_sec;
	__u32 i_ctime_nsec;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

struct bpf_iter__task_vma {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct vm_area_struct *vma;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long bp, ax, bx, cx, dx, si, di, r8, r9, r10, r11, r12, r13, r14, r15, ip, sp;
	unsigned long orig_ax;
	unsigned short cs;
	unsigned long flags;
	__u64 ssx; /* since 6.9; with FRED, the bits above SS tell what has happened */
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	__u64 regs[31];
	__u64 sp, pc;
	__u64 orig_x0;
	int syscallno;
};
#elif defined(__TARGET_ARCH_powerpc)
struct pt_regs {
	unsigned long gpr[32];
	unsigned long nip, link;
};
#endif

struct gendisk {
	int major, first_minor;
	char disk_name[32];
};

struct request_queue {
	struct gendisk *disk;
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags, __data_len;
	__u64 __sector;
};

struct in6_addr {
	__u8 bytes[16];
};

struct sock_common {
	__be32 skc_daddr, skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr; /* with CONFIG_IPV6 */
};

struct sock {
	struct sock_common __sk_common;
};

struct minmax_sample {
	__u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_sock {
	__u32 srtt_us; /* 8 times the time */
	__u32 mdev_us; /* 4 times */
	struct minmax rtt_min;
	__u32 snd_cwnd;
	__u32 total_retrans;
};

struct sk_buff;

/* The kernel's request for free room for a mapping. */
struct vm_unmapped_area_info {
	unsigned long length;
};

#pragma clang attribute pop

/* Structures of user space, whose layout does not change. */
#if defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31];
	__u64 sp, pc, pstate;
};
#elif defined(__TARGET_ARCH_riscv)
struct user_regs_struct {
	unsigned long pc, ra, sp, gp, tp, t0, t1, t2, s0, s1, a0, a1, a2, a3, a4, a5, a6, a7;
};
#elif defined(__TARGET_ARCH_s390)
typedef struct {
	unsigned long args[1];
	struct {
		unsigned long mask, addr;
	} psw;
	unsigned long gprs[16];
} user_pt_regs;
#endif
