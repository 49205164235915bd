/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of stacks that are not in use.
 *
 * The C library keeps the stacks of ended threads for new threads, up to 40 MiB. The old words in
 * these stacks do not count as references.
 *
 * glibc describes each stack at the thread pointer. Up to 2.41, the guard of a stack is a mapping
 * without permissions. From 2.42 on, it is a part of the mapping of the stack (MADV_GUARD_INSTALL),
 * and the kernel makes one mapping of neighbouring stacks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/outbuf.h"
#include "bpf/record.h"
#include "capture/heap/reach-roots.h"

struct reach_stacks {
	/* A live task of the process, through which its memory is read. */
	pid_t task;
	const struct rec_registers *threads; /* borrowed */
	size_t n_threads;
	const uint64_t *ended; /* the thread pointers of ended threads; borrowed */
	size_t n_ended;
};

/* Memory of one mapping, in whole words. */
struct reach_unused {
	uint64_t from, to;
	bool is_ended; /* stack of an ended thread, unless it contains blocks */
};

/*
 * Appends the unused parts of the N ROOTS, which are in order: struct reach_unused, by address,
 * without overlaps. The stack of a running thread is unused up to the stack pointer, if it is the
 * stack that the kernel made for the process, a stack with a description, or a mapping above a
 * guard that is used by one thread, with its thread-local memory at the top. The stack of an ended
 * thread is unused up to the thread pointer. Other mappings can contain anything. Returns 0 or a
 * negative errno.
 */
int reach_stacks_find_unused(const struct reach_stacks *s, const struct root *roots, size_t n,
			     struct outbuf *unused);
