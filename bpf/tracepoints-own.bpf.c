/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * kymo's own tracepoints: events that the kernel has no tracepoint for, or one with an event for
 * each packet. They have layouts, conditions and records like tracepoints of the kernel.
 *
 *   kymo:page_fault  a page fault is complete: perf's software events of major and minor faults.
 *                    The kernel counts these events where it counts the faults for getrusage().
 *   kymo:tcp_rtt     the round trip time of a connection, from the tracepoint of received packets:
 *                    the first one, a large change, and otherwise ten each second
 */
#define FILTER_IN_NMI
#define CONTEXT_COPIES
#include "bpf/context.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"
#include "bpf/tracepoints.bpf.h"

#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The index of the layout of each tracepoint. User space sets it before it attaches the program. */
__u32 tracepoint_own_numbers[TRACEPOINT_OWN_MAX];

/*
 * Returns the work area of OWN, or NULL if a program of the same kind is using it on this CPU: the
 * event is then lost. (A softirq that receives packets can interrupt a system call that receives
 * other packets.)
 */
static __always_inline struct tracepoint_room *own_take_room(__u32 own)
{
	__u32 at = TRACEPOINT_ROOM_OWN(own);
	struct tracepoint_room *room = bpf_map_lookup_elem(&tracepoint_rooms, &at);

	if (!room)
		return NULL;
	if (__sync_lock_test_and_set(&room->is_used, 1)) {
		rec_lose(REC_RING_TRACEPOINTS, bpf_ktime_get_boot_ns());
		return NULL;
	}
	return room;
}

static __always_inline void own_leave_room(struct tracepoint_room *room)
{
	*(volatile __u64 *)&room->is_used = 0;
}

/* Sends the event in ROOM if the conditions of OWN hold. The data of the event has BYTES. */
static __always_inline void own_send(struct tracepoint_room *room, __u32 own, __u64 bytes,
				     struct task_struct *p, __u32 actor)
{
	__u32 number = tracepoint_own_numbers[own], at = number;
	const struct tracepoint_layout *layout = bpf_map_lookup_elem(&tracepoint_layouts, &at);
	__u64 now_ns = bpf_ktime_get_boot_ns(),
	      base = context_address(room->rec.data) - TRACEPOINT_HEAD_BYTES;

	if (!layout || (layout->n_conditions && !tracepoint_is_wanted(room, base, number)))
		return;
	tracepoint_mask(bytes, 2 * REC_TRACEPOINT_DATA_MAX - 1);
	if (bytes > REC_TRACEPOINT_DATA_MAX)
		return;
	room->rec.bytes = bytes;
	room->rec.tracepoint = number;
	room->rec.actor = actor;
	rec_fill_head(&room->rec.head, now_ns, REC_TRACEPOINT, REC_TRACEPOINT_BYTES(bytes), p);
	rec_output(REC_RING_TRACEPOINTS, &room->rec, REC_TRACEPOINT_BYTES(bytes), now_ns);
}

/* ---- page faults ---- */

/*
 * The context of the program in the kernel's interface: registers, sample_period, addr. FAULT_IP is
 * the index of the instruction pointer.
 */
#if defined(__TARGET_ARCH_x86)
#define FAULT_REGISTERS 21
#define FAULT_IP        16
#elif defined(__TARGET_ARCH_arm64)
#define FAULT_REGISTERS 34
#define FAULT_IP        32
#elif defined(__TARGET_ARCH_riscv)
#define FAULT_REGISTERS 32
#define FAULT_IP        0
#elif defined(__TARGET_ARCH_s390)
#define FAULT_REGISTERS 19
#define FAULT_IP        2
#elif defined(__TARGET_ARCH_powerpc)
#define FAULT_REGISTERS 44
#define FAULT_IP        32
#endif

struct fault_context {
	__u64 registers[FAULT_REGISTERS];
	__u64 sample_period, addr;
};

#define FAULT_TEXT   sizeof(struct tracepoint_fault)
#define FAULT_LEVELS 14 /* directories and mounts of a path that are followed */

const volatile __u32 fault_page_shift = 12; /* set by user space */

/*
 * The number of runs of on_page_fault. The kernel counts the events; events without a run are lost.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} fault_runs SEC(".maps");

/* A mapping, as the fields of its struct vm_area_struct. */
struct fault_mapping {
	__u64 start, end;
	__u64 pgoff; /* of its start in the file */
	__u64 file;  /* 0 = memory without a file; an address of the kernel, as the next ones */
	__u64 inode;
	__u64 mm;
	__u64 exec_id; /* exec_id of the task, since a later program can have the same mm */
	__u64 seq;     /* see fault_seq() */
};

/*
 * The mapping of the last fault of each task, so that most faults need no search. In recent
 * kernels, perf disables interrupts for this program, and then a search for a mapping takes
 * microseconds.
 */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct fault_mapping);
} fault_mappings SEC(".maps");

/*
 * Appends NAME to the text of ROOM, behind the AT bytes that the text has. Returns the new size of
 * the text.
 */
static __always_inline __u32 fault_add_name(struct tracepoint_room *room, __u32 at,
					    const unsigned char *name)
{
	long n;

	if (at >= TRACEPOINT_DYNAMIC_BYTES) {
		room->rec.is_cut = 1;
		return at;
	}
	n = bpf_probe_read_kernel_str(&room->rec.data[FAULT_TEXT + at], TRACEPOINT_DYNAMIC_BYTES,
				      name);
	return n > 0 ? at + (__u32)n - 1 : at;
}

/* Returns the mount that contains MNT. (MNT is the part of a mount that other code may see.) */
static __always_inline struct mount *fault_mount(struct vfsmount *mnt)
{
	return (struct mount *)((char *)mnt - bpf_core_field_offset(struct mount, mnt));
}

/*
 * Writes the path of FILE, from the root of all mounts on. If the path has too many levels, it
 * begins with "...". Returns its size.
 */
static __always_inline __u32 fault_add_path(struct tracepoint_room *room, struct file *file)
{
	struct dentry *chain[16], *d = BPF_CORE_READ(file, f_path.dentry), *parent, *root;
	struct mount *m = fault_mount(BPF_CORE_READ(file, f_path.mnt)), *above;
	__u32 n = 0, at = 0;
	bool is_complete = false;

	for (__u32 i = 0; i < FAULT_LEVELS; i++) {
		root = BPF_CORE_READ(m, mnt.mnt_root);
		parent = BPF_CORE_READ(d, d_parent);
		above = BPF_CORE_READ(m, mnt_parent);
		is_complete = d == root ? above == m : d == parent;
		if (is_complete)
			break;
		if (d == root) {
			d = BPF_CORE_READ(m, mnt_mountpoint);
			m = above;
			continue;
		}
		chain[n & 15] = d;
		n++;
		d = parent;
	}
	if (!is_complete) {
		room->rec.data[FAULT_TEXT] = room->rec.data[FAULT_TEXT + 1] =
			room->rec.data[FAULT_TEXT + 2] = '.';
		at = 3;
	} else if (n == 0) { /* a file without a directory: memfd, shared memory */
		return fault_add_name(room, 0, BPF_CORE_READ(d, d_name.name));
	}
	for (__u32 i = 0; i < FAULT_LEVELS && i < n; i++) {
		if (at < TRACEPOINT_DYNAMIC_BYTES)
			room->rec.data[FAULT_TEXT + at++] = '/';
		at = fault_add_name(room, at, BPF_CORE_READ(chain[(n - 1 - i) & 15], d_name.name));
	}
	return at;
}

/* Returns st_dev, as user space has it, for DEV, the kernel's device number. */
static __always_inline __u32 fault_device(__u32 dev)
{
	__u32 major = dev >> 20, minor = dev & 0xfffff;

	return (minor & 0xff) | major << 8 | (minor & ~0xffu) << 12;
}

static long fault_on_mapping(struct task_struct *p, struct vm_area_struct *vma,
			     struct fault_mapping *to)
{
	struct file *file = vma->vm_file;

	to->start = vma->vm_start;
	to->end = vma->vm_end;
	to->pgoff = vma->vm_pgoff;
	to->file = (__u64)file;
	to->inode = file ? (__u64)file->f_inode : 0;
	return 0;
}

/*
 * mm_lock_seq exists since 6.4, with CONFIG_PER_VMA_LOCK. Until 6.12, it is a number; later, a
 * struct.
 */
struct mm_struct___number {
	int mm_lock_seq;
} __attribute__((preserve_access_index));

struct mm_struct___count {
	struct seqcount {
		unsigned int sequence;
	} mm_lock_seq;
} __attribute__((preserve_access_index));

/*
 * Returns a number that changes with each change of the mappings of MM; 0 = the kernel has no such
 * number. The fault has locked its mapping, so a change of this mapping cannot have begun without a
 * change of the number.
 */
static __always_inline __u64 fault_seq(struct mm_struct *mm)
{
	struct mm_struct___number *number = (struct mm_struct___number *)mm;
	struct mm_struct___count *count = (struct mm_struct___count *)mm;

	if (bpf_core_field_exists(count->mm_lock_seq.sequence))
		return 1ull << 32 | BPF_CORE_READ(count, mm_lock_seq.sequence);
	if (bpf_core_field_exists(number->mm_lock_seq))
		return 1ull << 32 | (__u32)BPF_CORE_READ(number, mm_lock_seq);
	return 0;
}

/*
 * Sets *RET to the mapping of ADDRESS in P, the current task. Returns false if there is no such
 * mapping, or if it must be searched while another thread waits to change the mappings.
 */
static __always_inline bool fault_find_mapping(struct task_struct *p, __u64 address,
					       struct fault_mapping *ret)
{
	struct fault_mapping *last;

	ret->mm = (__u64)p->mm;
	ret->exec_id = p->self_exec_id;
	ret->seq = ret->mm ? fault_seq(p->mm) : 0;
	last = bpf_task_storage_get(&fault_mappings, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (last && ret->seq && last->seq == ret->seq && last->mm == ret->mm &&
	    last->exec_id == ret->exec_id && last->start <= address && address < last->end) {
		*ret = *last;
		return true;
	}
	if (bpf_find_vma(p, address, fault_on_mapping, ret, 0) < 0)
		return false;
	if (last)
		*last = *ret;
	return true;
}

/* Fills the event in ROOM with MAPPING. Returns the size of the event's text. */
static __always_inline __u32 fault_fill_mapping(struct tracepoint_room *room, __u64 address,
						const struct fault_mapping *mapping)
{
	struct tracepoint_fault *to = (struct tracepoint_fault *)room->rec.data;
	struct file *file = (struct file *)mapping->file;
	struct inode *inode = (struct inode *)mapping->inode;
	__u32 n;

	to->mapped = 1;
	if (!file)
		return 0;
	to->inode = BPF_CORE_READ(inode, i_ino);
	to->device = fault_device(BPF_CORE_READ(inode, i_sb, s_dev));
	to->offset = (((address - mapping->start) >> fault_page_shift) + mapping->pgoff)
		     << fault_page_shift;
	/*
	 * (the path takes longer than all the rest, and minor faults are frequent, so they get a
	 * name)
	 */
	n = to->major ? fault_add_path(room, file)
		      : fault_add_name(room, 0, BPF_CORE_READ(file, f_path.dentry, d_name.name));
	if (n > TRACEPOINT_DYNAMIC_BYTES) {
		n = TRACEPOINT_DYNAMIC_BYTES;
		room->rec.is_cut = 1;
	}
	return n;
}

/* The cookie of the attachment tells whether the page fault is minor or major. */
SEC("?perf_event")
int TIMED_WITH(COST_TRACEPOINTS, on_page_fault, struct fault_context *, ctx)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct fault_mapping mapping = {};
	__u64 address = ctx->addr;
	struct tracepoint_room *room;
	struct tracepoint_fault *to;
	__u32 zero = 0, n = 0;
	__u64 *runs = bpf_map_lookup_elem(&fault_runs, &zero);

	if (runs)
		*runs += 1;
	if (!filter_selects(p))
		return 0;
	room = own_take_room(TRACEPOINT_OWN_FAULT);
	if (!room)
		return 0;
	to = (struct tracepoint_fault *)room->rec.data;
	*to = (struct tracepoint_fault){
		.address = address,
		.ip = ctx->registers[FAULT_IP],
		.major = bpf_get_attach_cookie(ctx) == TRACEPOINT_FAULT_MAJOR,
	};
	room->rec.is_cut = 0;
	*(__u64 *)room->rec.dynamic_bytes = 0;
	if (fault_find_mapping(p, address, &mapping))
		n = fault_fill_mapping(room, address, &mapping);
	room->rec.dynamic_bytes[0] = n;
	to->file = n << 16 | (TRACEPOINT_HEAD_BYTES + FAULT_TEXT);
	own_send(room, TRACEPOINT_OWN_FAULT, FAULT_TEXT + TRACEPOINT_ROUND(n), p,
		 TRACEPOINT_BY_TASK);
	own_leave_room(room);
	return 0;
}

/* ---- round trip times ---- */

#define RTT_AF_INET6 10

struct rtt_state {
	__u64 sent_ns; /* 0 = never */
	__u64 srtt;    /* of that time */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct rtt_state);
} rtt_states SEC(".maps");

static __always_inline bool rtt_is_due(struct rtt_state *state, __u64 srtt, __u64 now_ns)
{
	if (state->sent_ns == 0 || now_ns - state->sent_ns >= TRACEPOINT_RTT_INTERVAL_NS)
		return true;
	return srtt >= 2 * state->srtt || 2 * srtt <= state->srtt;
}

static __always_inline void rtt_fill(struct tracepoint_rtt *to, struct sock *sk,
				     struct tcp_sock *tp)
{
	*to = (struct tracepoint_rtt){
		.sport = sk->__sk_common.skc_num,
		.dport = bpf_ntohs(sk->__sk_common.skc_dport),
		.family = sk->__sk_common.skc_family,
		.srtt = tp->srtt_us >> 3,
		.rttvar = tp->mdev_us >> 2,
		.min_rtt = tp->rtt_min.s[0].v,
		.snd_cwnd = tp->snd_cwnd,
		.total_retrans = tp->total_retrans,
	};
	*(__u32 *)to->saddr = sk->__sk_common.skc_rcv_saddr;
	*(__u32 *)to->daddr = sk->__sk_common.skc_daddr;
	/* (IPv4 addresses are mapped to IPv6 here, as in the kernel's tracepoints) */
	if (to->family == RTT_AF_INET6 && bpf_core_field_exists(sk->__sk_common.skc_v6_daddr)) {
		bpf_core_read(to->saddr_v6, 16, &sk->__sk_common.skc_v6_rcv_saddr);
		bpf_core_read(to->daddr_v6, 16, &sk->__sk_common.skc_v6_daddr);
		return;
	}
	to->saddr_v6[10] = to->saddr_v6[11] = to->daddr_v6[10] = to->daddr_v6[11] = 0xff;
	__builtin_memcpy(to->saddr_v6 + 12, to->saddr, 4);
	__builtin_memcpy(to->daddr_v6 + 12, to->daddr, 4);
}

/* The socket has the times from before this packet. */
SEC("?tp_btf/tcp_probe")
int TIMED_PROG(COST_TRACEPOINTS, on_tcp_rtt, struct sock *sk, struct sk_buff *skb)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	__u64 now_ns = bpf_ktime_get_boot_ns();
	__u32 actor = tracepoint_actor(p);
	struct tracepoint_room *room;
	struct rtt_state *state;

	if (!tp || tp->srtt_us == 0 || (filter_kinds && actor != TRACEPOINT_BY_TASK) ||
	    !filter_selects(p))
		return 0;
	state = bpf_sk_storage_get(&rtt_states, sk, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!state) { /* (without memory) */
		rec_lose(REC_RING_TRACEPOINTS, now_ns);
		return 0;
	}
	if (!rtt_is_due(state, tp->srtt_us, now_ns))
		return 0;
	room = own_take_room(TRACEPOINT_OWN_RTT);
	if (!room)
		return 0;
	state->sent_ns = now_ns;
	state->srtt = tp->srtt_us;
	rtt_fill((struct tracepoint_rtt *)room->rec.data, sk, tp);
	room->rec.is_cut = 0;
	*(__u64 *)room->rec.dynamic_bytes = 0;
	own_send(room, TRACEPOINT_OWN_RTT, sizeof(struct tracepoint_rtt), p, actor);
	own_leave_room(room);
	return 0;
}
