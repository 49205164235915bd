/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes descriptors off a socket that nobody is to have here.
 *
 * A descriptor that waits in a socket's queue comes with bytes, which the bus library needs.
 * Whoever receives those has it in his table, or lets go of it, which can take for ever
 * (async-close.h). So another process receives them, the sink, and hands on the bytes. It keeps
 * what it gets; when it has much, or has got nothing for a second, it ends, and the next one takes
 * its place. An end that hangs keeps nothing but the table of descriptors of that process.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	FD_SINK_BYTES = 64, /* at once, at most */
	FD_SINKS_MAX = 16,  /* that may be ending; then there is none */
};

/*
 * Starts what starts sinks for SOCKET, by the main thread, with which they end. There must be no
 * other thread, and no descriptor of others. Returns 0 or a negative errno.
 */
int fd_sink_begin(int socket);

/*
 * Has N bytes (or FD_SINK_BYTES, if N is more) received, which are in the socket's queue. Returns
 * how many were, in DATA, and how many descriptors came with them in *RET_N_FDS; -EAGAIN if there
 * is no sink now, and nothing was received; or another negative errno, when nobody knows that.
 */
ssize_t fd_sink_receive(uint8_t *data, size_t n, unsigned *ret_n_fds);
