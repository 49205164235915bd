/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The socket that programs connect to, and the doorbell that wakes programs which wait for a
 * recorder (docs/architecture/providers.md). Only one process of a machine can have the socket and
 * the doorbell: it holds a lock on the file PROVIDER_LOCK, which the kernel releases when the
 * process ends in any way. So a socket without a lock is left from a killed process, and is
 * replaced. The file has the name and the id of the process.
 */
#pragma once

#include "base/value.h"

/* Owners of the socket. */
#define PROVIDER_OWNER_SERVICE "kymod"
#define PROVIDER_OWNER_DIRECT  "kymo"

struct provider_socket {
	int dir_fd, lock_fd;
	int fd; /* listens; the caller accepts connections */
};

/*
 * Makes the socket in the directory of programs: $KYMO_PROVIDER_DIR or /run/kymo, which is made if
 * needed. Wakes the programs that wait. OWNER is the name of this process, "kymod" or another.
 * Returns 0, or a negative errno with a sentence in WHY: -EADDRINUSE if another process has the
 * socket.
 */
int provider_socket_open(struct provider_socket *ret, const char *owner,
			 char why[static VALUE_WHY_MAX]);

/* Wakes the programs that wait for a recorder. Returns 0 or a negative errno. */
int provider_socket_ring(struct provider_socket *s);

/* Removes the socket, and releases the lock. */
void provider_socket_close(struct provider_socket *s);
