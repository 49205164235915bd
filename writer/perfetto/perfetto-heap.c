/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Perfetto takes the time of a dump as CLOCK_MONOTONIC_COARSE. The difference between this clock
 * and CLOCK_BOOTTIME changes when the machine is suspended, and many archives do not have it. So a
 * clock snapshot declares both clocks equal, which makes the times of dumps exact.
 *
 * Perfetto sorts the packets by their times, and then expects consecutive indexes. A dump can be
 * earlier than the one before, so packets have times of their own, in the order of writing.
 */
#include "writer/perfetto/perfetto-heap.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/protobuf.h"
#include "base/table.h"
#include "writer/perfetto/perfetto-wire.h"

/* For a heap with this name, Perfetto calls the flame graph "native heap profile". */
#define HEAP_NAME "libc.malloc"

enum { HEAP_PACKET_BYTES = 256 * 1024 };

struct perfetto_heap {
	struct table sums; /* hash of a process and a callstack -> its sums; owned */
	bool has_clock;
	uint64_t n_packets;
	uint64_t packet_ns; /* time of the last packet */

	/* the dump */
	uint32_t pid;
	uint64_t ts_ns, now_ns;
	struct outbuf samples;
};

int perfetto_heap_new(struct perfetto_heap **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

struct perfetto_heap *perfetto_heap_free(struct perfetto_heap *h)
{
	if (!h)
		return NULL;
	table_deinit_free(&h->sums);
	outbuf_deinit(&h->samples);
	return free_ptr(h);
}

static void perfetto_heap_add_clock(struct perfetto_heap *h, struct outbuf *to)
{
	static const uint64_t clocks[] = { BUILTIN_BOOTTIME, BUILTIN_MONOTONIC_COARSE };
	size_t packet = protobuf_begin(to, TRACE_PACKET), snapshot, clock;

	protobuf_add_u64(to, PACKET_TIMESTAMP, h->packet_ns);
	protobuf_add_u64(to, PACKET_SEQUENCE_ID, SEQUENCE_HEAP);
	snapshot = protobuf_begin(to, PACKET_CLOCK_SNAPSHOT);
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		clock = protobuf_begin(to, SNAPSHOT_CLOCKS);
		protobuf_add_u64(to, CLOCK_ID, clocks[i]);
		protobuf_add_u64(to, CLOCK_TIMESTAMP, h->packet_ns);
		protobuf_end(to, clock);
	}
	protobuf_add_u64(to, SNAPSHOT_PRIMARY, BUILTIN_BOOTTIME);
	protobuf_end(to, snapshot);
	protobuf_end(to, packet);
}

void perfetto_heap_flush(struct perfetto_heap *h, struct outbuf *interned, struct outbuf *to)
{
	size_t packet, profile, dump;

	if (h->samples.size == 0)
		return;
	if (h->now_ns > h->packet_ns)
		h->packet_ns = h->now_ns;
	if (!h->has_clock)
		perfetto_heap_add_clock(h, to);
	h->has_clock = true;
	packet = protobuf_begin(to, TRACE_PACKET);
	protobuf_add_u64(to, PACKET_TIMESTAMP, h->packet_ns);
	protobuf_add_u64(to, PACKET_SEQUENCE_ID, SEQUENCE_HEAP);
	if (h->n_packets == 0)
		protobuf_add_u64(to, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
	if (interned->size > 0)
		protobuf_add_bytes(to, PACKET_INTERNED_DATA, interned->data, interned->size);
	profile = protobuf_begin(to, PACKET_PROFILE);
	dump = protobuf_begin(to, PROFILE_DUMPS);
	protobuf_add_u64(to, DUMP_PID, h->pid);
	outbuf_append(to, h->samples.data, h->samples.size);
	protobuf_add_u64(to, DUMP_TIMESTAMP, h->ts_ns);
	protobuf_add_text(to, DUMP_HEAP_NAME, HEAP_NAME);
	protobuf_end(to, dump);
	protobuf_add_u64(to, PROFILE_INDEX, h->n_packets++);
	protobuf_end(to, profile);
	protobuf_end(to, packet);
	if (h->samples.error < 0 || interned->error < 0)
		to->error = -ENOMEM;
	outbuf_reset(&h->samples);
	outbuf_reset(interned);
}

int perfetto_heap_add(struct perfetto_heap *h, uint32_t pid, uint64_t ts_ns, uint64_t now_ns,
		      uint64_t callstack, const struct perfetto_heap_change *c,
		      struct outbuf *interned, struct outbuf *to)
{
	const uint64_t key[] = { pid, callstack };
	struct perfetto_heap_change *sum =
		table_make(&h->sums, table_hash(key, sizeof(key)), sizeof(*sum));
	size_t sample;

	if (!sum)
		return -ENOMEM;
	if (pid != h->pid || ts_ns != h->ts_ns || h->samples.size >= HEAP_PACKET_BYTES)
		perfetto_heap_flush(h, interned, to);
	h->pid = pid;
	h->ts_ns = ts_ns;
	h->now_ns = now_ns;
	sum->allocations += c->allocations;
	sum->allocated_bytes += c->allocated_bytes;
	sum->frees += c->frees;
	sum->freed_bytes += c->freed_bytes;
	sample = protobuf_begin(&h->samples, DUMP_SAMPLES);
	protobuf_add_u64(&h->samples, HEAP_CALLSTACK, callstack);
	protobuf_add_nonzero(&h->samples, HEAP_ALLOCATED, sum->allocated_bytes);
	protobuf_add_nonzero(&h->samples, HEAP_FREED, sum->freed_bytes);
	protobuf_add_nonzero(&h->samples, HEAP_ALLOC_COUNT, sum->allocations);
	protobuf_add_nonzero(&h->samples, HEAP_FREE_COUNT, sum->frees);
	protobuf_end(&h->samples, sample);
	return to->error < 0 ? -ENOMEM : 0;
}
