/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The images that are known: programs in processes, from when they are first heard of until all
 * about them has been said. Those of one process are reported one after the other, the earlier ones
 * first; so they are kept in a list of their own, and nothing here looks at all of them for each.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "base/table.h"
#include "bpf/record.h"
#include "capture/heap/heap-records.h"

/* One program that ran, or runs, in a process that is watched. */
struct heap_image {
	struct memory_process process; /* as the programs had it when it ended, or was stopped */
	struct heap_image *earlier, *later; /* of the same process */
	bool announced;                     /* struct rec_watch has been sent */
	bool complete;                      /* see struct rec_watch */
	bool ended;                         /* `process` says how it ended */
	bool refused;                       /* there was no room to watch it */
	bool goes;                          /* it has ended, and all about it is being said now */
	bool lives;                         /* part of the snapshot that is taken while it runs */
	uint64_t n_blocks;                  /* counted */
	uint64_t n_stacks;                  /* likewise */
	struct reach_block *reach;          /* what capture/heap/heap-trace-reach.h found; owned */
	size_t n_reach;
	char allocators[MEMORY_TEXT_BYTES];
};

struct heap_images {
	struct table by_instance; /* -> struct heap_image, owned */
	struct table by_pid;      /* pid + 1 -> the latest one of that process */
};

void heap_images_deinit(struct heap_images *images);

/* That INSTANCE, or NULL. */
struct heap_image *heap_images_get(const struct heap_images *images, uint32_t instance);

/* The image of P, made if it is not known; or NULL: no memory. */
struct heap_image *heap_images_add(struct heap_images *images, const struct memory_process *p);

/* Takes IMAGE out and frees it. */
void heap_images_remove(struct heap_images *images, struct heap_image *image);

/*
 * Appends to RET, as struct heap_image *, those that have ended and wait for no earlier one of
 * their process but such as are in RET, too; in the order of instances. Returns 0 or -ENOMEM.
 */
int heap_images_ended(const struct heap_images *images, struct outbuf *ret);

/*
 * For an image that no longer runs and whose end was not reported: reports an end with what is
 * known.
 */
void memory_image_end_untold(struct heap_image *image);
