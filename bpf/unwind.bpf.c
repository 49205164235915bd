/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Stacks walked by tables: the search for an address, first in the mappings of the process, then in
 * the file's table. unwind-step.bpf.c has the step from a frame to its caller's.
 *
 * Walks run in any context and on any CPU, while maps change. So a process has a sequence number,
 * and a file a generation. The verifier checks each function once.
 */
#include "bpf/unwind.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile bool unwind_by_tables = false;
const volatile bool unwind_learns_from_walks = false;
const volatile __u64 unwind_ns_device = 0, unwind_ns_inode = 0;

/*
 * Used if the recorder is not in the initial pid namespace. The key is an id in the recorder's
 * namespace, and the value is the kernel's id of this thread or process. Keys of UNWIND_SEEN_OF()
 * are kernel's ids, and their values are ids in the recorder's namespace. User space then makes the
 * map larger.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 64);
	__type(key, __u64);
	__type(value, __u32);
} unwind_seen_ids SEC(".maps");

/* From <linux/bpf.h>. */
struct bpf_pidns_info {
	__u32 pid, tgid;
};

__noinline int unwind_note_seen(void)
{
	__u64 own = bpf_get_current_pid_tgid(), key;
	__u32 process = own >> 32, thread = own;
	struct bpf_pidns_info ids = { 0 };

	if (bpf_get_ns_current_pid_tgid(unwind_ns_device, unwind_ns_inode, &ids, sizeof(ids)) < 0)
		return 0;
	key = ids.pid;
	bpf_map_update_elem(&unwind_seen_ids, &key, &thread, BPF_ANY);
	key = ids.tgid;
	bpf_map_update_elem(&unwind_seen_ids, &key, &process, BPF_ANY);
	key = UNWIND_SEEN_OF(process);
	bpf_map_update_elem(&unwind_seen_ids, &key, &ids.tgid, BPF_ANY);
	return 0;
}

__u32 unwind_clock = 0;

struct unwind_processes unwind_processes SEC(".maps");
struct unwind_files unwind_files SEC(".maps");
struct unwind_asks unwind_asks SEC(".maps");

struct unwind_blocks {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_INNER_MAP);
	__uint(max_entries, 1); /* set by user space */
	__uint(key_size, sizeof(__u32));
	/* The first element is a struct unwind_root. */
	__uint(value_size, sizeof(struct unwind_block));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_FILES_MAX);
	__type(key, __u32);
	__array(values, struct unwind_blocks);
} unwind_tables SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, _UNWIND_ENDS);
	__type(key, __u32);
	__type(value, __u64);
} unwind_ends SEC(".maps");

/*
 * Cached rules, so that frequent code needs no search. A slot is in one cache line; a search reads
 * about ten lines. Rules of one generation of a file never change.
 *
 * An interrupt can come between the accesses to the two words, and write another rule. Then the
 * exclusive or of the words is not the wanted name.
 */
struct unwind_remembered {
	__u64 name_and_rule; /* file, generation and address, XOR the rule */
	__u64 rule;          /* 0: empty (UNWIND_NONE) */
};

#define UNWIND_SLOT_BITS 10

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1 << UNWIND_SLOT_BITS);
	__type(key, __u32);
	__type(value, struct unwind_remembered);
} unwind_remembered SEC(".maps");

static __always_inline __u32 unwind_slot(__u64 name)
{
	return (__u32)(name * 0x9e3779b97f4a7c15ull >> (64 - UNWIND_SLOT_BITS));
}

__noinline int unwind_count_end(__u32 how)
{
	__u64 *n = bpf_map_lookup_elem(&unwind_ends, &how);

	if (n)
		*n += 1;
	return 0;
}

/* ---- a walk ---- */

/* Returns true if the stack of W may be copied because the table of F is missing. */
static __always_inline bool unwind_can_copy(const struct unwind_walk *w,
					    const struct unwind_file *f)
{
	if (f->state != UNWIND_FILE_ASKED && f->state != UNWIND_FILE_READY)
		return false;
	switch (w->copies) {
	case STACK_COPIES_OF_RUNNING:
		return f->copied < UNWIND_COPIES_MAX;
	case STACK_COPIES_OF_WAIT:
		return f->copied_waits < UNWIND_COPIES_MAX_WAITS;
	case STACK_COPIES_OF_ALLOCATION:
		return f->copied_allocations < UNWIND_COPIES_MAX_ALLOCATIONS;
	default:
		return false;
	}
}

/* Notes that W passes F, if F has an interpreter of Python. */
static __always_inline void unwind_note_python(struct unwind_walk *w, struct unwind_file *f)
{
	if (f->python.layout == 0)
		return;
	if (f->python.layout != PYTHON_LAYOUT_UNKNOWN)
		w->python = true;
	else if (!f->python.passed)
		f->python.passed = 1;
}

/*
 * Finds the file of W's mapping M, finds out whether the table of the file exists, and computes the
 * address in that table. Returns 0, or UNWIND_END_MAPPING if the file's number now belongs to
 * another file. In this case, the mapping must be learned again.
 */
static __always_inline int unwind_find_file(struct unwind_walk *w, const struct unwind_mapping *m,
					    __u64 address, __u32 tgid)
{
	__u32 number = m->file, clock = *(volatile __u32 *)&unwind_clock;
	__u64 first = (__u64)m->file_page << UNWIND_PAGE_SHIFT, offset = address - w->start + first;
	struct unwind_file *f = bpf_map_lookup_elem(&unwind_files, &number);
	struct unwind_file_name name = { .number = m->file, .generation = m->generation };

	if (!f)
		return 0;
	if ((__u16)f->generation != m->generation)
		return UNWIND_END_MAPPING;
	if (f->used != clock)
		f->used = clock;
	if (f->state == UNWIND_FILE_NEW)
		unwind_ask(f, &name, tgid, w->start, w->start + w->bytes);
	if (unwind_can_copy(w, f))
		w->awaited = m->file;
	if (f->state != UNWIND_FILE_READY) {
		f->missed += 1;
		w->missing = f->state != UNWIND_FILE_EMPTY;
		return 0;
	}
	for (__u32 i = 0; i < UNWIND_SEGMENTS_MAX; i++) {
		if (offset - f->segments[i].offset < f->segments[i].size) {
			w->file = m->file;
			w->generation = m->generation;
			w->shift = f->segments[i].delta + first - w->start;
			unwind_note_python(w, f);
			return 0;
		}
	}
	return 0;
}

/* Finds the mapping of PROCESS at ADDRESS. Returns 0 or UNWIND_END_*. */
static __always_inline int unwind_lookup_mapping(const struct unwind_process *process,
						 __u64 address, struct unwind_walk *w,
						 struct unwind_mapping *ret)
{
	__u32 sequence = *(volatile __u32 *)&process->sequence, at;

	at = unwind_search_mappings(process, address >> UNWIND_PAGE_SHIFT) - 1;
	if (at < UNWIND_MAPPINGS_MAX)
		*ret = process->mappings[at];
	if (sequence & 1 || sequence != *(volatile __u32 *)&process->sequence)
		return UNWIND_END_BUSY;
	w->start = UNWIND_WHERE_FIRST(ret->where) << UNWIND_PAGE_SHIFT;
	w->bytes = UNWIND_WHERE_N(ret->where) << UNWIND_PAGE_SHIFT;
	return address - w->start < w->bytes ? 0 : UNWIND_END_MAPPING;
}

__noinline bool unwind_is_in(__u64 mm)
{
	struct task_struct *p = bpf_get_current_task_btf();

	return (__u64)p->mm == mm;
}

__noinline int unwind_find_mapping(struct unwind_walk *w)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct unwind_mapping m = { 0 };
	struct unwind_process *process;
	__u32 tgid = p->tgid;
	__u64 address;
	int end;

	if (!w)
		return UNWIND_END_PROCESS;
	/*
	 * If the mapping is not found, a copy must not count for the file of the previous mapping,
	 * so that file is forgotten first.
	 */
	w->file = w->awaited = UNWIND_FILE_NONE;
	w->missing = false;
	address = unwind_address(w);
	process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	if (!process || !unwind_is_in(process->mm))
		return UNWIND_END_PROCESS;
	end = unwind_lookup_mapping(process, address, w, &m);
	if (!end) {
		if (m.file == UNWIND_FILE_NONE &&
		    w->start == (__u64)BPF_CORE_READ(p, mm, context.vdso))
			m.file = UNWIND_FILE_VDSO;
		end = unwind_find_file(w, &m, address, tgid);
	}
	if (end)
		w->bytes = 0;
	/*
	 * Another thread is changing the mappings. User space will know the new mappings later, so
	 * the stack is copied.
	 */
	return end == UNWIND_END_BUSY && w->copies ? UNWIND_END_COPIED : end;
}

/*
 * Returns the last block that begins at ADDRESS or below. Searches the root, then the first rows of
 * blocks.
 */
static __always_inline __u32 unwind_search_root(const struct unwind_root *root, void *table,
						__u32 address)
{
	__u32 at, shift = root->shift, n_blocks = root->n_blocks;
	__u64 slot = 0;

#pragma clang loop unroll(disable)
	for (__u32 shift = 10; shift-- > 0;) {
		__u64 i = slot + (1u << shift);

		if (i < UNWIND_ROOT_SLOTS)
			slot += unwind_is_at_most(root->first[i], address) << shift;
	}
	at = (__u32)slot << (shift & 7);
#pragma clang loop unroll(disable)
	for (__u32 i = UNWIND_SHIFT_MAX; i > 0; i--) {
		__u32 next = at + (1u << (i - 1)), key = next + 1;
		const struct unwind_block *block;

		if (i > shift || next >= n_blocks)
			continue;
		block = bpf_map_lookup_elem(table, &key);
		if (block && block->rows[0].address <= address)
			at = next;
	}
	return at;
}

/*
 * Returns the rule at ADDRESS in the table of FILE. UNWIND_NONE and UNWIND_MISSING must not be
 * cached.
 */
static __always_inline __u32 unwind_search_table(__u32 file, __u32 address)
{
	void *table = bpf_map_lookup_elem(&unwind_tables, &file);
	const struct unwind_block *block;
	const struct unwind_root *root;
	__u32 key = 0;
	__u64 at = 0;

	if (!table)
		return UNWIND_MISSING;
	root = bpf_map_lookup_elem(table, &key);
	if (!root || root->first[0] > address)
		return UNWIND_NONE;
	key = unwind_search_root(root, table, address) + 1;
	block = bpf_map_lookup_elem(table, &key);
	if (!block)
		return UNWIND_NONE;
#pragma clang loop unroll(disable)
	for (__u32 shift = UNWIND_BLOCK_SHIFT; shift-- > 0;) {
		__u64 i = at + (1u << shift);

		if (i < UNWIND_BLOCK_ROWS)
			at += unwind_is_at_most(block->rows[i].address, address) << shift;
	}
	return block->rows[at & (UNWIND_BLOCK_ROWS - 1)].rule;
}

/* Looks up the rule in this CPU's cache first. */
__noinline __u32 unwind_find_rule(__u32 file, __u32 generation, __u32 address)
{
	__u64 name = (__u64)(__u16)file << 48 | (__u64)(__u16)generation << 32 | address;
	__u32 slot = unwind_slot(name), rule;
	struct unwind_remembered *r = bpf_map_lookup_elem(&unwind_remembered, &slot);

	if (r) {
		__u64 word = *(volatile __u64 *)&r->rule;

		if ((*(volatile __u64 *)&r->name_and_rule ^ word) == name && word)
			return (__u32)word;
	}
	rule = unwind_search_table(file, address);
	if (r && rule != UNWIND_NONE && rule != UNWIND_MISSING) {
		*(volatile __u64 *)&r->name_and_rule = name ^ rule;
		*(volatile __u64 *)&r->rule = rule;
	}
	return rule;
}
