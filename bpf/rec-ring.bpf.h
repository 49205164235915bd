/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * BPF ring buffers for `struct rec_*` (bpf/record.h): one per CPU for each class that uses them.
 * eBPF programs can write to these buffers in any context.
 */
#pragma once

#include "bpf/context.bpf.h"
#include "bpf/doorbell.bpf.h"
#include "bpf/record.h"

struct rec_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536); /* placeholder: user space creates the real rings */
};

/* The index is REC_RING_* times the number of CPUs, plus the CPU. */
struct rec_rings {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__array(values, struct rec_ring);
};

struct rec_states {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, REC_RINGS);
	__type(key, __u32);
	__type(value, struct rec_state);
};

extern struct rec_rings rec_rings SEC(".maps");
extern struct rec_states rec_states SEC(".maps");

extern const volatile __u32 possible_cpus;
extern const volatile __u64 rec_ring_bytes[REC_RINGS]; /* size of each ring, a power of two */

/* Returns P's process and thread as one number. */
static __always_inline __u64 rec_who(struct task_struct *p)
{
	return (__u64)process_id(p) << 32 | (__u32)p->pid;
}

static __always_inline void rec_fill_head_of(struct rec_head *h, __u64 now_ns, __u16 kind,
					     __u32 size, __u64 who)
{
	h->ts_ns = now_ns;
	h->size = size;
	h->kind = kind;
	h->cpu = bpf_get_smp_processor_id();
	h->pid = (__u32)(who >> 32);
	h->tid = (__u32)who;
}

static __always_inline void rec_fill_head(struct rec_head *h, __u64 now_ns, __u16 kind, __u32 size,
					  struct task_struct *p)
{
	rec_fill_head_of(h, now_ns, kind, size, rec_who(p));
}

/* The count is atomic, because an interrupt here can count, too. */
static __always_inline void rec_count_lost(struct rec_state *state, __u64 now_ns)
{
	if (__sync_fetch_and_add(&state->lost_count, 1) == 0)
		state->lost_first_ns = now_ns;
	state->lost_last_ns = now_ns;
}

/* Counts a lost record of RING. */
static __always_inline void rec_lose(__u32 ring, __u64 now_ns)
{
	struct rec_state *state = bpf_map_lookup_elem(&rec_states, &ring);

	if (state)
		rec_count_lost(state, now_ns);
}

/*
 * Returns this CPU's BPF ring buffer RING. After a loss, first writes a record of the loss. If the
 * ring is full, counts a lost record and returns NULL. STATE is the state of the ring.
 */
static __always_inline void *rec_open(__u32 ring, struct rec_state *state, __u64 now_ns)
{
	__u32 cpu = bpf_get_smp_processor_id(), at = ring * possible_cpus + cpu;
	void *buffer = bpf_map_lookup_elem(&rec_rings, &at);
	struct rec_lost *mark;

	if (!buffer || !state->lost_count)
		return buffer;
	mark = bpf_ringbuf_reserve(buffer, sizeof(*mark), 0);
	if (!mark) {
		rec_count_lost(state, now_ns);
		return NULL;
	}
	mark->head.ts_ns = state->lost_first_ns;
	mark->head.size = sizeof(*mark);
	mark->head.kind = REC_LOST;
	mark->head.cpu = cpu;
	mark->head.pid = mark->head.tid = 0;
	mark->first_ns = state->lost_first_ns;
	mark->last_ns = state->lost_last_ns;
	mark->ring = ring;
	mark->pad_0 = 0;
	mark->count = __sync_lock_test_and_set(&state->lost_count, 0);
	if (mark->count)
		bpf_ringbuf_submit(mark, BPF_RB_NO_WAKEUP);
	else /* a program that has interrupted this one has already recorded the loss */
		bpf_ringbuf_discard(mark, BPF_RB_NO_WAKEUP);
	return buffer;
}

static __always_inline void rec_count_bytes(__u32 ring, struct rec_state *state, __u64 size)
{
	state->bytes += size;
	doorbell_on_quarter(state->bytes - size, state->bytes, rec_ring_bytes[ring] / 4);
}

/*
 * Reserves SIZE bytes in this CPU's RING. After a loss, first writes a record of the loss. If the
 * ring is full, counts a lost record and returns NULL.
 */
static __always_inline void *rec_reserve(__u32 ring, __u64 size, __u64 now_ns)
{
	__u32 key = ring; /* a copy, since the verifier forgets variables whose address is taken */
	struct rec_state *state = bpf_map_lookup_elem(&rec_states, &key);
	void *buffer = state ? rec_open(ring, state, now_ns) : NULL, *rec;

	if (!buffer)
		return NULL;
	rec = bpf_ringbuf_reserve(buffer, size, 0);
	if (!rec) {
		rec_count_lost(state, now_ns);
		return NULL;
	}
	rec_count_bytes(ring, state, size);
	return rec;
}

/*
 * Like rec_reserve(), for dispensable records. These may only use 1/2^SHARE of the ring: if more of
 * the ring is in use, returns NULL and counts nothing.
 */
static __always_inline void *rec_reserve_spare(__u32 ring, __u64 size, __u32 share, __u64 now_ns)
{
	__u32 key = ring;
	struct rec_state *state = bpf_map_lookup_elem(&rec_states, &key);
	void *buffer = state ? rec_open(ring, state, now_ns) : NULL, *rec;

	if (!buffer ||
	    bpf_ringbuf_query(buffer, BPF_RB_AVAIL_DATA) + size > rec_ring_bytes[ring] >> share)
		return NULL;
	rec = bpf_ringbuf_reserve(buffer, size, 0);
	if (rec)
		rec_count_bytes(ring, state, size);
	return rec;
}

/*
 * Copies the SIZE bytes at REC into this CPU's RING. SIZE need not be constant. If the ring is
 * full, counts a lost record and returns false.
 */
static __always_inline bool rec_output(__u32 ring, void *rec, __u64 size, __u64 now_ns)
{
	__u32 key = ring;
	struct rec_state *state = bpf_map_lookup_elem(&rec_states, &key);
	void *buffer = state ? rec_open(ring, state, now_ns) : NULL;

	if (!buffer)
		return false;
	if (bpf_ringbuf_output(buffer, rec, size, BPF_RB_NO_WAKEUP) < 0) {
		rec_count_lost(state, now_ns);
		return false;
	}
	rec_count_bytes(ring, state, size);
	return true;
}
