/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/few-descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

int few_descriptors_begin(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return -errno;
	} while (fd < FEW_DESCRIPTORS);
	close(fd);
	return 0;
}

struct few {
	int (*fn)(void *userdata);
	void *userdata;
	int result;
};

static void *run(void *userdata)
{
	struct few *f = userdata;

	/* Those above are not copied, so nothing has to be closed. */
	f->result = close_range(FEW_DESCRIPTORS, ~0U, CLOSE_RANGE_UNSHARE) < 0 ? -errno
									       : f->fn(f->userdata);
	return NULL;
}

int few_descriptors_run(int (*fn)(void *userdata), void *userdata)
{
	struct few f = { .fn = fn, .userdata = userdata };
	sigset_t all, before;
	pthread_t thread;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread, NULL, run, &f);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r != 0)
		return -r;
	pthread_join(thread, NULL);
	return f.result;
}
