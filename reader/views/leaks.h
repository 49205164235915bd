/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Allocations that were not freed: from the events of category `memory`, in one pass, in file
 * order. But events are assigned to watches by their time, since events of a program can come after
 * the begin of the next program's watch.
 *
 *   watch      one program of one process, from EVENT_WATCH_BEGIN to EVENT_WATCH_END; exec begins
 *              another one
 *   group      the blocks of one resource that were allocated with one call stack
 *   block      a live block: one of the last snapshot, or, if each event was recorded, one that was
 *              allocated later; blocks that were freed later are removed
 *
 * If a watch has no blocks, since its archive ends before a snapshot, its groups are made from the
 * last sums (EVENT_USAGE).
 *
 * Memory grows with the live blocks, with the distinct stacks, and by about 400 bytes per group.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "base/text-set.h"
#include "reader/views/leak-verdict.h"
#include "reader/views/profile.h"
#include "model/event.h"

/* The maximum numbers of functions or of texts in a group, and of contexts with a name of their
 * own. */
enum { LEAK_TEXTS_MAX = 4, LEAK_CONTEXTS_MAX = 32 };

struct leaks_options {
	const uint32_t *pids; /* only these processes; n_pids 0 = all; borrowed */
	size_t n_pids;
	uint32_t resources;  /* only these resources: a sum of 1 << enum resource; 0 = all */
	const char *context; /* only blocks allocated in this context; NULL = any; borrowed */
	uint64_t min_age_ns; /* only blocks of at least this age */
};

struct leak_block {
	uint64_t id, size; /* as in struct event */
	uint64_t since_ns; /* time of the allocation; 0 = unknown */
	uint32_t thread;   /* koid of the allocating thread; 0 = unknown */
	uint32_t context;
	uint32_t sequence; /* number of the last snapshot or repetition with the block */
	enum reach reach;
	bool wanted; /* the options select the block */
	struct leak_group *group;
	const char *function, *text;       /* owned by the leaks; "" = none */
	struct leak_block *next;           /* the next block with the same hash */
	struct leak_block *before, *after; /* neighbours in the list of the watch */
};

struct leak_group {
	enum resource resource;
	uint32_t node; /* innermost call, a profile node; 0 = unknown stack */
	bool left_out; /* leaks_filter() has removed it */

	/* Set by leaks_finish(): */
	uint64_t blocks, bytes;     /* live blocks, as recorded */
	struct leak_estimate all;   /* the live blocks, estimated from samples */
	uint64_t first_ns, last_ns; /* oldest and newest allocation of a live block; 0 = unknown */
	uint64_t allocations;       /* number of allocations so far; 0 = unknown */
	uint64_t reach[REACH_MAX];  /* numbers of blocks, by the result of the search */
	uint64_t lost_bytes;        /* size of the blocks with REACH_LOST */
	/* The contexts in which blocks of the group were allocated: a set of bits. */
	uint32_t contexts;
	struct leak_growth growth;
	enum leak_verdict verdict;
	const char *functions[LEAK_TEXTS_MAX], *texts[LEAK_TEXTS_MAX]; /* NULL = end of the list */

	/* Only for leaks*.c: */
	struct leak_group *next;
	uint64_t live_bytes;               /* size of the live blocks, from blocks */
	uint64_t live_blocks, usage_bytes; /* number and size of the live blocks, from sums */
	uint64_t usage_first_ns, usage_last_ns;
	struct leak_trend trend;
};

struct leak_watch {
	uint32_t pid;        /* koid of the process */
	uint32_t real_pid;   /* pid of the process in the kernel */
	unsigned number;     /* number of the watch within its process, from 1 */
	const char *name;    /* of the process at the end of the watch; "" = unknown */
	const char *program; /* the executed file; "" = unknown */
	uint64_t begin_ns, end_ns;
	const char *resources, *allocators; /* as in struct event */
	/*
	 * The reason why no allocator had probes, so that allocations of memory are unknown, as in
	 * struct event; "" = some allocators had probes
	 */
	const char *unwatched;
	const char *reason; /* why the watch ended; "" = the archive ended before */
	/* The reason why some probes were missing for a time; "" = no probe was missing. */
	const char *gap;
	const char *unsearched; /* as in struct event */
	bool vforked;           /* a child of vfork() used its memory */
	bool searched;          /* as in struct event */
	bool complete;          /* the program was watched from its begin, without a gap */
	/* Time of the fork that began the program; 0 = it is not in the archive. */
	uint64_t forked_ns;
	bool logged; /* each event was recorded */
	uint64_t interval, min_bytes;
	uint64_t unmatched, failed, lost, full, no_stack;
	/*
	 * Number of blocks that were allocated again at the address of a live block: a record of a
	 * free is missing
	 */
	uint64_t replaced;
	uint32_t n_snapshots;
	uint64_t snapshot_ns; /* time of the last snapshot */
	/* Number of blocks that the last snapshot announced, but that have not followed. */
	uint64_t missing;
	bool from_sums; /* it has no blocks: its groups come from the last sums */
	struct leak_group *
		/* Set by leaks_finish(): owned; groups with the strongest evidence first. */
		*groups;
	size_t n_groups;
	struct leak_block *first; /* the list of blocks, in no order */

	/* Only for leaks*.c: */
	struct table stacks; /* id -> node + 1 */
	struct table by_key; /* hash -> struct leak_group, a chain; owned */
	struct table by_id;  /* hash -> struct leak_block, a chain; owned */
	struct table sums;   /* hash -> struct leak_sum, owned */
	size_t n_made;       /* number of groups that were made */
	bool has_memory;     /* some of the groups are of memory */
	uint32_t sequence;   /* the number of the last snapshot */
	bool open;
	bool ran_other; /* the process has called exec, but no event has ended the watch */
	/*
	 * Time at which the begin of the watch was repeated, followed by its live blocks; 0 =
	 * never.
	 */
	uint64_t repeated_ns;
	struct leak_watch *older; /* next older watch of the process */
	uint64_t newer_begin_ns;  /* begin of the next newer watch; 0 = none */
	uint64_t own_unmatched;
	uint64_t last_usage_ns;
	uint32_t n_usage_times;
};

struct leak_context {
	const char *name;
	uint32_t id; /* bit of the context */
};

struct leaks {
	struct leak_watch **watches; /* owned; sorted by time after leaks_finish() */
	size_t n_watches;
	struct profile *profile; /* stacks and names; nothing is counted in it */
	struct leak_context contexts[LEAK_CONTEXTS_MAX];
	size_t n_contexts;
	uint64_t n_lost;  /* number of lost events of class memory, in all processes */
	uint64_t end_ns;  /* time of the last event */
	uint64_t n_stray; /* number of events of processes without a watch */
	uint32_t n_processes_seen;

	struct leaks_options options;
	struct text_set texts;
	struct table by_pid; /* pid + 1 -> struct leak_process, owned */
	size_t room_watches;
};

/* Creates an empty view. OPTIONS is copied, but what its members point to is borrowed. Returns 0 or
 * -ENOMEM. */
int leaks_new(struct leaks **ret, const struct leaks_options *options);
struct leaks *leaks_free(struct leaks *l);
DEFINE_CLEANUP(struct leaks *, leaks_free)

/* Adds an event of any kind. Returns 0 or -ENOMEM. */
int leaks_add(struct leaks *l, const struct event *ev);

/*
 * Makes the groups of each watch, and their verdicts. Must be called once, after the last event.
 * Returns 0, -ENOMEM, or -ENOENT if the context in the options does not exist.
 */
int leaks_finish(struct leaks *l);

/* Removes the groups that KEEP rejects. */
void leaks_filter(struct leaks *l,
		  bool (*keep)(void *userdata, const struct leak_watch *w,
			       const struct leak_group *g),
		  void *userdata);

/* Returns the watch of process PID at TS_NS; NULL = none. */
struct leak_watch *leaks_watch_at(const struct leaks *l, uint32_t pid, uint64_t ts_ns);

/* Frees W, which must not be in a struct leaks any more. */
void leak_watch_free(struct leak_watch *w);

/* Returns true if the options and leaks_filter() select B. Valid after leaks_finish(). */
static inline bool leak_block_is_shown(const struct leak_block *b)
{
	return b->wanted && !b->group->left_out;
}

/* Returns true if the blocks are a sample. */
static inline bool leak_watch_is_sampled(const struct leak_watch *w)
{
	return w->interval > 0;
}
