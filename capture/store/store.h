/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The destination of a recording's chunks. A chunk is a complete archive in three parts:
 *
 *   head    identities, mappings and running threads when the chunk begins
 *   body    the events; several writes
 *   tail    the end
 *
 * A recording without splits is one chunk. Chunks are contiguous: the head of a chunk begins at the
 * moment when the tail of the previous chunk ends. A body refers to nothing in a head except its
 * fixed names. So one head, the bodies of consecutive chunks, and one tail are an archive, too.
 *
 * All functions are called by the thread of the output (capture/store/output.h) and can take long.
 */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "capture/sandbox/thread-identity.h"

enum store_part { STORE_HEAD, STORE_BODY, STORE_TAIL };

/* A moment between two chunks, on both clocks. */
struct store_moment {
	uint64_t boot_ns, real_ns; /* CLOCK_BOOTTIME, CLOCK_REALTIME */
};

struct store;

/* Returns the number of bytes in whole records among the first N bytes at DATA. */
typedef size_t (*store_whole_fn)(const uint8_t *data, size_t n);

struct store_ops {
	/* Begins a chunk. Returns 0 or a negative errno. */
	int (*begin)(struct store *s, const struct store_moment *at);
	/*
	 * Writes whole records, or whole packed blocks of them. *RET_KEPT is the number of written
	 * bytes that stay, also on failure: those that are whole according to WHOLE. Returns 0,
	 * -ECANCELED if it was cancelled, or a negative errno.
	 */
	int (*write)(struct store *s, enum store_part part, const uint8_t *data, size_t size,
		     store_whole_fn whole, size_t *ret_kept);
	/* Ends the chunk, which is complete. Returns 0 or a negative errno. */
	int (*end)(struct store *s, const struct store_moment *at);
	/* For any thread. Ends a wait in write(), now and later. */
	void (*cancel)(struct store *s);
	void (*free)(struct store *s);
};

struct store {
	const struct store_ops *ops;
	/*
	 * The owner of the file. If the thread that calls these functions hangs, the hanging thread
	 * is counted for this user.
	 */
	struct thread_identity writer;
};

static inline struct store *store_free(struct store *s)
{
	if (s)
		s->ops->free(s);
	return NULL;
}

DEFINE_CLEANUP(struct store *, store_free)

/*
 * Makes a store that writes all chunks (usually only one) in sequence to one file, pipe or socket.
 * On success, takes ownership of FD. Returns 0, -EBADF if FD is not open for writing, -EINVAL if it
 * is neither a regular file nor a pipe, FIFO, socket or character device, or another errno. This
 * does not wait for the file system. begin() can wait, and fails with STORE_OF_KERNEL if FD is a
 * file that controls the kernel.
 */
int store_fd_new(int fd, struct store **ret);

#define STORE_OF_KERNEL (-EMEDIUMTYPE)

/* Returns the message for an error of these functions. */
const char *store_strerror(int error);
