/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A close() that never waits, for the thread of the main loop.
 *
 * close() asks the file system (flush) even where others still have the file open: of a file on FUSE or NFS whose server does not answer it never
 * returns, and no signal ends that. Anybody may send us such a descriptor with any message, also where no method takes one, and it is
 * sd-bus that closes those. So this defines close() itself, which libsystemd calls like everybody else. Where it is the main loop that closes,
 * and the file is of a kind that may wait, the descriptor is left to a thread, one for each file system: a server that hangs holds up what was on
 * it, and nothing else. In all other threads it is the system call and no more.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/file-kind.h"

enum {
	CLOSER_THREADS_MAX =
		64, /* at once; beyond that descriptors stay open until one of them is free */
	CLOSER_WAITING_MAX = 16, /* of one file system that does not get on */
	CLOSER_QUEUED_MAX = 256, /* of one that does */
};

/* A file system does not get on when one close() takes that long. */
#define CLOSER_PATIENCE_NS UINT64_C(1000000000)

/* From here on this thread waits for no close(). */
void closer_begin(void);

/*
 * How many descriptors of KIND's file system are being closed, or wait for it, if these are too many to take more from there;
 * else 0.
 */
size_t closer_crowd(const struct file_kind *kind);
