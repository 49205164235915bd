/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Direct connections: sockets of clients without a bus between client and service.
 *
 * The queue of such a socket can have descriptors in it, which the last close() of the socket
 * closes. So this module keeps a duplicate of the socket, and closes it like a descriptor from a
 * client (async-close.h). Only the main thread calls these functions.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

enum {
	DIRECT_SOCKETS_MAX = 16,
	/* Maximum size of a message from such a socket; a larger one ends the connection. */
	DIRECT_MESSAGE_BYTES = 256 << 10,
};

/*
 * From now on, descriptors that are received from the socket FD are treated like those from the
 * bus, and belong to UID. The caller can close FD at any time. Returns the duplicate, which the
 * next functions need, or a negative errno.
 */
int direct_sockets_add(int fd, uid_t uid);

/* To be called when FD was closed, before its number is used again. */
void direct_sockets_end(int kept);

/* Ends the connection, and closes the duplicate KEPT. The caller has closed FD. */
void direct_sockets_remove(int kept);

/*
 * Returns the owner of the descriptors from FD (base/foreign-fds.h); FOREIGN_FD_OWN if FD is no
 * direct connection.
 */
uint64_t direct_sockets_owner(int fd);
