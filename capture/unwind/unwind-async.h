/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files whose file system may never answer: FUSE, which every user can mount, and network file
 * systems. Child processes open them (capture/proc/reader-process.h), for at most
 * UNWIND_ASYNC_OPEN_NS_MAX. Temporary threads wait for these processes, and read and close the
 * files, one thread for each file system. So a hanging thread delays only users of the same file
 * system.
 *
 * One thread may call these functions. If a thread hangs when the module is released, a few KiB and
 * the thread stay until the file system answers or no longer exists. Nothing waits for that thread.
 * The tables of files on such file systems are not cached.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record-unwind.h"
#include "capture/unwind/unwind-table.h"

enum {
	UNWIND_ASYNC_FILES_MAX = 64,  /* files of one session that wait or are in progress */
	UNWIND_ASYNC_THREADS_MAX = 8, /* threads of one session */
	UNWIND_ASYNC_ALL_MAX = 32,    /* threads of all sessions of this process */
};

/* Maximum time for opening a file; shorter while other requests hang (hang-limits.h). */
#define UNWIND_ASYNC_OPEN_NS_MAX UINT64_C(5000000000)

enum unwind_async_step { UNWIND_ASYNC_OPENED, UNWIND_ASYNC_READ };

struct unwind_async_file {
	struct unwind_ask ask;
	uint32_t device;  /* one file at a time is processed per device */
	uint32_t changes; /* for the caller */
	enum unwind_async_step step;
	int result; /* result of the step: 0 or a negative errno */
	int fd;     /* owned by this module while the file is open; otherwise -1 */
	struct unwind_table table;
};

struct unwind_async;

/*
 * Opens the file that the process of ASK has mapped. The caller checks that it is still the
 * requested file. Can block forever. Returns a descriptor or a negative errno.
 */
int unwind_open_mapped(const struct unwind_ask *ask);

/*
 * Makes DONE_FD, an eventfd that is copied, readable when a step is done. Returns 0 or a negative
 * errno.
 */
int unwind_async_new(int done_fd, struct unwind_async **ret);

/* Releases A. Returns NULL. */
struct unwind_async *unwind_async_free(struct unwind_async *a);

/*
 * Begins to open FILE (`ask`, `device` and `changes`). Returns 0, or -EAGAIN if too many files
 * wait.
 */
int unwind_async_open(struct unwind_async *a, const struct unwind_async_file *file);

/*
 * Begins to read FILE, which unwind_async_next() has returned as opened. If FILE is not WANTED,
 * closes it instead.
 */
void unwind_async_read(struct unwind_async *a, const struct unwind_async_file *file, bool wanted);

/* Gets the next file with a completed step. If the file was read, the caller owns the table. */
bool unwind_async_next(struct unwind_async *a, struct unwind_async_file *ret);

/* Returns true if any file waits, is in progress, or must be fetched. */
bool unwind_async_is_busy(struct unwind_async *a);
