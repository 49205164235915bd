/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Calls with more arguments in memory than a record has texts for, such as select(): the memory of
 * all these arguments is packed into one text (CALL_PACK_* in bpf/record-calls.h). Only calls.bpf.c
 * includes this file.
 *
 * Each step of the loop begins the memory of an argument, or copies a piece of it.
 */
#pragma once

#include "bpf/context.bpf.h"
#include "bpf/record.h"

#define PACK_STEPS_MAX (CALL_MEMORIES_MAX + CALL_TEXT_BYTES / CALL_PACK_PIECE * 2)

struct call_pack {
	struct call_text *to;
	const struct call_watch *f;
	const struct call_pack_args *args;
	__u64 from;          /* the next byte to copy */
	__u32 left;          /* number of bytes that are not copied yet */
	__u32 used, size_at; /* size_at: position of the size of the current memory */
	__u32 i, n;
};

static __always_inline void pack_put_size(struct call_pack *p, __s32 size)
{
	__u32 at = p->size_at;

	if (at <= CALL_PACK_BYTES)
		bpf_probe_read_kernel(p->to->text + at, sizeof(size), &size);
}

/*
 * Marks the current memory as unreadable or missing (size -1), and removes its bytes from the copy.
 */
static __always_inline void pack_drop(struct call_pack *p)
{
	p->left = 0;
	p->used = p->size_at + sizeof(__s32);
	pack_put_size(p, -1);
}

static __always_inline __u32 pack_bytes(const struct call_pack *p, const struct call_memory *m)
{
	__u64 n = m->count ?: p->args->args[m->count_arg & (CALL_ARGUMENTS - 1)];
	__u64 max = p->f->pack_max[p->i & (CALL_MEMORIES_MAX - 1)];

	/* (a count that large is an error of the caller, and its lower half can be negative) */
	if (n > CALL_PENDING_STRING / CALL_TEXT_BYTES)
		return 0;
	n = m->kind == CALL_MEMORY_BITS ? (n + 7) / 8 : n * (m->unit ?: 1);
	return n < max ? n : max;
}

/* Copies the address and the size of a signal mask; the mask itself follows as the next piece. */
static __always_inline void pack_begin_mask(struct call_pack *p, __u64 from)
{
	__u64 pair[2] = { 0, 0 };
	__u32 used = p->used;

	/* (otherwise the compiler compares the value from before the last addition) */
	barrier_var(used);
	if (used > CALL_PACK_BYTES ||
	    bpf_probe_read_user(pair, sizeof(pair), (const void *)from) < 0) {
		pack_drop(p);
		return;
	}
	bpf_probe_read_kernel(p->to->text + used, sizeof(pair), pair);
	p->used = used + sizeof(pair);
	p->from = pair[0];
	p->left = pair[0] ? CALL_PACK_MASK_BYTES - sizeof(pair) : 0;
	pack_put_size(p, (__s32)(sizeof(pair) + p->left));
}

/* Returns false at the end. */
static __always_inline bool pack_begin(struct call_pack *p)
{
	const struct call_memory *m = &p->f->texts[p->i & (CALL_MEMORIES_MAX - 1)];
	__u64 from;

	if (p->i >= p->n || p->used > CALL_PACK_BYTES)
		return false;
	from = p->args->args[m->arg & (CALL_ARGUMENTS - 1)];
	p->size_at = p->used;
	p->used += sizeof(__s32);
	if (!from) {
		pack_drop(p);
	} else if (m->kind == CALL_MEMORY_MASK) {
		pack_begin_mask(p, from);
	} else {
		p->from = from;
		p->left = pack_bytes(p, m);
		pack_put_size(p, (__s32)p->left);
	}
	p->i++;
	return true;
}

static long pack_step(__u64 step, struct call_pack *p)
{
	__u32 used = p->used;
	__u64 n;

	if (!p->left)
		return !pack_begin(p);
	n = p->left < CALL_PACK_PIECE ? p->left : CALL_PACK_PIECE;
	barrier_var(n);
	if (used > CALL_PACK_BYTES || n > CALL_PACK_PIECE)
		return 1;
	if (bpf_probe_read_user(p->to->text + used, n, (const void *)p->from) < 0) {
		pack_drop(p);
		return 0;
	}
	p->used = used + n;
	p->from += n;
	p->left -= n;
	return 0;
}

/* Copies the memory of the first N arguments of F that are in memory. */
__noinline bool call_pack(struct call_text *to, const struct call_pack_args *args,
			  const struct call_watch *f, __u32 n)
{
	struct call_pack p = { .to = to, .f = f, .args = args, .n = n };

	if (!to || !args || !f)
		return false;
	to->cut = 0;
	bpf_loop(PACK_STEPS_MAX, pack_step, &p, 0);
	to->bytes = (__s32)p.used;
	return true;
}
