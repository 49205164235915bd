/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * What calls of functions (calls.bpf.c) share with moments (moments.bpf.c).
 */
#pragma once

#include "bpf/context.bpf.h"
#include "bpf/record.h"

/*
 * The id of the stack of the current task, in user space, which user space gets or has; 0 = it
 * could not be taken. (No inline function: the verifier looks at it once.)
 */
__u64 call_take_stack(void);

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

/* Whether VALUE, of which BITS count, is what OP says beside LIMIT. */
static __always_inline bool call_holds(__u64 value, __u32 bits, __u32 op, bool is_signed,
				       __u64 limit)
{
	__u32 shift = (64 - bits) & 63;

	value <<= shift;
	if (op == CALL_OP_AND)
		return (value >> shift & limit) != 0;
	if (!is_signed)
		return call_compare(op, value >> shift < limit, value >> shift == limit);
	/* (the sign of what is shifted up is that of the value) */
	return call_compare(op, (__s64)value < (__s64)(limit << shift), value == limit << shift);
}
