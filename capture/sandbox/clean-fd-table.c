/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/sandbox/clean-fd-table.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/foreign-fds.h"

/*
 * A reserved low number. Each call passes its descriptor to FN with this number. -1 = it is not
 * reserved, because clean_fd_table_begin() was not called.
 */
static int spare_fd = -1;
static int null_fd = -1;
static pthread_mutex_t passing_on = PTHREAD_MUTEX_INITIALIZER;

int clean_fd_table_begin(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		if (fd < CLEAN_FD_TABLE) {
			null_fd = spare_fd;
			spare_fd = fd;
		}
	} while (fd < CLEAN_FD_TABLE);
	if (null_fd < 0)
		null_fd = fd;
	else
		close(fd);
	return 0;
}

int clean_fd_table_null(void)
{
	return null_fd;
}

struct few {
	int (*fn)(void *userdata);
	void *userdata;
	int result;
};

static void *clean_fd_table_child(void *userdata)
{
	struct few *f = userdata;

	/* Descriptors above the limit are not copied, so none has to be closed. */
	if (close_range(CLEAN_FD_TABLE, ~0U, CLOSE_RANGE_UNSHARE) < 0) {
		f->result = -errno;
		return NULL;
	}
	foreign_fds_leave_table();
	f->result = f->fn(f->userdata);
	return NULL;
}

int clean_fd_table_run(int (*fn)(void *userdata), void *userdata)
{
	struct few f = { .fn = fn, .userdata = userdata };
	sigset_t all, before;
	pthread_t thread;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread, NULL, clean_fd_table_child, &f);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r != 0)
		return -r;
	pthread_join(thread, NULL);
	return f.result;
}

struct few_with {
	int fd;
	int (*fn)(int fd, void *userdata);
	void *userdata;
};

static int clean_fd_table_run_with_(void *userdata)
{
	const struct few_with *w = userdata;

	return w->fn(w->fd, w->userdata);
}

int clean_fd_table_run_with(int fd, int (*fn)(int fd, void *userdata), void *userdata)
{
	struct few_with w = { .fn = fn, .userdata = userdata };
	int r;

	/* Without clean_fd_table_begin(), the process receives no descriptors of clients. */
	if (spare_fd < 0)
		return fn(fd, userdata);
	pthread_mutex_lock(&passing_on);
	w.fd = dup3(fd, spare_fd, O_CLOEXEC);
	r = w.fd < 0 ? -errno : clean_fd_table_run(clean_fd_table_run_with_, &w);
	/*
	 * /dev/null takes the number again and reserves it. This needs no other free number. If a
	 * free number were needed, and there were none, the copy of FD would stay open here, and
	 * the other side of FD would not notice its end.
	 */
	dup3(null_fd, spare_fd, O_CLOEXEC);
	pthread_mutex_unlock(&passing_on);
	return r;
}
