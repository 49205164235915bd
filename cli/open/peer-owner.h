/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose the other end of a TCP connection on this machine is. The kernel says that of UNIX sockets
 * (SO_PEERCRED) but not of these; /proc/net/tcp and tcp6 list all sockets of this network namespace
 * with their owners.
 */
#pragma once

#include <netinet/in.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * The owner of the other end of the connected IPv4 socket FD. Returns 0; -ENOENT if no socket of
 * this network namespace is the other end; -EOVERFLOW if this user namespace cannot tell users that
 * it does not know from the one who asks; or another negative errno if the lists cannot be read.
 */
int peer_owner(int fd, uid_t *ret);

/*
 * Looks in TABLE, which has the format of /proc/net/tcp or tcp6, for the socket that is bound to
 * FROM and connected to TO. Sockets without an inode do not count: nobody holds them any more, and
 * their owner is given as 0. Returns 0, -ENOENT or another negative errno.
 */
int peer_owner_find(FILE *table, const struct sockaddr_in *from, const struct sockaddr_in *to,
		    uid_t *ret);
