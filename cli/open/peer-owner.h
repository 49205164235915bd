/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the owner of the other end of a TCP connection on this machine. For UNIX sockets, the
 * kernel tells the owner (SO_PEERCRED). For TCP, /proc/net/tcp and tcp6 list all sockets of this
 * network namespace with their owners.
 */
#pragma once

#include <netinet/in.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * Gets the owner of the other end of FD, a connected IPv4 socket. Returns 0; -ENOENT if the other
 * end is not in this network namespace; -EOVERFLOW if the owner may be a user that this user
 * namespace does not map; or another negative errno if the lists cannot be read.
 */
int peer_owner(int fd, uid_t *ret);

/*
 * Searches TABLE, in the format of /proc/net/tcp or tcp6, for the socket that is bound to FROM and
 * connected to TO. Sockets without an inode are skipped: no process has such a socket open, so the
 * table shows 0 as the owner. Returns 0, -ENOENT or another negative errno.
 */
int peer_owner_find(FILE *table, const struct sockaddr_in *from, const struct sockaddr_in *to,
		    uid_t *ret);
