/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In kymod-fake: whoever closes a descriptor that a caller passed, rather than to leave it to
 * closers (daemon/files/async-close.h), is caught, libsystemd, too. Closers themselves ask the
 * kernel.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/foreign-fds.h"

int close(int fd)
{
	if (foreign_fds_owner(fd) != FOREIGN_FD_OWN) {
		fprintf(stderr, "descriptor %d, which a caller passed, is closed here\n", fd);
		abort();
	}
	return (int)syscall(SYS_close, fd);
}
