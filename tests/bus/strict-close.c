/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In kymod-fake: aborts if any code, libsystemd included, closes a descriptor that a caller has
 * passed, instead of leaving it to closers (daemon/files/async-close.h). Closers themselves make
 * the system call.
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
