/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Allocations as Perfetto packets (ProfilePacket), from which Perfetto makes its heap flame graphs:
 * for each process and call stack, the sums of all allocations and of all frees up to a time.
 * Perfetto shows the differences between consecutive packets.
 */
#pragma once

#include <stdint.h>

#include "base/cleanup.h"
#include "base/outbuf.h"

/* Changes of the memory that one call stack has allocated. */
struct perfetto_heap_change {
	uint64_t allocations, allocated_bytes;
	uint64_t frees, freed_bytes;
};

struct perfetto_heap;

int perfetto_heap_new(struct perfetto_heap **ret);
struct perfetto_heap *perfetto_heap_free(struct perfetto_heap *h);
DEFINE_CLEANUP(struct perfetto_heap *, perfetto_heap_free)

/*
 * Adds the change C at TS_NS of process PID and CALLSTACK, an id in Perfetto's InternedData. NOW_NS
 * is the latest time so far. INTERNED is the InternedData that was not written yet. Changes of one
 * process and time collect in a packet. If C begins a new packet, the packet before is written to
 * TO with INTERNED, which is empty then. Returns 0 or -ENOMEM.
 */
int perfetto_heap_add(struct perfetto_heap *h, uint32_t pid, uint64_t ts_ns, uint64_t now_ns,
		      uint64_t callstack, const struct perfetto_heap_change *c,
		      struct outbuf *interned, struct outbuf *to);

/* Writes the last packet to TO with INTERNED, which is empty then. */
void perfetto_heap_flush(struct perfetto_heap *h, struct outbuf *interned, struct outbuf *to);
