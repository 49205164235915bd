/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The producer's side of a word ring (bpf/record.h).
 *
 * A ring has one producer at any time, since the eBPF programs that write to the ring on its CPU
 * never interrupt each other. So there are no locks and no reserve calls. A comment at each eBPF
 * program says why this holds.
 */
#pragma once

#include "bpf/doorbell.bpf.h"
#include "bpf/record.h"
#include "writer/fxt/fxt-wire.h"

/* A reserved record: its room, and the position of the ring after it. */
struct reservation {
	struct word_ring *ring;
	__u64 *words;
	__u64 before, after;
};

/*
 * SIZE is the size of the ring, in all functions here: a power of two that is constant for the
 * verifier.
 */
static __always_inline __u64 *ring_at(struct word_ring *ring, __u64 size, __u64 position)
{
	return (__u64 *)(ring->bytes + (position & (size - 1)));
}

static __always_inline void ring_count_lost(struct word_ring *ring, __u64 now_ns)
{
	if (ring->lost_count++ == 0)
		ring->lost_first_ns = now_ns;
	ring->lost_last_ns = now_ns;
}

/*
 * Reserves BYTES. After a loss, also reserves a mark (struct ring_lost) before these bytes.
 * *RET_MARK is then this mark, in which the caller can set the running thread. If the ring is full,
 * counts a lost record and returns false.
 */
static __always_inline bool ring_reserve(struct reservation *r, struct word_ring *ring, __u64 size,
					 __u32 bytes, __u64 now_ns, struct ring_lost **ret_mark)
{
	__u64 head, room;

	head = ring->head;
	room = size - (head - *(volatile __u64 *)&ring->tail);
	r->ring = ring;
	r->before = head;
	if (__builtin_expect(ring->lost_count != 0, 0)) {
		struct ring_lost *mark = (struct ring_lost *)ring_at(ring, size, head);

		if (room < bytes + sizeof(*mark)) {
			ring_count_lost(ring, now_ns);
			return false;
		}
		mark->header = fxt_put_record_type(RING_RECORD_CONTROL) |
			       fxt_put_record_words(sizeof(*mark) / sizeof(__u64));
		mark->first_ns = ring->lost_first_ns;
		mark->last_ns = ring->lost_last_ns;
		mark->count = ring->lost_count;
		mark->tid = 0;
		mark->prio = 0;
		*ret_mark = mark;
		ring->lost_count = 0;
		head += sizeof(*mark);
	} else if (room < bytes) {
		ring_count_lost(ring, now_ns);
		return false;
	}
	r->words = ring_at(ring, size, head);
	r->after = head + bytes;
	return true;
}

/* Publishes the record to user space. */
static __always_inline void ring_commit(const struct reservation *r, __u64 size)
{
#if defined(__TARGET_ARCH_x86)
	/* x86 does not reorder stores. The barrier keeps the compiler from reordering them. */
	barrier();
	*(volatile __u64 *)&r->ring->head = r->after;
#else
	/* An exchange, which is fully ordered even when its result is not used. */
	__sync_lock_test_and_set(&r->ring->head, r->after);
#endif
	doorbell_on_quarter(r->before, r->after, size / 4);
}
