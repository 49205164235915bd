/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Allocations as Perfetto packets (ProfilePacket), the source of its heap flame graphs: for each
 * process and call stack, the sums of all allocations and of all frees up to a time. Perfetto shows
 * the differences to the packet before.
 */
#pragma once

#include <stdint.h>

#include "base/cleanup.h"
#include "base/outbuf.h"

/* Changes of the memory that is allocated with one call stack. */
struct perfetto_heap_change {
	uint64_t allocations, allocated_bytes;
	uint64_t frees, freed_bytes;
};

struct perfetto_heap;

int perfetto_heap_new(struct perfetto_heap **ret);
struct perfetto_heap *perfetto_heap_free(struct perfetto_heap *h);
DEFINE_CLEANUP(struct perfetto_heap *, perfetto_heap_free)

/*
 * Adds the change C of the process PID at TS_NS, for CALLSTACK, an id of Perfetto's InternedData.
 * NOW_NS is the latest time so far. INTERNED is the InternedData that is not written yet. Changes
 * of one process and time collect in a packet. The one before them is written to TO, with INTERNED,
 * which is then empty. Returns 0 or -ENOMEM.
 */
int perfetto_heap_add(struct perfetto_heap *h, uint32_t pid, uint64_t ts_ns, uint64_t now_ns,
		      uint64_t callstack, const struct perfetto_heap_change *c,
		      struct outbuf *interned, struct outbuf *to);

/* Writes the last packet to TO, with INTERNED. */
void perfetto_heap_flush(struct perfetto_heap *h, struct outbuf *interned, struct outbuf *to);
