/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of bpf/memory.bpf.c, read in batches: the stacks with what was allocated with each,
 * and the blocks that live. What comes of it goes out as struct rec_*, through a function that may
 * wait.
 *
 * Of instances that have ended, or whose probes have been stopped, blocks do not change while they
 * are read, and can be counted before they are said. Those of the others are copied first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "base/table.h"
#include "bpf/record.h"
#include "capture/heap/heap-images.h"

/* Gets each record. Zero, or a negative errno that ends it all. */
typedef int (*memory_emit_fn)(const struct rec_head *rec, void *userdata);

struct memory_sink {
	memory_emit_fn emit;
	bool (*called_off)(
		void *userdata); /* the end waits: no more processes are to be traced; or NULL */
	void *userdata;
	uint64_t
		*helper_cpu_ns; /* what processes that help have taken is added to it, atomically */
};

struct memory_tables {
	int stacks_fd, blocks_fd; /* borrowed */
	struct table sums;        /* of each stack: what was sent last. Owned */
};

void heap_tables_init(struct memory_tables *t, int stacks_fd, int blocks_fd);
void heap_tables_deinit(struct memory_tables *t);

/*
 * Sends the stacks that are new, and the sums that have changed, of those IMAGES that have been
 * announced, as of TS_NS.
 */
int heap_tables_usage(struct memory_tables *t, const struct heap_images *images, uint64_t ts_ns,
		      const struct memory_sink *sink);

/* Sends the blocks of those IMAGES that go, behind a struct rec_snapshot each. */
int heap_tables_snapshot(struct memory_tables *t, const struct heap_images *images, uint64_t ts_ns,
			 const struct memory_sink *sink);

/* Counts the blocks and stacks of those IMAGES that have ended. */
int heap_tables_count(struct memory_tables *t, const struct heap_images *images);

/*
 * Usage and snapshots for several images that end together. One pass over the tables copies the
 * data of all IMAGES that go. It is then sent image by image, in the order of instances.
 */
struct memory_gathered {
	struct outbuf stacks, blocks;
	size_t stacks_at, blocks_at; /* what has been sent ends here */
};

void memory_gathered_deinit(struct memory_gathered *gathered);
int heap_tables_gather(struct memory_tables *t, const struct heap_images *images,
		       struct memory_gathered *ret);
int heap_tables_say_gathered(struct memory_tables *t, const struct heap_images *images,
			     const struct heap_image *image, uint64_t ts_ns,
			     struct memory_gathered *gathered, const struct memory_sink *sink);

/*
 * The same of those IMAGES that live, whose blocks change, in two steps: first they are copied into
 * KEPT, which the caller frees, so that as many are said as were counted; no more than the table
 * has room for. What was made after UNTIL_NS is left out.
 */
int heap_tables_keep(struct memory_tables *t, const struct heap_images *images, uint64_t until_ns,
		     struct outbuf *kept);
int heap_tables_say_kept(const struct heap_images *images, uint64_t ts_ns,
			 const struct outbuf *kept, const struct memory_sink *sink);

/*
 * Takes those IMAGES that go out of the tables; with them what belongs to none of IMAGES, if its
 * instance is not above STRANGERS: of programs that have ended without a word.
 */
int heap_tables_forget(struct memory_tables *t, const struct heap_images *images,
		       uint32_t strangers);

/*
 * Calls FN for each element of a map, a hash. Elements that come or go meanwhile may be missed or
 * come twice. FN returns 0 to go on. Returns what FN returned, or a negative errno.
 */
struct memory_map {
	int fd;
	size_t key_size, value_size;
};
typedef int (*memory_element_fn)(const void *key, const void *value, void *userdata);
int memory_map_each(const struct memory_map *map, memory_element_fn fn, void *userdata);
