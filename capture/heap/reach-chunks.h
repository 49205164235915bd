/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory in [heap] that is not glibc's own.
 *
 * The chunks of glibc's malloc() follow each other, with their sizes. If the program calls sbrk()
 * itself, glibc ends its chunks with two empty ones, and begins again behind the program's memory.
 * Chunks count as glibc's own if they lead from the chunk of a known block, or from the beginning
 * of the heap, exactly to the chunk of a known block, to such an end, or to the end of the heap.
 * Each chunk also says whether the chunk before it is used, and if not, its size. This must agree
 * with the chunk before, since memory of the program behind a chunk can have a word that looks like
 * a size.
 */
#pragma once

#include "base/outbuf.h"
#include "capture/heap/block-index.h"
#include "capture/heap/reach-memory.h"
#include "capture/heap/reach-roots.h"

struct reach_foreign {
	uint64_t from, to;
};

/*
 * Appends the parts of HEAP that are not glibc's own, by address (struct reach_foreign). These
 * parts can contain known blocks. With another allocator, the whole HEAP is such a part. Returns 0;
 * -ETIME after the deadline of M; or another negative errno.
 */
int reach_chunks_find_foreign(struct reach_memory *m, const struct block_index *index,
			      const struct root *heap, struct outbuf *foreign);
