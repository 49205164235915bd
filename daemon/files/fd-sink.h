/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receives messages with descriptors that this process must not get.
 *
 * A descriptor in a socket's queue is attached to bytes that the bus library needs. A process that
 * receives these bytes gets the descriptor, and must close it, which can hang forever
 * (async-close.h). So another process, the sink, receives the message, keeps the descriptors, and
 * passes the bytes on. When the sink has many descriptors, or has received nothing for a second, it
 * exits, and a new sink takes its place. If its exit hangs, only the sink's own table of
 * descriptors remains.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	FD_SINK_BYTES = 64, /* maximum number of bytes per call */
	/* Maximum number of sinks that are exiting; if there are more, no sink is available. */
	FD_SINKS_MAX = 16,
};

/*
 * Starts the process that starts sinks for SOCKET. Call this in the main thread, since the
 * processes end with this thread. There must be no other thread, and no descriptor from a client.
 * Returns 0 or a negative errno.
 */
int fd_sink_begin(int socket);

/*
 * Receives N bytes (at most FD_SINK_BYTES) that are in the socket's queue. Returns the number of
 * bytes in DATA, and the number of their descriptors in *RET_N_FDS. Returns -EAGAIN if no sink is
 * available: then nothing was received. After another negative errno, it is unknown whether
 * anything was received.
 */
ssize_t fd_sink_receive(uint8_t *data, size_t n, unsigned *ret_n_fds);
