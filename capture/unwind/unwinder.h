/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the unwind tables that the programs of a session ask for (bpf/unwind.h), in a thread of its
 * own: files are opened by what is mapped, so also those that were deleted or are of another mount
 * namespace, and parsed in a sandbox. File systems that may never answer have other threads
 * (capture/unwind/unwind-away.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "capture/unwind/unwind-maps.h"
#include "capture/unwind/unwind-resume.h"

struct unwinder;

/* Of all files that were asked for. */
struct unwinder_counts {
	uint64_t n_asked, n_tables;
	uint64_t n_cached;  /* of the tables: not parsed anew */
	uint64_t n_failed;  /* files that could not be read */
	uint64_t n_evicted; /* tables that had to go, for want of memory */
	uint64_t bytes;     /* of tables, now */
};

/*
 * Answers what is asked by way of MAPS, whose descriptors are copied, with tables of BYTES_MAX at
 * most. Returns 0 or a negative errno.
 */
int unwinder_new(const struct unwind_maps *maps, uint64_t bytes_max, struct unwinder **ret);

/* Lets go; the thread ends when it has done what it is at. Returns NULL. */
struct unwinder *unwinder_free(struct unwinder *u);

DEFINE_CLEANUP(struct unwinder *, unwinder_free)

/*
 * Waits until all that was asked for so far is answered, for TIMEOUT_NS at most. Returns whether it
 * is.
 */
bool unwinder_wait(struct unwinder *u, uint64_t timeout_ns);

struct unwinder_counts unwinder_counts(struct unwinder *u);

/* Walks on where a program could not (unwind_resume()). For any thread. */
struct unwind_resumed unwinder_resume(struct unwinder *u, const struct rec_piece *piece,
				      const void *stack, uint64_t frames[static STACK_FRAMES_MAX]);
