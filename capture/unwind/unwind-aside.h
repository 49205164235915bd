/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A separate thread that makes one table at a time. This takes milliseconds, or seconds for a large
 * file. Meanwhile, other files are opened, and wait in their queue. Large files have another queue.
 * The files must be on file systems that answer.
 *
 * One thread may call these functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "capture/unwind/unwind-queue.h"
#include "capture/unwind/unwind-table.h"

struct unwind_aside;

struct unwind_aside_file {
	struct unwind_waiting file; /* the file whose table was made; its descriptor is closed */
	int result;                 /* as unwind_cache_make() returns it */
	uint64_t ns;                /* the time that it took */
	struct unwind_table table;
};

/*
 * Makes DONE_FD, an eventfd that is copied, readable when a table is made. Returns 0 or a negative
 * errno.
 */
int unwind_aside_new(int done_fd, struct unwind_aside **ret);

/* Releases A. If the thread is working, it ends by itself. Returns NULL. */
struct unwind_aside *unwind_aside_free(struct unwind_aside *a);
DEFINE_CLEANUP(struct unwind_aside *, unwind_aside_free)

/* Returns true if a table is being made, or was made and must be fetched. */
bool unwind_aside_is_busy(struct unwind_aside *a);

/*
 * Begins to make the table of FILE, which is open. A must not be busy. On success, takes the
 * descriptor of FILE and returns 0; otherwise returns a negative errno.
 */
int unwind_aside_begin(struct unwind_aside *a, const struct unwind_waiting *file);

/*
 * Gets the file whose table was made. Returns false if there is no such file. The caller owns the
 * table.
 */
bool unwind_aside_next(struct unwind_aside *a, struct unwind_aside_file *ret);
