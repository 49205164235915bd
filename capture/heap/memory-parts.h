/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of watching share. Internal to memory*.c.
 *
 *	memory.c         the watched processes: probes, fork and exec, snapshots
 *	memory-ended.c   the records of a program and of its end
 */
#pragma once

#include "capture/probes/allocator-cache.h"
#include "capture/heap/armed.h"
#include "capture/heap/memory-images.h"
#include "capture/heap/memory.h"

struct ring_buffer;

struct memory {
	const struct session_options *options;
	struct collector *collector;
	struct collector_memory own; /* maps and programs, the collector's */
	struct memory_sink sink;
	struct memory_tables tables;
	struct allocator_cache *cache;
	struct arming arming;
	struct ring_buffer *happenings;
	struct table processes; /* pid + 1 -> struct armed, owned */
	struct memory_images images;
	uint64_t next_usage_ns; /* CLOCK_MONOTONIC */
	uint64_t unheard;       /* as of the last look */
	uint64_t untold;        /* likewise */
	uint64_t strangers_ns;  /* CLOCK_MONOTONIC: what belongs to nobody may go then, ... */
	uint32_t strangers;     /* ... of instances up to this one; 0 = nothing does */
	bool strangers_go;      /* in this round: all who run are known */
	unsigned n_ended;       /* heard of, and not read */
	struct outbuf going;    /* ids of probes of processes that have ended, to be detached */
	int error;              /* of the sink: it wants no more */
	bool stopping;          /* nothing is attached any more */
};

static inline struct armed *memory_armed_of(const struct memory *m, uint32_t pid)
{
	return table_get(&m->processes, (uint64_t)pid + 1);
}

/*
 * Says that IMAGE, or all of those of which everything is known, are watched, if that was not said;
 * after all about those before them. Return 0, or what the sink returned.
 */
int memory_announce(struct memory *m, struct memory_image *image);
int memory_announce_ready(struct memory *m);

/* Whether the program IMAGE still runs, as *RET. */
bool memory_runs(const struct memory *m, const struct memory_image *image,
		 struct memory_process *ret);

/* ARMED is gone; its probes go when memory_detach_forgotten() is called. */
void memory_forget_armed(struct memory *m, struct armed *armed);
void memory_detach_forgotten(struct memory *m);

/*
 * Says all about the images that have ended, as of TS_NS, and lets them go; but begins nothing more
 * after CPU_NS_MAX of this thread's time: then what is left has ended still. Returns 0, 1 if
 * something is left, or a negative errno.
 */
int memory_finish_ended(struct memory *m, uint64_t ts_ns, uint64_t cpu_ns_max);

/*
 * The image of each process in the programs' table, also if nobody has told of it yet. Returns 0 or
 * a negative errno.
 */
int memory_know_watched(struct memory *m);
