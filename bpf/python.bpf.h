/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Adds the functions of Python to walked stacks (docs/architecture/python.md).
 */
#pragma once

#include "bpf/context.bpf.h"
#include "bpf/record.h"
#include "bpf/walk.bpf.h"

/*
 * A walk of the current task has passed an interpreter, and has found the N frames in TO. Marks the
 * frames that execute Python, and appends the frames of Python. AT is a work area. Returns the new
 * number of frames.
 */
__u32 python_add_record(struct unwind_walk *at, struct rec_stack *to, __u32 n, __u64 now_ns);
__u32 python_add_memory(struct unwind_walk *at, struct memory_stack *to, __u32 n, __u64 now_ns);

/*
 * Adds the frames of Python if the walk has passed an interpreter (WALKED->python) and has not
 * stopped. The result is like that of a walk.
 */
static __always_inline __u32 python_add_if_any(struct unwind_walk *walked, struct rec_stack *to,
					       __u32 n, __u64 now_ns)
{
	if (!walked->python || walked->ip || n > STACK_FRAMES_MAX /* not walked */)
		return n;
	n = python_add_record(walked, to, n, now_ns);
	walked->ip = 0;
	return n;
}
