/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records that the session's worker makes of what the tables of memory.bpf.c say of watched
 * processes, and of what the kernel lists of them. They have the head and a kind of bpf/record.h,
 * so that the pipeline handles them like those of the eBPF programs.
 */
#pragma once

#include "bpf/record.h"

/* head.pid is watched. Texts end with NUL. */
#define MEMORY_TEXT_BYTES 512
struct rec_watch {
	struct rec_head head;
	__u32 instance;
	__u32 complete; /* 1: from the first instruction of its program */
	char allocators[MEMORY_TEXT_BYTES];
};
_Static_assert(sizeof(struct rec_watch) == 544, "ABI");

#define WATCHED_STOP 0
#define WATCHED_EXIT 1
#define WATCHED_EXEC 2
struct rec_watched {
	struct rec_head head;
	__u32 instance;
	__u32 reason; /* WATCHED_* */
	__u64 unmatched, failed, lost, full, no_stack;
};
_Static_assert(sizeof(struct rec_watched) == 72, "ABI");

struct rec_usage {
	struct rec_head head;
	__u64 stack;
	__u64 allocations, allocated_bytes, frees, freed_bytes;
	__u32 instance, resource;
};
_Static_assert(sizeof(struct rec_usage) == 72, "ABI");

struct rec_snapshot {
	struct rec_head head;
	__u64 blocks; /* that follow, as struct rec_block */
	__u32 instance;
	__u32 final; /* SNAPSHOT_* */
};
#define SNAPSHOT_FINAL  1 /* else: the process is watched further */
#define SNAPSHOT_EXECED 2 /* likewise, since another program has begun */
_Static_assert(sizeof(struct rec_snapshot) == 40, "ABI");

#define MEMORY_BLOCK_TEXT_BYTES 96
struct rec_block {
	struct rec_head head;
	__u64 id;
	struct memory_block block;
	__u32 instance, resource;
	__u32 reach;      /* `enum reach` of writer/event.h */
	__u32 text_bytes; /* that follow, without a NUL, padded to 8 bytes */
	char text[];
};
_Static_assert(sizeof(struct rec_block) == 88, "ABI");

/*
 * What the kernel lists of head.pid begins or ends here, both at head.ts_ns: it was read between
 * the two, and what came and went meanwhile may be missing.
 */
struct rec_listing {
	struct rec_head head;
	__u32 instance;
	__u32 resources; /* a bit for each MEMORY_RESOURCE_* that is listed completely */
	/* 1: what there is is from before the watch, unless a call has said otherwise */
	__u32 first;
	__u32 ends;
};
_Static_assert(sizeof(struct rec_listing) == 40, "ABI");

/* Something listed. */
struct rec_found {
	struct rec_head head;
	__u64 id,
		size; /* MEMORY_RESOURCE_MAPPING: any that is mapped; SHM: text is the name, id 0 */
	__u32 instance, resource;
	__u32 foreign; /* 1: another process made it */
	__u32 pad_0;
	char text[MEMORY_BLOCK_TEXT_BYTES]; /* ends with NUL */
};
_Static_assert(sizeof(struct rec_found) == 152, "ABI");
