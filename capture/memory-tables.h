/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of bpf/memory.bpf.c, read in batches: the stacks with what was allocated with each, and
 * the blocks that live. What comes of it goes out as struct rec_*, through a function that may wait.
 *
 * Of instances that have ended, or whose probes have been stopped, blocks do not change while they are
 * read, and can be counted before they are said. Those of the others are copied first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "base/table.h"
#include "bpf/record.h"

/* Gets each record. Zero, or a negative errno that ends it all. */
typedef int (*memory_emit_fn)(const struct rec_head *rec, void *userdata);

struct memory_sink {
	memory_emit_fn emit;
	bool (*called_off)(
		void *userdata); /* the end waits: no more processes are to be armed; or NULL */
	void *userdata;
};

/* One program that ran, or runs, in a process that is watched. */
struct memory_image {
	struct memory_process process; /* as the programs had it when it ended, or was stopped */
	bool announced;                /* struct rec_watch has been sent */
	bool complete;                 /* see struct rec_watch */
	bool ended;                    /* `process` says how it ended */
	bool refused;                  /* there was no room to watch it */
	bool waits;                    /* for an earlier one of its process, likewise ended */
	bool lives;                    /* part of the snapshot that is taken while it runs */
	uint64_t n_blocks;             /* counted */
	struct reach_block *reach;     /* what capture/memory-reach.h found; owned */
	size_t n_reach;
	char allocators[MEMORY_TEXT_BYTES];
};

struct memory_tables {
	int stacks_fd, blocks_fd; /* borrowed */
	struct table sums;        /* of each stack: what was sent last. Owned */
};

void memory_tables_init(struct memory_tables *t, int stacks_fd, int blocks_fd);
void memory_tables_deinit(struct memory_tables *t);

/*
 * Sends the stacks that are new, and the sums that have changed, of those IMAGES (a table of
 * struct memory_image by instance) that have been announced, as of TS_NS.
 */
int memory_tables_usage(struct memory_tables *t, const struct table *images, uint64_t ts_ns,
			const struct memory_sink *sink);

/* Sends the blocks of those IMAGES that have ended, behind a struct rec_snapshot each. */
int memory_tables_snapshot(struct memory_tables *t, const struct table *images, uint64_t ts_ns,
			   const struct memory_sink *sink);

/*
 * The same of those IMAGES that live, whose blocks change, in two steps: first they are copied into KEPT, which the
 * caller frees, so that as many are said as were counted; no more than the table has room for. What was made
 * after UNTIL_NS is left out.
 */
int memory_tables_keep(struct memory_tables *t, const struct table *images, uint64_t until_ns,
		       struct outbuf *kept);
int memory_tables_say_kept(const struct table *images, uint64_t ts_ns, const struct outbuf *kept,
			   const struct memory_sink *sink);

/* Takes those IMAGES that have ended out of the tables. */
int memory_tables_forget(struct memory_tables *t, const struct table *images);

/* Calls FN for each element of a map, a hash. Elements that come or go meanwhile may be missed or come
 * twice. FN returns 0 to go on. Returns what FN returned, or a negative errno. */
struct memory_map {
	int fd;
	size_t key_size, value_size;
};
typedef int (*memory_element_fn)(const void *key, const void *value, void *userdata);
int memory_map_each(const struct memory_map *map, memory_element_fn fn, void *userdata);
