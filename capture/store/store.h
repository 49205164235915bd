/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the chunks of a recording go. A chunk is an archive by itself, in three parts:
 *
 *	head	who is who, what is mapped and what runs at its first moment
 *	body	what happens; several writes
 *	tail	what closes it
 *
 * A recording that is never split is one chunk. Chunks join: the head of one begins at the moment
 * at which the tail of the one before ends, and a body refers to nothing that stands in a head but
 * its fixed names; so one head, the bodies of any chunks that follow each other, and one tail are
 * an archive, too.
 *
 * All functions are called by the thread of the output (capture/store/output.h) and may take their
 * time.
 */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "capture/sandbox/thread-identity.h"

enum store_part { STORE_HEAD, STORE_BODY, STORE_TAIL };

/* A moment at which chunks join, on both clocks. */
struct store_moment {
	uint64_t boot_ns, real_ns; /* CLOCK_BOOTTIME, CLOCK_REALTIME */
};

struct store;

/* How many of the first N bytes at DATA are whole. */
typedef size_t (*store_whole_fn)(const uint8_t *data, size_t n);

struct store_ops {
	/* A chunk begins. Returns 0 or a negative errno. */
	int (*begin)(struct store *s, const struct store_moment *at);
	/* Whole records, or whole packed blocks of them. *RET_KEPT bytes of them stay, also when it
	 * fails: as many as WHOLE says are whole of the first N bytes. Returns 0, -ECANCELED if it
	 * was called off, or a negative errno. */
	int (*write)(struct store *s, enum store_part part, const uint8_t *data, size_t size,
		     store_whole_fn whole, size_t *ret_kept);
	/* The chunk is complete. Returns 0 or a negative errno. */
	int (*end)(struct store *s, const struct store_moment *at);
	/* Any thread: ends a wait in write(), now and later. */
	void (*cancel)(struct store *s);
	void (*free)(struct store *s);
};

struct store {
	const struct store_ops *ops;
	/*
	 * Of the thread that calls its functions: the user at whose expense it hangs: the owner of
	 * the file.
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
 * One file, pipe or socket: all chunks behind each other, of which there should be one. Takes over
 * FD, only on success. Returns 0, -EBADF if FD is not open for writing, -EINVAL if it is neither a
 * regular file nor a pipe, FIFO, socket or character device, or another errno. This does not wait
 * for the file system; begin() may, and fails with STORE_OF_KERNEL if FD is a file by which the
 * kernel is commanded.
 */
int store_fd_new(int fd, struct store **ret);

#define STORE_OF_KERNEL (-EMEDIUMTYPE)

/* What an error of these functions means, in words. */
const char *store_strerror(int error);
