/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The known images: programs in processes, from their first report until all their records are
 * written. The images of one process are in a list, since they are reported in order. So no
 * function searches all images for them.
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
	/*
	 * A copy of the entry in the eBPF programs' tables, made when the image ended or its watch
	 * was stopped.
	 */
	struct memory_process process;
	struct heap_image *earlier, *later; /* previous and next image of the same process */
	bool announced;                     /* struct rec_watch has been sent */
	bool complete;                      /* see struct rec_watch */
	/* The image has ended, and `process` has the time of its end. */
	bool ended;
	/* Not watched, since a table of the eBPF programs was full. */
	bool refused;
	uint32_t gap;                    /* WATCHED_GAP_* */
	uint64_t gap_from_ns, gap_to_ns; /* begin and end of a gap WATCHED_GAP_LOADED */
	/* The image has ended, and its report is being written. */
	bool goes;
	/* The image is part of the snapshot of a running session. */
	bool lives;
	uint64_t n_blocks;         /* number of its blocks, by the last count */
	uint64_t n_stacks;         /* number of its stacks, by the last count */
	struct reach_block *reach; /* the result of capture/heap/heap-trace-reach.h; owned */
	size_t n_reach;
	uint32_t unsearched; /* WATCHED_UNSEARCHED_*, by the last search */
	/* The last search had a result; `held`: the image was held at its end meanwhile. */
	bool searched, held;
	/*
	 * Results of the last check of the image's files while it ran. `covered`: one of the files
	 * is an allocator with probes. `settled`: the program had loaded its initial libraries.
	 * Unless `covered` is set, `unwatched` has the reason.
	 */
	bool covered, settled;
	uint64_t probed_ns;   /* time at which the last allocator of the image got its probes */
	uint64_t examined_ns; /* begin of the last complete check of its files; 0 = none */
	uint64_t n_allocated; /* number of its stacks with allocations, counted at its end */
	char allocators[MEMORY_TEXT_BYTES];
	char unwatched[MEMORY_REASON_BYTES];
};

struct heap_images {
	struct table by_instance; /* -> struct heap_image, owned */
	struct table by_pid;      /* pid + 1 -> the latest image of that process */
};

void heap_images_deinit(struct heap_images *images);

/* Returns the image INSTANCE, or NULL. */
struct heap_image *heap_images_get(const struct heap_images *images, uint32_t instance);

/* Returns the image of P, created if it is unknown; or NULL if there is no memory. */
struct heap_image *heap_images_add(struct heap_images *images, const struct memory_process *p);

/* Removes and frees IMAGE. */
void heap_images_remove(struct heap_images *images, struct heap_image *image);

/*
 * Appends the ended images to RET, as struct heap_image *, in the order of instances. An image is
 * included only if all earlier images of its process have ended, too. Returns 0 or -ENOMEM.
 */
int heap_images_ended(const struct heap_images *images, struct outbuf *ret);

/* Notes that allocations and frees of IMAGE can be missing, because of GAP (WATCHED_GAP_*). */
void memory_image_add_gap(struct heap_image *image, uint32_t gap);

/* Notes a gap if some FUNCTIONS (bits 1 << MEMORY_FN_*) of IMAGE lack probes. */
void memory_image_note_missing(struct heap_image *image, uint32_t functions);

/*
 * Notes the result of a check of the files of IMAGE: the last of its allocators got its probes at
 * PROBED_NS. A new allocator was mapped after MAPPED_NS. If the program had loaded its initial
 * libraries before, it can have allocated blocks from the new allocator while that had no probes,
 * which is a gap.
 */
void memory_image_note_probed(struct heap_image *image, uint64_t probed_ns, uint64_t mapped_ns);

/*
 * Returns the gap that the report of IMAGE must have, after its end. An exec frees all blocks of
 * its program. So if a program has called exec, missing data about the time before its probes is no
 * gap, but the watch is not complete. Most of these programs (env, nice) live for a millisecond, so
 * a check sees their files only by chance.
 */
uint32_t memory_image_gap(const struct heap_image *image);

/* Returns the result for the block of IMAGE at ADDRESS that was made at BIRTH_NS: `enum reach`. */
uint32_t memory_image_reach_of(const struct heap_image *image, uint64_t address, uint64_t birth_ns);

/* Drops the result of the last search. */
void memory_image_forget_reach(struct heap_image *image);

/*
 * Marks IMAGE as ended, although its end was not reported, since it no longer runs. Keeps the known
 * data.
 */
void memory_image_end_unreported(struct heap_image *image);
