/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The context of a pipeline: what its stages share, and what they want of others.
 *
 * Stages know this context, and neither each other nor who owns them. What a stage needs of another
 * stage is in `struct pipeline_links`; what it needs from outside the pipeline is in `struct
 * pipeline_owner`. Nothing else leads out of a stage. capture/pipeline/recorder-stages.c says which
 * stages there are, and in which order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/pipeline/tasks.h"
#include "writer/fxt/fxt-archive.h"

struct outbuf;
struct trigger;

/* What one stage does for the others. Each returns 0 or a negative errno. */
struct pipeline_links {
	/* lifecycle: writes who TID is. Called by pipeline_announce() only. */
	int (*announce)(uint32_t tid, void *userdata);
	/* lifecycle: a record says that TID is a thread of process PID. */
	int (*belongs)(uint32_t tid, uint32_t pid, void *userdata);
	/* profiler: PID will have stacks from TS_NS on; writes what is mapped in PID. */
	int (*need_mappings)(uint32_t pid, uint64_t ts_ns, void *userdata);
	void *userdata;
};

/*
 * What the owner of the pipeline does for the stages. NULL where it cannot, unless it is said
 * otherwise.
 */
struct pipeline_owner {
	/* Always set. Called after each record: 0 = go on, positive = no room, end the round. */
	int (*after_record)(void *userdata);
	/*
	 * Always set. Nothing is known about TID: looks it up. False: it cannot be looked up now.
	 */
	bool (*ask)(uint32_t tid, void *userdata);
	/* The path of cgroup ID, which PID is in, is not known: looks it up. False: likewise. */
	bool (*ask_cgroup)(uint64_t id, uint32_t pid, void *userdata);
	/* Gives what else the worker has read of watched processes. False: there is nothing. */
	bool (*take_memory)(struct outbuf *ret, void *userdata);
	/*
	 * Set where allocations are recorded. Watched process PID has mapped a file: looks into it.
	 */
	void (*look)(uint32_t pid, void *userdata);
	/* Whether thread or process TID has certainly ended. */
	bool (*is_gone)(uint32_t tid);
	/* A trigger has fired. */
	void (*triggered)(const struct trigger *t, void *userdata);
	void *userdata;
};

struct pipeline {
	struct fxt_archive *archive; /* borrowed, both */
	struct tasks *tasks;
	uint32_t categories;
	bool filtered; /* chosen threads only */
	bool own;      /* one user's own processes only; with it `filtered` */
	bool splits;   /* the recording may be split into chunks: what their heads say is kept */
	/*
	 * Events before and after are not written. Identities are learned always. The end is set
	 * once it is known.
	 */
	uint64_t from_ns, to_ns;
	uint64_t seen_ns;  /* what began before this, after a pause: how it ended was not seen */
	uint64_t split_ns; /* when the present chunk began; 0 = it is the first one */
	struct pipeline_links links;
	struct pipeline_owner owner;
};

/* Writes who TID is, unless the archive has it. Returns 0 or a negative errno. */
static inline int pipeline_announce(const struct pipeline *p, uint32_t tid)
{
	if (__builtin_expect(tasks_announced(p->tasks, tid), 1))
		return 0;
	return p->links.announce(tid, p->links.userdata);
}
