/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of stacks that are in use.
 *
 * The C library keeps the stacks of ended threads for new threads, up to 40 MiB. Their old words
 * are no references.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/record.h"
#include "capture/heap/reach-roots.h"

struct reach_stacks {
	pid_t task;                          /* a live task of the process */
	const struct rec_registers *threads; /* borrowed */
	size_t n_threads;
	const uint64_t *ended; /* the thread pointers of ended threads; borrowed */
	size_t n_ended;
};

/* Whether a running thread has its stack pointer or its thread pointer in ROOT. */
bool reach_stacks_has_thread(const struct reach_stacks *s, const struct root *root);

/*
 * The beginning of the used part of root I of ROOTS, which are in order. In the stack of a running
 * thread, it is at the stack pointer: this is the stack that the kernel made for the process, or a
 * mapping used by one thread, with its thread-local memory at the top. In the stack of an ended
 * thread, it is at the thread pointer. Other mappings can contain anything.
 */
uint64_t reach_stacks_begin(const struct reach_stacks *s, const struct root *roots, size_t i);
