/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Functions that calls of functions (calls.bpf.c) and moments (moments.bpf.c) share: their stacks
 * (call-stack.bpf.c) and conditions.
 */
#pragma once

#include "bpf/context.bpf.h"
#include "bpf/record.h"

/*
 * Walks the user stack of the current task, and ensures that user space has this stack. Returns the
 * id of the stack; 0 = failed. (Not inline, so the verifier checks it only once.)
 */
__u64 call_collect_stack(void);

static __always_inline bool call_compare(__u32 op, bool below, bool equal)
{
	switch (op) {
	case CALL_OP_EQ:
		return equal;
	case CALL_OP_NE:
		return !equal;
	case CALL_OP_LT:
		return below && !equal;
	case CALL_OP_LE:
		return below || equal;
	case CALL_OP_GT:
		return !below && !equal;
	default:
		return !below || equal;
	}
}

/* Returns true if OP holds between the lowest BITS of VALUE and LIMIT. */
static __always_inline bool call_holds(__u64 value, __u32 bits, __u32 op, bool is_signed,
				       __u64 limit)
{
	__u32 shift = (64 - bits) & 63;

	value <<= shift;
	if (op == CALL_OP_AND)
		return (value >> shift & limit) != 0;
	if (!is_signed)
		return call_compare(op, value >> shift < limit, value >> shift == limit);
	/* The shift moves the sign bit of the value to the top. */
	return call_compare(op, (__s64)value < (__s64)(limit << shift), value == limit << shift);
}
