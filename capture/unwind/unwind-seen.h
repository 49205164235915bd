/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The latest mappings with code, of all processes, that the kernel has reported to user space.
 *
 * The eBPF programs can lack a mapping. Without a hook for new mappings, only walks learn them, and
 * the kernel refuses a lookup while another thread changes the address space. With the hook, if
 * there are two changes at once, one is skipped. The process can end before user space looks up its
 * mappings. A walk that is continued in user space finds the mappings here.
 *
 * A child of fork has the mappings of its parent at the time of the fork, until it calls exec.
 *
 * Any thread may call these functions.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "bpf/record-unwind.h"

/* The maximum number of entries. If there are that many, a new entry replaces the oldest. */
enum { UNWIND_SEEN_MAX = 8192 };

struct unwind_seen_mapping {
	uint64_t ts_ns;
	uint64_t start, end; /* addresses */
	uint64_t file_offset;
	uint64_t inode; /* 0 = no file */
	uint32_t device;
	uint32_t pid;
};

/*
 * Process PID got another address space: a copy of that of PARENT (fork), or an empty one (PARENT
 * is 0: exec).
 */
struct unwind_seen_begin {
	uint64_t ts_ns;
	uint32_t pid, parent;
};

struct unwind_seen_entry {
	struct unwind_seen_mapping mapping;
	bool begins; /* the entry is a struct unwind_seen_begin; only ts_ns of the mapping is set */
	uint32_t parent; /* parent of the process that begins */
	/* The number of the previous entry of the same process; 0 = no such entry. */
	uint64_t earlier;
};

struct unwind_seen {
	pthread_mutex_t lock; /* guards all members */
	/* Number of entries so far, which is also the number of the last entry. */
	uint64_t n;
	struct table last; /* pid + 1 -> the number of its last entry (instead of a pointer) */
	struct unwind_seen_entry list[UNWIND_SEEN_MAX];
};

void unwind_seen_init(struct unwind_seen *s);
void unwind_seen_deinit(struct unwind_seen *s);

void unwind_seen_add(struct unwind_seen *s, const struct unwind_seen_mapping *mapping);
void unwind_seen_begin(struct unwind_seen *s, const struct unwind_seen_begin *begin);

/*
 * Finds the mapping that process PID had at ADDRESS at TS_NS, and the number of its file among the
 * UNWIND_FILES_MAX FILES. Returns false if the mapping is unknown, or if several files are
 * possible.
 */
bool unwind_seen_find(struct unwind_seen *s, const struct unwind_file *files, uint32_t pid,
		      uint64_t address, uint64_t ts_ns, struct unwind_mapping *ret);
