/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/open/peer-owner.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"

enum {
	/*
	 * The number of attempts: a read of the list can miss a socket if others in its hash chain
	 * are closed meanwhile.
	 */
	ATTEMPTS = 3,
	ADDRESS_MAX = 48, /* size of "IPv6:PORT" in hexadecimal digits */
	UID_OVERFLOW = 65534,
};

/* Writes ADDRESS in the format of the lists: MAPPED into IPv6 (::ffff:a.b.c.d), or as IPv4. */
static void peer_owner_put_address(char *to, const struct sockaddr_in *address, bool mapped)
{
	char prefix[3 * 8 + 1] = "";

	/* Each 32 bits are a number in the byte order of this machine. */
	if (mapped)
		snprintf(prefix, sizeof(prefix), "%016d%08" PRIX32, 0, (uint32_t)htonl(0xffff));
	snprintf(to, ADDRESS_MAX, "%s%08" PRIX32 ":%04" PRIX16, prefix,
		 (uint32_t)address->sin_addr.s_addr, ntohs(address->sin_port));
}

struct tuple {
	char from[ADDRESS_MAX], to[ADDRESS_MAX];
};

static struct tuple peer_owner_make_tuple(const struct sockaddr_in *from,
					  const struct sockaddr_in *to, bool mapped)
{
	struct tuple t;

	peer_owner_put_address(t.from, from, mapped);
	peer_owner_put_address(t.to, to, mapped);
	return t;
}

int peer_owner_find(FILE *table, const struct sockaddr_in *from, const struct sockaddr_in *to,
		    uid_t *ret)
{
	const struct tuple plain = peer_owner_make_tuple(from, to, false),
			   mapped = peer_owner_make_tuple(from, to, true);
	_cleanup_free_ char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, table) >= 0) {
		char local[ADDRESS_MAX], remote[ADDRESS_MAX];
		uint64_t inode;
		uint32_t uid;

		if (sscanf(line, " %*[0-9]: %47s %47s %*s %*s %*s %*s %" SCNu32 " %*s %" SCNu64,
			   local, remote, &uid, &inode) != 4 ||
		    inode == 0)
			continue;
		if ((strcmp(local, plain.from) == 0 && strcmp(remote, plain.to) == 0) ||
		    (strcmp(local, mapped.from) == 0 && strcmp(remote, mapped.to) == 0)) {
			*ret = uid;
			return 0;
		}
	}
	return ferror(table) ? -EIO : -ENOENT;
}

static int peer_owner_find_in(const char *path, const struct sockaddr_in *from,
			      const struct sockaddr_in *to, uid_t *ret)
{
	FILE *table = fopen(path, "re");
	int r;

	if (!table)
		return -errno;
	r = peer_owner_find(table, from, to, ret);
	fclose(table);
	return r;
}

/*
 * Returns true if this user namespace maps all users. Unmapped users are shown as 65534, which can
 * also be a real user.
 */
static bool peer_owner_knows_all_users(void)
{
	FILE *map = fopen("/proc/self/uid_map", "re");
	uint32_t n = 0;
	bool all;

	if (!map)
		return false;
	all = fscanf(map, "%*u %*u %" SCNu32, &n) == 1 && n == UINT32_MAX;
	fclose(map);
	return all;
}

int peer_owner(int fd, uid_t *ret)
{
	/* IPv4 connections can also use an IPv6 socket (Java, Go). */
	static const char *const tables[] = { "/proc/net/tcp", "/proc/net/tcp6" };
	struct sockaddr_in here, there;
	socklen_t n_here = sizeof(here), n_there = sizeof(there);
	int r, failed = -ENOENT;

	if (getsockname(fd, (struct sockaddr *)&here, &n_here) < 0 ||
	    getpeername(fd, (struct sockaddr *)&there, &n_there) < 0)
		return -errno;
	if (here.sin_family != AF_INET || there.sin_family != AF_INET)
		return -EAFNOSUPPORT;
	for (int i = 0; i < ATTEMPTS; i++) {
		for (size_t j = 0; j < ARRAY_SIZE(tables); j++) {
			r = peer_owner_find_in(tables[j], &there, &here, ret);
			if (r == 0 && *ret == UID_OVERFLOW && !peer_owner_knows_all_users())
				return -EOVERFLOW;
			if (r == 0)
				return 0;
			/* (a machine without IPv6 has no tcp6) */
			if (r != -ENOENT)
				failed = r;
		}
	}
	return failed;
}
