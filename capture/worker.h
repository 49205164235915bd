/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread of a session that does what may be slow: it loads, attaches, detaches and unloads the
 * eBPF programs, lists the tasks that live, looks into /proc, samples counters, and lets CPUs that
 * come back be sampled again.
 *
 * Orders are taken in turn; what comes of them is fetched with worker_fetch() when the descriptor
 * is readable. The collector belongs to the worker; the owner may use its rings from `started`
 * until it orders to unload.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "capture/budget.h"
#include "capture/collector.h"
#include "capture/options.h"
#include "capture/user-counts.h"

struct worker;

/* A command line that was read: `size` bytes follow in the buffer, padded to 8. */
struct worker_command {
	uint64_t start_ns;
	uint32_t tid;
	uint32_t size;
};

/* The path of a cgroup, likewise, with its NUL. */
struct worker_cgroup {
	uint64_t id;
	uint32_t size;
	uint32_t reserved;
};

/* The bytes that SIZE takes in the buffer. */
static inline size_t worker_padded(uint32_t size)
{
	return ((size_t)size + 7) & ~(size_t)7;
}

struct worker_news {
	/* Since when it does not matter: they stay true. `complete`: samples are taken, too, and processes
	 * watched. `quiet`: no program runs any more; `detached`: and all has been read. */
	bool started, complete, quiet, detached, unloaded;
	int error;                   /* why it could not start */
	char *error_text;            /* a sentence, owned; NULL = none */
	struct collector *collector; /* borrowed; set with `started` */
	uint64_t attach_ns;          /* the first program was attached then, or later */
	uint64_t start_ns;           /* all programs were attached by then */
	uint64_t listed_ns;          /* the list of tasks was complete by then */
	struct outbuf tasks;     /* struct rec_task: listed, all of them with `started`. Owned */
	struct outbuf looked_up; /* struct rec_task: asked for. Owned */
	struct outbuf commands;  /* struct worker_command. Owned */
	struct outbuf
		cgroups; /* struct worker_cgroup: first with `started`, then as asked for. Owned */
	bool cgroups_asked;     /* there is room for more questions, since the last time */
	struct outbuf samples;  /* struct rec_sample. Owned */
	struct outbuf mappings; /* struct rec_mapping, of what was there at the start. Owned */
	uint32_t away;          /* bits 1 << SHED_*: has gone, as was ordered, and is not back */
	unsigned n_failed;      /* of those that were to come back, how many could not */
	unsigned
		n_resumed; /* how often all has begun again: then the times and lists above are new */
	uint64_t n_snapshots; /* said, of those that were ordered */
	int snapshot_error;   /* why the last of them is not whole, or 0 */
	uint64_t n_searches;  /* done, of those that were ordered */
	int search_error;     /* why the last of them found nothing out, or 0 */
	uint64_t cpu_ns;      /* CPU time of the thread */
};

/*
 * Starts the thread, with a copy of OPTIONS. If it hangs when it is let go of it counts in
 * LEFT_BEHIND. Returns 0 or a negative errno.
 */
int worker_new(const struct session_options *options, struct left_behind *left_behind,
	       struct worker **ret);

/* Lets go; the thread unloads what is loaded and ends by itself. Returns NULL. */
struct worker *worker_free(struct worker *w);

DEFINE_CLEANUP(struct worker *, worker_free)

/* Orders; none of them waits. */
void worker_order_start(struct worker *w);
void worker_order_detach(struct worker *w);
void worker_order_unload(struct worker *w);

/*
 * Another one, to say what is allocated now (worker_take_memory()). Returns what `n_snapshots` of the news is at
 * least once that is said; one that is ordered and has not begun is the same. None is begun after detaching.
 */
uint64_t worker_order_snapshot(struct worker *w);

/*
 * Another one, to look which blocks of process PID, which stands still, can be reached. Returns
 * what `n_searches` of the news is at least once that is done, or 0 if too many are waiting. None
 * is begun after detaching.
 */
uint64_t worker_order_search(struct worker *w, uint32_t pid);

/* Another one: AWAY, bits 1 << SHED_*, is what is to be gone. With SHED_SESSION nothing is recorded. */
void worker_order_away(struct worker *w, uint32_t away);

/* CPU time of the thread, by now. */
uint64_t worker_cpu_ns(struct worker *w);

/* Another order, to look up TID in /proc (of own processes: in the kernel). False if too many are waiting. */
bool worker_order_lookup(struct worker *w, uint32_t tid);

/* Another one, to find the path of cgroup ID, which PID is in. False if too many are waiting. */
bool worker_order_cgroup(struct worker *w, uint64_t id, uint32_t pid);

/* Another one, to look at what process PID, which is watched, has mapped. */
void worker_order_look(struct worker *w, uint32_t pid);

/* What was read of what is allocated, the caller's: struct rec_*. There may be more when it is
 * taken. False: nothing. */
bool worker_take_memory(struct worker *w, struct outbuf *ret);

/* Becomes readable when there is news. */
int worker_fd(const struct worker *w);

/* The news since the last time; the buffers are the caller's (worker_news_deinit()). */
void worker_fetch(struct worker *w, struct worker_news *ret);
void worker_news_deinit(struct worker_news *news);
