/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/passed-fds.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/foreign-fds.h"

struct passed_fd {
	int stand_in, fd;
	uint64_t cookie; /* of the stand-in */
};

static struct {
	struct passed_fd *list;
	size_t n, room;
} passed;

static int passed_cookie(int fd, uint64_t *ret)
{
	socklen_t size = sizeof(*ret);

	return getsockopt(fd, SOL_SOCKET, SO_COOKIE, ret, &size) < 0 ? -errno : 0;
}

static bool passed_make_room(void)
{
	size_t room = passed.room ? 2 * passed.room : 16;
	struct passed_fd *list;

	if (passed.n < passed.room)
		return true;
	list = reallocarray(passed.list, room, sizeof(*list));
	if (!list)
		return false;
	passed.list = list;
	passed.room = room;
	return true;
}

int passed_fds_add(int fd)
{
	_cleanup_close_ int stand_in = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t cookie;
	int r = stand_in < 0 ? -errno : passed_cookie(stand_in, &cookie);

	if (r == 0 && !passed_make_room())
		r = -ENOMEM;
	if (r < 0)
		return r;
	passed.list[passed.n++] = (struct passed_fd){ stand_in, fd, cookie };
	return TAKE_FD(stand_in);
}

int passed_fds_get(int stand_in)
{
	for (size_t i = 0; i < passed.n; i++) {
		if (passed.list[i].stand_in != stand_in)
			continue;
		return passed.list[i].fd == PASSED_FD_REFUSED ? -EDQUOT : passed.list[i].fd;
	}
	return stand_in;
}

static bool passed_is_gone(const struct passed_fd *p)
{
	uint64_t cookie;

	return passed_cookie(p->stand_in, &cookie) < 0 || cookie != p->cookie;
}

void passed_fds_sweep(void)
{
	size_t n = 0;

	for (size_t i = 0; i < passed.n; i++) {
		if (passed_is_gone(&passed.list[i]))
			close_passed_fd(passed.list[i].fd);
		else
			passed.list[n++] = passed.list[i];
	}
	passed.n = n;
}
