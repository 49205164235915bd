/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the tables of bpf/memory.bpf.c in batches: the stacks with their sums, and the live blocks.
 * The results are struct rec_*, and are passed to a function that can block.
 *
 * The blocks of ended instances, and of instances whose probes were stopped, do not change. So they
 * are counted and then reported directly. The blocks of other instances are copied first.
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

/* Receives each record. Returns 0, or a negative errno that ends the operation. */
typedef int (*memory_emit_fn)(const struct rec_head *rec, void *userdata);

struct memory_sink {
	memory_emit_fn emit;
	bool (*called_off)(
		/* Whether the session ends, so that no more processes may be traced; or NULL. */
		void *userdata);
	void *userdata;
	/* Whether process PID is held at its exit for a search of its memory; or NULL */
	bool (*is_at_exit)(uint32_t pid, void *userdata);
	uint64_t *helper_cpu_ns; /* receives the CPU time of helper processes, atomically */
};

struct collector_memory;

struct memory_tables {
	int stacks_fd, blocks_fd; /* borrowed */
	int32_t *n_copied;        /* number of copied stacks in the table; borrowed */
	struct table sums;        /* the last reported sums of each stack. Owned */
};

void heap_tables_init(struct memory_tables *t, const struct collector_memory *own);
void heap_tables_deinit(struct memory_tables *t);

/* Reports new stacks and changed sums of the announced IMAGES, as of TS_NS. */
int heap_tables_usage(struct memory_tables *t, const struct heap_images *images, uint64_t ts_ns,
		      const struct memory_sink *sink);

/* Reports the blocks of finished IMAGES, each list after a struct rec_snapshot. */
int heap_tables_snapshot(struct memory_tables *t, const struct heap_images *images, uint64_t ts_ns,
			 const struct memory_sink *sink);

/* Counts the blocks and stacks of the ended IMAGES. */
int heap_tables_count(struct memory_tables *t, const struct heap_images *images);

/*
 * Reports sums and snapshots of several images that end together. One pass over the tables copies
 * the data of all finished IMAGES. Then the images are reported one by one, in the order of
 * instances.
 */
struct memory_gathered {
	struct outbuf stacks, blocks;
	size_t stacks_at, blocks_at; /* the end of the reported data */
};

void memory_gathered_deinit(struct memory_gathered *gathered);
int heap_tables_gather(struct memory_tables *t, const struct heap_images *images,
		       struct memory_gathered *ret);
int heap_tables_emit_gathered(struct memory_tables *t, const struct heap_images *images,
			      const struct heap_image *image, uint64_t ts_ns,
			      struct memory_gathered *gathered, const struct memory_sink *sink);

/*
 * The blocks of live IMAGES change, so they are reported in two steps. The first step copies the
 * blocks to KEPT, which the caller frees, so that the reported number is exact. The number of
 * copied blocks is limited to the size of the table. Blocks made after UNTIL_NS are left out.
 */
int heap_tables_keep(struct memory_tables *t, const struct heap_images *images, uint64_t until_ns,
		     struct outbuf *kept);
int heap_tables_emit_kept(const struct heap_images *images, uint64_t ts_ns,
			  const struct outbuf *kept, const struct memory_sink *sink);

/*
 * Removes finished IMAGES from the tables. Also removes entries without an image, if their instance
 * is at most FOREIGN_ENTRIES: they belong to programs that ended without a report.
 */
int heap_tables_forget(struct memory_tables *t, const struct heap_images *images,
		       uint32_t foreign_entries);

/*
 * Calls FN for each element of a hash map. Elements that come or go meanwhile can be missed or
 * repeated. FN returns 0 to continue. Returns the result of FN, or a negative errno.
 */
struct memory_map {
	int fd;
	size_t key_size, value_size;
};
typedef int (*memory_element_fn)(const void *key, const void *value, void *userdata);
int memory_map_each(const struct memory_map *map, memory_element_fn fn, void *userdata);
