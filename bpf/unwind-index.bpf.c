/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Which code is mapped where, for walks by tables (bpf/unwind.bpf.c).
 *
 * It is kept here and not in user space, so that a process is walked from its first instruction if its
 * files are known: it is listed when a session begins, a child of fork has what its parent has, exec
 * begins anew, and what is mapped comes in where the kernel maps it, in the thread that asked for it.
 * What is unmapped stays: nothing runs there, and what is mapped there next takes its place.
 *
 * A file is known by its inode. User space is asked for its table when it is first seen in a process
 * that the session wants to see, or else when a walk first comes through it.
 */
#include "bpf/filter.bpf.h"
#include "bpf/unwind.bpf.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define VM_EXEC 0x00000004

/* What entries begin as: zeroes. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwind_process);
} unwind_blank SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, UNWIND_FILES_MAX);
	__type(key, struct unwind_file_key);
	__type(value, struct unwind_file_name);
} unwind_file_names SEC(".maps");

/* Names that no file has: user space puts them in. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, UNWIND_FILES_MAX);
	__type(value, struct unwind_file_name);
} unwind_free_names SEC(".maps");

/* Processes, mappings and files that there was no room for. */
__u64 unwind_no_room = 0;

/* ---- files ---- */

static __always_inline void unwind_fill_key(struct unwind_file_key *key, struct inode *inode)
{
	key->inode = BPF_CORE_READ(inode, i_ino);
	key->device = BPF_CORE_READ(inode, i_sb, s_dev);
	key->generation = BPF_CORE_READ(inode, i_generation);
	key->pad_0 = 0;
	if (bpf_core_field_exists(inode->i_ctime_sec)) {
		key->changed_s = BPF_CORE_READ(inode, i_ctime_sec);
		key->changed_ns = BPF_CORE_READ(inode, i_ctime_nsec);
	} else if (bpf_core_field_exists(inode->__i_ctime)) {
		key->changed_s = BPF_CORE_READ(inode, __i_ctime.tv_sec);
		key->changed_ns = BPF_CORE_READ(inode, __i_ctime.tv_nsec);
	} else {
		key->changed_s = BPF_CORE_READ(inode, i_ctime.tv_sec);
		key->changed_ns = BPF_CORE_READ(inode, i_ctime.tv_nsec);
	}
}

/* The name of the file of INODE; false if it has none, and gets none. */
static __always_inline bool unwind_name_file(struct inode *inode, struct unwind_file_name *ret)
{
	struct unwind_file_name *known;
	struct unwind_file_key key;

	unwind_fill_key(&key, inode);
	known = bpf_map_lookup_elem(&unwind_file_names, &key);
	if (known) {
		*ret = *known;
		return true;
	}
	if (bpf_map_pop_elem(&unwind_free_names, ret) < 0) {
		__sync_fetch_and_add(&unwind_no_room, 1);
		return false;
	}
	if (bpf_map_update_elem(&unwind_file_names, &key, ret, BPF_NOEXIST) == 0)
		return true;
	/* Somebody else was quicker, or there is no memory. */
	bpf_map_push_elem(&unwind_free_names, ret, 0);
	known = bpf_map_lookup_elem(&unwind_file_names, &key);
	if (known)
		*ret = *known;
	return known != NULL;
}

/* ---- the mappings of a process ---- */

/* One that comes in. */
struct unwind_insertion {
	struct unwind_process *process;
	__u64 first, end; /* pages */
	__u32 kept;       /* of those that there were */
	__u32 file_page;
	struct unwind_file_name file;
};

/* Number I is kept, cut or dropped; what is in no file and overlaps or touches the new one, which is in none either, becomes
 * part of it. */
static long unwind_make_room(__u32 i, struct unwind_insertion *to)
{
	struct unwind_process *process = to->process;
	struct unwind_mapping m;
	__u64 first, end;
	__u32 at = to->kept;

	if (i >= process->n || i >= UNWIND_MAPPINGS_MAX || at >= UNWIND_MAPPINGS_MAX)
		return 1;
	m = process->mappings[i];
	first = UNWIND_WHERE_FIRST(m.where);
	end = first + UNWIND_WHERE_N(m.where);
	if (m.file == UNWIND_FILE_NONE && to->file.number == UNWIND_FILE_NONE && first <= to->end &&
	    end >= to->first) {
		to->first = first < to->first ? first : to->first;
		to->end = end > to->end ? end : to->end;
		return 0;
	}
	if (first < to->end && end > to->first) {
		if (first >= to->first)
			return 0;
		m.where = UNWIND_WHERE(first, to->first - first);
	}
	process->mappings[at] = m;
	to->kept = at + 1;
	return 0;
}

/* Moves up the I-th from the end, or puts the new one in behind it. */
static long unwind_put_in(__u32 i, struct unwind_insertion *to)
{
	struct unwind_process *process = to->process;
	__u32 at = to->kept - i;

	if (at >= UNWIND_MAPPINGS_MAX)
		return 1;
	if (at > 0 && UNWIND_WHERE_FIRST(process->mappings[at - 1].where) > to->first) {
		process->mappings[at] = process->mappings[at - 1];
		return 0;
	}
	process->mappings[at].where = UNWIND_WHERE(to->first, to->end - to->first);
	process->mappings[at].file_page = to->file_page;
	process->mappings[at].file = to->file.number;
	process->mappings[at].generation = to->file.generation;
	return 1;
}

static __always_inline void unwind_insert(struct unwind_insertion *new)
{
	struct unwind_process *process = new->process;

	new->kept = 0;
	__sync_fetch_and_add(&process->sequence, 1);
	bpf_loop(UNWIND_MAPPINGS_MAX, unwind_make_room, new, 0);
	if (new->kept < UNWIND_MAPPINGS_MAX) {
		bpf_loop(UNWIND_MAPPINGS_MAX, unwind_put_in, new, 0);
		process->n = new->kept + 1;
	} else {
		process->n = new->kept;
		__sync_fetch_and_add(&unwind_no_room, 1);
	}
	__sync_fetch_and_add(&process->sequence, 1);
}

/* The entry of process TGID, with nothing in it and for address space MM; NULL if there is no room. */
static __always_inline struct unwind_process *unwind_begin(__u32 tgid, __u64 mm)
{
	struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &tgid), *blank;
	__u32 zero = 0;

	if (!process) {
		blank = bpf_map_lookup_elem(&unwind_blank, &zero);
		if (!blank || bpf_map_update_elem(&unwind_processes, &tgid, blank, BPF_ANY) < 0) {
			__sync_fetch_and_add(&unwind_no_room, 1);
			return NULL;
		}
		process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	}
	if (process && process->mm != mm) {
		process->mm = 0;
		process->n = 0;
		process->mm = mm;
	}
	return process;
}

/* Who the session has nothing to do with is not kept; by other filters a process may be selected later. */
static __always_inline bool unwind_wants(struct task_struct *p)
{
	return !(filter_kinds & (FILTER_PID | FILTER_OWN)) || filter_selects(p);
}

/* VMA of P is mapped; FRESH says that P may have a new address space. */
static __always_inline void unwind_on_vma(struct task_struct *p, struct vm_area_struct *vma,
					  bool fresh)
{
	struct unwind_insertion new = { .file = { .number = UNWIND_FILE_NONE } };
	struct file *file = vma->vm_file;
	struct unwind_file *f;
	__u32 tgid = (__u32)p->tgid, number;
	__u64 mm = (__u64)vma->vm_mm;

	if (!(vma->vm_flags & VM_EXEC) || !unwind_wants(p))
		return;
	new.process = fresh ? unwind_begin(tgid, mm) : bpf_map_lookup_elem(&unwind_processes, &tgid);
	if (!new.process || new.process->mm != mm)
		return;
	if (file && !unwind_name_file(file->f_inode, &new.file))
		new.file.number = UNWIND_FILE_NONE;
	new.first = vma->vm_start >> UNWIND_PAGE_SHIFT;
	new.end = vma->vm_end >> UNWIND_PAGE_SHIFT;
	new.file_page = file ? (__u32)vma->vm_pgoff : 0;
	unwind_insert(&new);
	number = new.file.number;
	f = bpf_map_lookup_elem(&unwind_files, &number);
	if (f && filter_selects(p))
		unwind_ask(f, &new.file, tgid, vma->vm_start, vma->vm_end);
}

/* Whenever code or data is mapped, or made code, in the process that does it. */
SEC("?fentry/perf_event_mmap")
int BPF_PROG(on_unwind_map, struct vm_area_struct *vma)
{
	struct task_struct *p = bpf_get_current_task_btf();

	if (vma->vm_mm == p->mm)
		unwind_on_vma(p, vma, BPF_CORE_READ_BITFIELD_PROBED(p, in_execve));
	return 0;
}

SEC("?iter/task_vma")
int on_iter_unwind_vma(struct bpf_iter__task_vma *ctx)
{
	if (ctx->task && ctx->vma)
		unwind_on_vma(ctx->task, ctx->vma, true);
	return 0;
}

/* Behind the program by which the filter follows. */
SEC("?tp_btf/sched_process_fork")
int BPF_PROG(on_unwind_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 parent_tgid = (__u32)parent->tgid, tgid = (__u32)child->tgid, sequence;
	struct unwind_process *from, *to;

	if (child->pid != child->tgid)
		return 0;
	from = bpf_map_lookup_elem(&unwind_processes, &parent_tgid);
	if (!from || from->mm != (__u64)parent->mm || !unwind_wants(child)) {
		bpf_map_delete_elem(&unwind_processes, &tgid);
		return 0;
	}
	sequence = *(volatile __u32 *)&from->sequence;
	if (bpf_map_update_elem(&unwind_processes, &tgid, from, BPF_ANY) < 0) {
		__sync_fetch_and_add(&unwind_no_room, 1);
		return 0;
	}
	to = bpf_map_lookup_elem(&unwind_processes, &tgid);
	if (!to)
		return 0;
	/* (another thread of the parent's may have mapped something meanwhile) */
	to->mm = sequence & 1 || sequence != *(volatile __u32 *)&from->sequence
			 ? 0
			 : (__u64)child->mm;
	to->sequence = 0;
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(on_unwind_exit, struct task_struct *p)
{
	__u32 tgid = (__u32)p->tgid;

	if (BPF_CORE_READ(p, signal, live.counter) == 0)
		bpf_map_delete_elem(&unwind_processes, &tgid);
	return 0;
}
