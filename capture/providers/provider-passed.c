/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/providers/provider-passed.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "capture/sandbox/thread.h"

enum { PROVIDER_PASSED_CLOSES_MAX = 192 };

static unsigned n_closes; /* threads that close; of all recordings of the process */

bool provider_passed_is_next(int fd)
{
	char byte;
	struct iovec part = { &byte, sizeof(byte) };
	/* (without room for descriptors, the kernel reports that there are some) */
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	return recvmsg(fd, &m, MSG_PEEK | MSG_DONTWAIT) >= 0 && m.msg_flags & MSG_CTRUNC;
}

static void *provider_passed_thread(void *userdata)
{
	close((int)(intptr_t)userdata);
	__atomic_sub_fetch(&n_closes, 1, __ATOMIC_RELAXED);
	return NULL;
}

int provider_passed_close(int fd)
{
	if (fd < 0)
		return -1;
	shutdown(fd, SHUT_RDWR);
	if (__atomic_add_fetch(&n_closes, 1, __ATOMIC_RELAXED) > PROVIDER_PASSED_CLOSES_MAX * 2 ||
	    thread_start(provider_passed_thread, (void *)(intptr_t)fd) < 0)
		__atomic_sub_fetch(&n_closes, 1, __ATOMIC_RELAXED);
	return -1;
}

bool provider_passed_is_full(void)
{
	return __atomic_load_n(&n_closes, __ATOMIC_RELAXED) >= PROVIDER_PASSED_CLOSES_MAX;
}
