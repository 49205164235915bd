/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Mappings with code, for walks by tables (bpf/unwind.bpf.c).
 *
 * The mappings are tracked here and not in user space, so that a process can be walked from its
 * first instruction if its files are known: mappings are listed when a session begins, a child of
 * fork gets its parent's mappings, and exec begins with none. Later mappings are learned where the
 * kernel makes them, in the thread that requested them. If the kernel has no such hook (fentry), a
 * walk asks the kernel for the mapping of an unknown address. In an interrupt, a walk can ask only
 * once. Removed mappings stay in the entry of the process: no code runs there, and the next mapping
 * at their addresses replaces them.
 *
 * A file is identified by its inode. Its table is requested from user space when the file is first
 * seen in a selected process, or else when a walk first comes through it.
 */
#include "bpf/cost.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/unwind.bpf.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define VM_EXEC 0x00000004
#define EBUSY   16

/* An entry with zeroes, the initial value of new entries. */
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

/* File names (struct unwind_file_name) that can be used again; user space adds them. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, UNWIND_FILES_MAX);
	__type(value, struct unwind_file_name);
} unwind_free_names SEC(".maps");

/* Number of processes, mappings and files that did not fit into the maps. */
__u64 unwind_no_room = 0;

/* ---- files ---- */

/* Since Linux 6.13, a higher bit has the value 1 if the time was queried (on some file systems). */
#define UNWIND_NS_BITS ((1u << 30) - 1)

static __always_inline void unwind_fill_key(struct unwind_file_key *key, struct inode *inode)
{
	key->inode = BPF_CORE_READ(inode, i_ino);
	key->device = BPF_CORE_READ(inode, i_sb, s_dev);
	key->generation = BPF_CORE_READ(inode, i_generation);
	key->filesystem = (__u32)BPF_CORE_READ(inode, i_sb, s_magic);
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
	key->changed_ns &= UNWIND_NS_BITS;
}

__u32 unwind_names_given = 0;

/* Asks user space to check how many names are left. */
static __always_inline void unwind_request_names(void)
{
	struct unwind_ask *ask = bpf_ringbuf_reserve(&unwind_asks, sizeof(*ask), 0);

	if (!ask)
		return;
	*ask = (struct unwind_ask){ .number = UNWIND_FILE_NONE };
	bpf_ringbuf_submit(ask, BPF_RB_FORCE_WAKEUP);
}

/* The number of names that were ever used: names from UNWIND_FILE_VDSO + 1 on. */
__u32 unwind_names_begun = 0;

/* Takes a name that no file has. Returns false if no name is left. */
static __always_inline bool unwind_allocate_name(struct unwind_file_name *ret)
{
	__u32 n = *(volatile __u32 *)&unwind_names_begun;

	/* Without this check, each call would increment the number, even beyond its limit. */
	if (n < UNWIND_FILES_MAX - 1)
		n = __sync_fetch_and_add(&unwind_names_begun, 1);
	if (n >= UNWIND_FILES_MAX - 1)
		return bpf_map_pop_elem(&unwind_free_names, ret) == 0;
	ret->number = (__u16)(UNWIND_FILE_VDSO + 1 + n);
	ret->generation = 0;
	return true;
}

/* Finds or makes the name of the file KEY. Returns false if no name is left. */
static __always_inline bool unwind_name_file(const struct unwind_file_key *key,
					     struct unwind_file_name *ret)
{
	struct unwind_file_name *known = bpf_map_lookup_elem(&unwind_file_names, key);

	if (known) {
		*ret = *known;
		return true;
	}
	if (!unwind_allocate_name(ret)) {
		__sync_fetch_and_add(&unwind_no_room, 1);
		return false;
	}
	if (bpf_map_update_elem(&unwind_file_names, key, ret, BPF_NOEXIST) == 0) {
		if (__sync_fetch_and_add(&unwind_names_given, 1) % UNWIND_NAMES_STEP == 0)
			unwind_request_names();
		return true;
	}
	/* Another CPU was faster, or there is no memory. */
	bpf_map_push_elem(&unwind_free_names, ret, 0);
	known = bpf_map_lookup_elem(&unwind_file_names, key);
	if (known)
		*ret = *known;
	return known != NULL;
}

/* ---- the mappings of a process ---- */

/* A new mapping that is inserted. */
struct unwind_insertion {
	struct unwind_process *process;
	__u64 first, end; /* numbers of pages */
	__u32 file_page;
	struct unwind_file_name file;
	__u32 weight; /* how much this mapping adds to the priority of its file's table */
	bool is_code, has_file;
	bool has_rest;
	/*
	 * (a union, since eBPF programs have little stack: the key is needed only until the name is
	 * known)
	 */
	union {
		struct unwind_file_key key; /* key of the mapping's file, if it has one */
		/*
		 * First, the second part of a mapping that the new mapping cuts in two; later, the
		 * new mapping
		 */
		struct unwind_mapping placed;
	};
};

/*
 * A process that began in the last seconds is active, and may be the command to record. So the
 * files of such a process count as much as those of many sleeping processes.
 */
#define UNWIND_YOUNG_NS     4000000000ull
#define UNWIND_YOUNG_WEIGHT 16

/*
 * Keeps, cuts or drops mapping I. If the mapping is cut in two, its second part is inserted later,
 * since there is no room yet. If neither mapping has a file, and they overlap or touch, the old one
 * becomes part of the new one.
 */
static long unwind_make_room(__u32 i, struct unwind_insertion *to)
{
	struct unwind_process *process = to->process;
	struct unwind_mapping m;
	__u64 first, end, from = i, at = process->kept;

	/*
	 * FROM and AT have the type with which they are used. Otherwise, the verifier of Linux 6.1
	 * forgets their limits.
	 */
	barrier_var(from);
	barrier_var(at);
	if (from >= process->n || from >= UNWIND_MAPPINGS_MAX || at >= UNWIND_MAPPINGS_MAX)
		return 1;
	m = process->mappings[from];
	first = UNWIND_WHERE_FIRST(m.where);
	end = first + UNWIND_WHERE_N(m.where);
	if (m.file == UNWIND_FILE_NONE && to->file.number == UNWIND_FILE_NONE && first <= to->end &&
	    end >= to->first) {
		to->first = first < to->first ? first : to->first;
		to->end = end > to->end ? end : to->end;
		return 0;
	}
	if (first < to->end && end > to->first) {
		process->replaced++;
		if (end > to->end) {
			to->placed = m;
			to->placed.where = UNWIND_WHERE(to->end, end - to->end);
			/* (file_page is not used if there is no file) */
			to->placed.file_page += (__u32)(to->end - first);
			to->has_rest = true;
		}
		if (first >= to->first)
			return 0;
		m.where = UNWIND_WHERE(first, to->first - first);
	}
	process->mappings[at] = m;
	process->kept = (__u32)at + 1;
	return 0;
}

/* For the I-th mapping from the end: moves it up, or inserts the placed mapping after it. */
static long unwind_put_in(__u32 i, struct unwind_insertion *to)
{
	struct unwind_process *process = to->process;
	__u64 at = process->kept - i;

	barrier_var(at);
	if (at >= UNWIND_MAPPINGS_MAX)
		return 1;
	if (at > 0 && process->mappings[at - 1].where > to->placed.where) {
		process->mappings[at] = process->mappings[at - 1];
		return 0;
	}
	process->mappings[at] = to->placed;
	return 1;
}

static __always_inline void unwind_put(struct unwind_insertion *to)
{
	struct unwind_process *process = to->process;

	if (process->kept >= UNWIND_MAPPINGS_MAX) {
		__sync_fetch_and_add(&unwind_no_room, 1);
		return;
	}
	bpf_loop(UNWIND_MAPPINGS_MAX, unwind_put_in, to, 0);
	process->kept++;
}

/*
 * Only one change at a time is made. If a change is skipped because of another one, a later walk
 * learns the mapping when the walk needs it.
 */
static __always_inline bool unwind_begin_change(struct unwind_process *process)
{
	__u32 sequence = *(volatile __u32 *)&process->sequence;

	return !(sequence & 1) &&
	       __sync_val_compare_and_swap(&process->sequence, sequence, sequence + 1) == sequence;
}

static __always_inline void unwind_end_change(struct unwind_process *process)
{
	__sync_fetch_and_add(&process->sequence, 1);
}

/*
 * Drops the mappings in GAP. If a mapping is cut in two, its rest is kept only if NEEDED free
 * places remain: a new mapping is more important than this rest.
 */
static __always_inline void unwind_drop(struct unwind_insertion *gap, __u32 needed)
{
	gap->process->kept = 0;
	bpf_loop(UNWIND_MAPPINGS_MAX, unwind_make_room, gap, 0);
	if (gap->has_rest && gap->process->kept + needed < UNWIND_MAPPINGS_MAX)
		unwind_put(gap);
	else if (gap->has_rest)
		__sync_fetch_and_add(&unwind_no_room, 1);
	gap->process->n = gap->process->kept;
}

/*
 * Returns true if the process already has the new mapping: mprotect() and lists report mappings
 * again. A change would make concurrent walks of other threads fail. (This function is separate,
 * since the stack of unwind_learn() is full.)
 */
static __noinline bool unwind_has(const struct unwind_insertion *new)
{
	const struct unwind_process *process = new->process;
	__u32 sequence = *(volatile __u32 *)&process->sequence;
	__u64 at = unwind_search_mappings(process, new->first) - 1ull, file, first, end;
	const volatile struct unwind_mapping *m;

	if (sequence & 1 || at >= UNWIND_MAPPINGS_MAX)
		return false;
	m = &process->mappings[at];
	first = UNWIND_WHERE_FIRST(m->where);
	end = first + UNWIND_WHERE_N(m->where);
	file = m->file;
	/* Mappings without a file are merged, so the new mapping can be a part of a larger one. */
	if (file != new->file.number || first > new->first || end < new->end)
		return false;
	if (file != UNWIND_FILE_NONE &&
	    (m->generation != new->file.generation || m->file_page != new->file_page ||
	     first != new->first || end != new->end))
		return false;
	return sequence == *(volatile __u32 *)&process->sequence;
}

/*
 * Returns the number of PROCESS's mappings that begin before END. Sets *RET_ANY if any of these
 * mappings has pages from FIRST on.
 */
static __always_inline __u32 unwind_search_range(const struct unwind_process *process, __u64 first,
						 __u64 end, bool *ret_any)
{
	__u64 last = end - 1, where = 0;
	__u32 n;

	/* (otherwise, the compiler makes a branch of each comparison with this value) */
	barrier_var(last);
	n = unwind_search_mappings(process, last);
	if (n - 1 < UNWIND_MAPPINGS_MAX)
		where = process->mappings[n - 1].where;
	*ret_any = UNWIND_WHERE_FIRST(where) + UNWIND_WHERE_N(where) > first;
	return n;
}

/* Returns true if mapping AT of the process would be merged with the new one. */
static __always_inline bool unwind_merges_with(const struct unwind_insertion *new, __u64 at)
{
	const struct unwind_process *process = new->process;
	__u64 first;

	barrier_var(at);
	if (at >= UNWIND_MAPPINGS_MAX)
		return false;
	first = UNWIND_WHERE_FIRST(process->mappings[at].where);
	return process->mappings[at].file == UNWIND_FILE_NONE &&
	       first <= new->end &&first + UNWIND_WHERE_N(process->mappings[at].where) >=
		       new->first;
}

/*
 * Returns true if the process is full, and the new mapping would neither replace another one nor be
 * merged with it. Without this check, each walk through the mapping would begin a change that
 * fails.
 */
static __noinline bool unwind_is_full_for(const struct unwind_insertion *new)
{
	const struct unwind_process *process = new->process;
	bool replaces;
	__u64 at;

	if (process->n < UNWIND_MAPPINGS_MAX)
		return false;
	at = unwind_search_range(process, new->first, new->end, &replaces);
	if (replaces)
		return false;
	/*
	 * No mapping begins in the pages of the new one, so the neighbours of its end are those of
	 * its begin.
	 */
	return new->file.number != UNWIND_FILE_NONE ||
	       (!unwind_merges_with(new, at - 1) && !unwind_merges_with(new, at));
}

static __always_inline void unwind_insert(struct unwind_insertion *new)
{
	struct unwind_process *process = new->process;

	if (unwind_has(new))
		return;
	if (unwind_is_full_for(new)) {
		__sync_fetch_and_add(&unwind_no_room, 1);
		return;
	}
	if (!unwind_begin_change(process))
		return;
	unwind_drop(new, 1);
	new->placed = (struct unwind_mapping){
		.where = UNWIND_WHERE(new->first, new->end - new->first),
		.file_page = new->file_page,
		.file = new->file.number,
		.generation = new->file.generation,
	};
	unwind_put(new);
	process->n = process->kept;
	unwind_end_change(process);
}

/* Makes an empty entry for process TGID with address space MM. Returns NULL if there is no room. */
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

/*
 * Returns true if a process must be tracked. With filters other than FILTER_PID and FILTER_OWN,
 * each process is tracked, since these filters can select it later. (The next function is separate,
 * so the verifier checks it once.)
 */
static __always_inline bool unwind_wants(bool selected)
{
	return !(filter_kinds & (FILTER_PID | FILTER_OWN)) || selected;
}

__noinline int unwind_selects_current(void)
{
	return filter_selects(bpf_get_current_task_btf());
}

/*
 * Pointers are read as numbers here. For each place where an eBPF program follows a pointer, the
 * verifier searches all of the kernel's BTF for four names. This takes a millisecond or two.
 */
static __always_inline void unwind_read_vma(struct unwind_insertion *to, struct vm_area_struct *vma)
{
	struct file *file = BPF_CORE_READ(vma, vm_file);

	to->first = vma->vm_start >> UNWIND_PAGE_SHIFT;
	to->end = vma->vm_end >> UNWIND_PAGE_SHIFT;
	to->weight = 1;
	to->file_page = file ? (__u32)vma->vm_pgoff : 0;
	to->is_code = vma->vm_flags & VM_EXEC;
	to->has_file = file != NULL;
	if (to->is_code && file)
		unwind_fill_key(&to->key, BPF_CORE_READ(file, f_inode));
}

/*
 * Requests the table of file NUMBER, which process TGID maps in the pages from FIRST to END.
 * (Global, so that the verifier checks it once, and not for each result of the steps before.)
 */
__noinline int unwind_request_table(__u32 number, __u32 generation, __u32 tgid, __u64 first,
				    __u64 end)
{
	const struct unwind_file_name name = { (__u16)number, (__u16)generation };
	struct unwind_file *f = bpf_map_lookup_elem(&unwind_files, &number);

	if (f)
		unwind_ask(f, &name, tgid, first << UNWIND_PAGE_SHIFT, end << UNWIND_PAGE_SHIFT);
	return 0;
}

/* Inserts NEW, which was just read, into process TGID. */
static __always_inline void unwind_add_mapping(__u32 tgid, bool selected,
					       struct unwind_process *process,
					       struct unwind_insertion *new)
{
	struct unwind_file *f;
	__u32 number;

	new->process = process;
	if (!new->has_file || !unwind_name_file(&new->key, &new->file))
		new->file.number = UNWIND_FILE_NONE;
	number = new->file.number;
	f = bpf_map_lookup_elem(&unwind_files, &number);
	if (f) {
		f->inode = new->key.inode;
		f->device = new->key.device;
		f->filesystem = new->key.filesystem;
		/* Without the time of use, a reused number would be freed again at once. */
		f->used = *(volatile __u32 *)&unwind_clock;
		if (f->state != UNWIND_FILE_READY)
			f->missed += new->weight;
	}
	unwind_insert(new);
	/*
	 * (this comes last, because user space opens the file at once, if the process has the
	 * mapping)
	 */
	if (selected)
		unwind_request_table(new->file.number, new->file.generation, tgid, new->first,
				     new->end);
}

/* Runs in a process that maps code or data, or that makes memory executable. */
SEC("?fentry/perf_event_mmap")
int TIMED_PROG(COST_LIFECYCLE, on_unwind_map, struct vm_area_struct *vma)
{
	struct task_struct *p = bpf_get_current_task_btf();
	__u32 tgid = (__u32)p->tgid;
	struct unwind_process *process;
	struct unwind_insertion new = {};
	bool selected;

	if (!(vma->vm_flags & VM_EXEC))
		return 0;
	if (unwind_ns_inode)
		unwind_note_seen();
	selected = unwind_selects_current();
	if (!unwind_wants(selected))
		return 0;
	unwind_read_vma(&new, vma);
	/* A new entry is only made during exec: at other times, it would lack earlier mappings. */
	process = BPF_CORE_READ_BITFIELD_PROBED(p, in_execve)
			  ? unwind_begin(tgid, (__u64)vma->vm_mm)
			  : bpf_map_lookup_elem(&unwind_processes, &tgid);
	if (process && process->mm == (__u64)vma->vm_mm)
		unwind_add_mapping(tgid, selected, process, &new);
	return 0;
}

/*
 * Used where on_unwind_map() is unavailable. When the kernel has found free room for a new mapping,
 * earlier mappings in that room no longer exist, and must be forgotten. Otherwise, a library would
 * be mistaken for the one that it replaces.
 */
SEC("?tp_btf/vm_unmapped_area")
int TIMED_PROG(COST_LIFECYCLE, on_unwind_gap, unsigned long address,
	       struct vm_unmapped_area_info *info)
{
	struct task_struct *p = bpf_get_current_task_btf();
	__u64 first = address >> UNWIND_PAGE_SHIFT, pages = info->length >> UNWIND_PAGE_SHIFT;
	__u32 tgid = (__u32)p->tgid;
	struct unwind_insertion gap = { .first = first, .end = first + pages };
	bool any;

	gap.process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	/* The address can be an error code, which is not a whole number of pages. */
	if (!gap.process || gap.process->mm != (__u64)BPF_CORE_READ(p, mm) || pages == 0 ||
	    address & ((1u << UNWIND_PAGE_SHIFT) - 1))
		return 0;
	unwind_search_range(gap.process, first, first + pages, &any);
	if (!any || !unwind_begin_change(gap.process))
		return 0;
	unwind_drop(&gap, 0);
	unwind_end_change(gap.process);
	return 0;
}

/* User space runs this eBPF program for ranges of addresses whose mappings have changed. */
SEC("?syscall")
int on_unwind_forget(struct unwind_range *range)
{
	struct unwind_insertion gap = { .first = range->first, .end = range->end };
	__u32 tgid = range->tgid;

	gap.process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	if (!gap.process || !unwind_begin_change(gap.process))
		return 0;
	unwind_drop(&gap, 0);
	unwind_end_change(gap.process);
	return 0;
}

SEC("?iter/task_vma")
int on_iter_unwind_vma(struct bpf_iter__task_vma *ctx)
{
	struct task_struct *p = ctx->task;
	struct vm_area_struct *vma = ctx->vma;
	struct unwind_process *process;
	struct unwind_insertion new = {};
	bool selected;

	if (!p || !vma || !(vma->vm_flags & VM_EXEC))
		return 0;
	selected = filter_selects(p);
	if (!unwind_wants(selected))
		return 0;
	unwind_read_vma(&new, vma);
	if (bpf_ktime_get_boot_ns() - p->start_boottime < UNWIND_YOUNG_NS)
		new.weight = UNWIND_YOUNG_WEIGHT;
	process = unwind_begin((__u32)p->tgid, (__u64)BPF_CORE_READ(vma, vm_mm));
	if (process)
		unwind_add_mapping((__u32)p->tgid, selected, process, &new);
	return 0;
}

static long unwind_on_found(struct task_struct *p, struct vm_area_struct *vma,
			    struct unwind_insertion *to)
{
	unwind_read_vma(to, vma);
	return 0;
}

__noinline int unwind_learn(__u64 address, bool asks)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct unwind_process *process;
	struct unwind_insertion new = {};
	long r;

	process = unwind_begin((__u32)p->tgid, (__u64)BPF_CORE_READ(p, mm));
	if (!process)
		return UNWIND_END_PROCESS;
	r = bpf_find_vma(p, address, unwind_on_found, &new, 0);
	if (r == -EBUSY)
		return UNWIND_END_BUSY;
	if (r < 0 || !new.is_code)
		return UNWIND_END_MAPPING;
	unwind_add_mapping((__u32)p->tgid, asks, process, &new);
	return 0;
}

/* Learns the mappings of the new program and its interpreter, by their entry points. */
SEC("?tp_btf/sched_process_exec")
int TIMED_PROG(COST_LIFECYCLE, on_unwind_exec, struct task_struct *p, int old_pid,
	       struct linux_binprm *bprm)
{
	__u32 tgid = (__u32)p->tgid;

	bool selected = unwind_selects_current();

	if (unwind_ns_inode)
		unwind_note_seen();
	bpf_map_delete_elem(&unwind_processes, &tgid);
	if (!unwind_wants(selected))
		return 0;
	unwind_learn(BPF_CORE_READ(p, mm, start_code), selected);
#if defined(__TARGET_ARCH_x86)
	unwind_learn(((struct pt_regs *)bpf_task_pt_regs(p))->ip, selected);
#endif
	return 0;
}

/* Runs after on_sched_process_fork, in which the filter follows the child. */
SEC("?tp_btf/sched_process_fork")
int TIMED_PROG(COST_LIFECYCLE, on_unwind_fork, struct task_struct *parent,
	       struct task_struct *child)
{
	__u32 parent_tgid = (__u32)parent->tgid, tgid = (__u32)child->tgid, sequence;
	struct unwind_process *from, *to;

	if (child->pid != child->tgid)
		return 0;
	from = bpf_map_lookup_elem(&unwind_processes, &parent_tgid);
	if (!from || from->mm != (__u64)BPF_CORE_READ(parent, mm) ||
	    !unwind_wants(filter_selects(child))) {
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
	/*
	 * Another thread of the parent may have mapped something meanwhile. Then the entry is
	 * invalid (mm is 0).
	 */
	to->mm = sequence & 1 || sequence != *(volatile __u32 *)&from->sequence
			 ? 0
			 : (__u64)BPF_CORE_READ(child, mm);
	to->sequence = 0;
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int TIMED_PROG(COST_LIFECYCLE, on_unwind_exit, struct task_struct *p)
{
	__u32 tgid = (__u32)p->tgid;

	if (BPF_CORE_READ(p, signal, live.counter) == 0)
		bpf_map_delete_elem(&unwind_processes, &tgid);
	return 0;
}
