/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Direct connections: sockets of clients without a bus between client and service.
 *
 * The queue of such a socket can contain descriptors. The last close() of the socket closes these,
 * too, and can hang. So this module keeps a duplicate of the socket, and closes the duplicate like
 * a descriptor from a client (async-close.h). Only the main thread calls these functions.
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
 * bus, and belong to UID. The caller can close FD at any time. Returns the duplicate, by which the
 * next two functions know the socket, or a negative errno.
 */
int direct_sockets_add(int fd, uid_t uid);

/*
 * To be called when the socket with the duplicate KEPT was closed, before its number is used again.
 */
void direct_sockets_end(int kept);

/*
 * Ends the connection, and closes the duplicate KEPT. The caller has already closed the socket
 * itself.
 */
void direct_sockets_remove(int kept);

/*
 * Returns the owner of the descriptors from FD (base/foreign-fds.h); FOREIGN_FD_OWN if FD is no
 * direct connection.
 */
uint64_t direct_sockets_owner(int fd);
