/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records that the session's worker makes from the tables of memory.bpf.c for watched processes,
 * and from the kernel's lists. These records have the head and a kind of bpf/record.h, so the
 * pipeline handles them like those of the eBPF programs.
 */
#pragma once

#include "bpf/record.h"

/* The watch of process head.pid begins. Texts end with NUL. */
#define MEMORY_TEXT_BYTES   512
#define MEMORY_REASON_BYTES 160
struct rec_watch {
	struct rec_head head;
	__u32 instance;
	__u32 complete; /* 1: watched from the first instruction of its program */
	char allocators[MEMORY_TEXT_BYTES];
	/* Why the process has no allocator with probes; "" = it has one */
	char unwatched[MEMORY_REASON_BYTES];
};
_Static_assert(sizeof(struct rec_watch) == 704, "ABI");

#define WATCHED_STOP 0
#define WATCHED_EXIT 1
#define WATCHED_EXEC 2

/* Why allocations and frees can be missing; the first reason of a watch counts. */
#define WATCHED_GAP_NONE   0
#define WATCHED_GAP_THREAD 1 /* the first thread of the process ended */
#define WATCHED_GAP_LATE   2 /* an exec began the program, and an allocator had no probes then */
#define WATCHED_GAP_UNSEEN 3 /* the process ended before its files were examined */
#define WATCHED_GAP_LOADED                                                                         \
	4 /* the program has loaded an allocator later (dlopen), which had no probes then */
#define WATCHED_GAP_SHARED  5 /* another process used the memory of this one */
#define WATCHED_GAP_REFUSED 6 /* some probes could not be placed */
#define WATCHED_GAP_HEAP    7 /* the program freed unknown blocks: mi_heap_destroy() */
/* The same as WATCHED_GAP_REFUSED, if the refused functions are all of one kind. */
#define WATCHED_GAP_REFUSED_MEMORY  8
#define WATCHED_GAP_REFUSED_THREADS 9

/*
 * Why blocks have no result of the search for references, or only a result if a reference was
 * found.
 */
#define WATCHED_UNSEARCHED_NONE   0
#define WATCHED_UNSEARCHED_SECRET 1 /* memory of memfd_secret() */
#define WATCHED_UNSEARCHED_LARGE  2 /* mappings that are too large to read */
#define WATCHED_UNSEARCHED_TIME   3 /* the time limit */
#define WATCHED_UNSEARCHED_32BIT  4
#define WATCHED_UNSEARCHED_FAILED 5 /* no permission, no memory, or too many blocks */
struct rec_watched {
	struct rec_head head;
	__u32 instance;
	__u32 reason; /* WATCHED_* */
	__u64 unmatched, failed, lost, full, no_stack;
	__u32 gap;                    /* WATCHED_GAP_* */
	__u32 unsearched;             /* WATCHED_UNSEARCHED_* */
	__u64 gap_from_ns, gap_to_ns; /* begin and end of a gap WATCHED_GAP_LOADED */
	__u32 vforked;                /* whether a child of vfork() used its memory */
	__u32 searched;               /* whether a search for references has examined it */
	/*
	 * Begin of the last check of its files; 0 = no check. Files that were mapped later were not
	 * examined. UINT64_MAX = no file is an allocator with probes.
	 */
	__u64 examined_ns;
};
_Static_assert(sizeof(struct rec_watched) == 112, "ABI");

/* A file that was examined after its process had ended. */
struct late_file {
	__u64 device, inode; /* as in struct rec_mapping */
	__u64 mapped_ns;     /* the time of the record whose path was used */
	__u64 changed_ns;    /* the last change of the file, or earlier; 0 = before all mappings */
	__u64 examined_ns;   /* begin of the examination. All times are of CLOCK_BOOTTIME */
	__u32 is_harmless;   /* whether it has had no allocator of its own since `changed_ns` */
	__u32 pad_0;
};

struct rec_usage {
	struct rec_head head;
	__u64 stack;
	__u64 allocations, allocated_bytes, frees, freed_bytes;
	__u32 instance, resource;
};
_Static_assert(sizeof(struct rec_usage) == 72, "ABI");

struct rec_snapshot {
	struct rec_head head;
	__u64 blocks; /* number of the following struct rec_block */
	__u32 instance;
	__u32 final; /* SNAPSHOT_* */
};
#define SNAPSHOT_FINAL  1 /* last snapshot of the watch; otherwise the watch continues */
#define SNAPSHOT_EXECED 2 /* final, since exec has started another program */
_Static_assert(sizeof(struct rec_snapshot) == 40, "ABI");

#define MEMORY_BLOCK_TEXT_BYTES 96
struct rec_block {
	struct rec_head head;
	__u64 id;
	struct memory_block block;
	__u32 instance, resource;
	__u32 reach;      /* `enum reach` of model/event.h */
	__u32 text_bytes; /* following bytes, without a NUL, padded to 8 bytes */
	char text[];
};
_Static_assert(sizeof(struct rec_block) == 88, "ABI");

/*
 * The beginning or the end of the kernel's lists of head.pid, at head.ts_ns. The lists were read
 * between these two records. Resources that came or went meanwhile can be missing.
 */
struct rec_listing {
	struct rec_head head;
	__u32 instance;
	__u32 resources; /* a bit for each MEMORY_RESOURCE_* with a complete list */
	/* 1: the resources are from before the watch, unless a call reported otherwise */
	__u32 first;
	__u32 ends;
};
_Static_assert(sizeof(struct rec_listing) == 40, "ABI");

/* A resource in a list. */
struct rec_found {
	struct rec_head head;
	__u64 id, size; /* MEMORY_RESOURCE_MAPPING: any mapping; SHM: text is the name, id 0 */
	__u32 instance, resource;
	__u32 foreign; /* 1: another process made it */
	__u32 pad_0;
	char text[MEMORY_BLOCK_TEXT_BYTES]; /* ends with NUL */
};
_Static_assert(sizeof(struct rec_found) == 152, "ABI");
