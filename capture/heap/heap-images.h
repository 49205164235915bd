/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The known images: programs in processes, from their first report until everything about them is
 * written. The images of one process are reported in order; so they are in a list, and no function
 * searches all images for each.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "base/table.h"
#include "bpf/record.h"
#include "capture/heap/heap-records.h"

/* One program that ran, or runs, in a watched process. */
struct heap_image {
	struct memory_process process; /* as in the programs' tables at its end or at the stop */
	struct heap_image *earlier, *later; /* of the same process */
	bool announced;                     /* struct rec_watch has been sent */
	bool complete;                      /* see struct rec_watch */
	bool ended;                         /* `process` has its end */
	bool refused;                       /* there was no room to watch it */
	bool has_gap;                       /* its probes were not in place all the time */
	bool goes;                          /* it has ended, and is being reported */
	bool lives;                         /* part of the snapshot of a running session */
	uint64_t n_blocks;                  /* counted */
	uint64_t n_stacks;                  /* likewise */
	struct reach_block *reach; /* the result of capture/heap/heap-trace-reach.h; owned */
	size_t n_reach;
	/*
	 * Of the last look at its files while it ran. `covered`: one of them is an allocator that
	 * has probes. `settled`: it had loaded what it loads at its start. Unless it is covered,
	 * `unwatched` has the reason.
	 */
	bool covered, settled;
	uint64_t n_allocated; /* counted at its end: stacks with which it has allocated memory */
	char allocators[MEMORY_TEXT_BYTES];
	char unwatched[MEMORY_REASON_BYTES];
};

struct heap_images {
	struct table by_instance; /* -> struct heap_image, owned */
	struct table by_pid;      /* pid + 1 -> the latest image of that process */
};

void heap_images_deinit(struct heap_images *images);

/* The image INSTANCE, or NULL. */
struct heap_image *heap_images_get(const struct heap_images *images, uint32_t instance);

/* The image of P, created if it is unknown; or NULL without memory. */
struct heap_image *heap_images_add(struct heap_images *images, const struct memory_process *p);

/* Removes and frees IMAGE. */
void heap_images_remove(struct heap_images *images, struct heap_image *image);

/*
 * Appends to RET, as struct heap_image *, the ended images that wait for no earlier one of their
 * process, except those in RET; in the order of instances. Returns 0 or -ENOMEM.
 */
int heap_images_ended(const struct heap_images *images, struct outbuf *ret);

/*
 * For an image that no longer runs and whose end was not reported: reports an end with the known
 * data.
 */
void memory_image_end_untold(struct heap_image *image);
