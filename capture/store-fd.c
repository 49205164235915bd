/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pipes and sockets are written after a poll() and in pieces of PIPE_BUF, which then cannot
 * block, so that the thread can be called off at any moment without touching the flags of an open
 * file that belongs to the caller.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include "base/file-kind.h"
#include "capture/store.h"
#include "capture/thread.h"

struct store_fd {
	struct store store;
	int fd;
	bool regular, looked_at;
	int cancel_fd; /* readable for ever once it was called off */
};

/* Waits until the descriptor takes bytes. Returns 0 or a negative errno; -ECANCELED if abandoned. */
static int wait_writable(struct store_fd *s)
{
	struct pollfd fds[] = {
		{ .fd = s->fd, .events = POLLOUT },
		{ .fd = s->cancel_fd, .events = POLLIN },
	};

	for (;;) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (fds[1].revents)
			return -ECANCELED;
		if (fds[0].revents)
			return 0; /* an error shows in write() */
	}
}

/* Writes SIZE bytes; *RET_WRITTEN says how many of them, also when it fails. */
static int write_all(struct store_fd *s, const uint8_t *data, size_t size, size_t *ret_written)
{
	*ret_written = 0;
	while (*ret_written < size) {
		size_t piece = size - *ret_written;
		ssize_t n;
		int r;

		if (!s->regular) {
			r = wait_writable(s);
			if (r < 0)
				return r;
			if (piece > PIPE_BUF)
				piece = PIPE_BUF;
		}
		n = write(s->fd, data + *ret_written, piece);
		if (n < 0) {
			/* A file that is full for a while is none: there would be nothing to wait for. */
			if (errno == EINTR || (errno == EAGAIN && !s->regular))
				continue;
			return -errno;
		}
		*ret_written += (size_t)n;
	}
	return 0;
}

static int fd_write(struct store *store, enum store_part part, const uint8_t *data, size_t size,
		    store_whole_fn whole_fn, size_t *ret_kept)
{
	struct store_fd *s = (struct store_fd *)store;
	int r = write_all(s, data, size, ret_kept);
	off_t end = s->regular ? lseek(s->fd, 0, SEEK_CUR) : -1;
	size_t whole;
	struct stat st;

	(void)part;
	if (r == 0)
		return 0;
	whole = whole_fn(data, *ret_kept);
	/* What follows the last whole one is ours to cut off only where the file ends with it. If
	 * it cannot be cut off it is a cut record or piece, which readers drop. */
	if (end >= 0 && fstat(s->fd, &st) == 0 && st.st_size == end &&
	    ftruncate(s->fd, end - (off_t)(*ret_kept - whole)) == 0) {
		lseek(s->fd, end - (off_t)(*ret_kept - whole), SEEK_SET);
		*ret_kept = whole;
	}
	return r;
}

static int check_fd(int fd, bool *ret_regular)
{
	int flags = fcntl(fd, F_GETFL), r;
	mode_t type;

	if (flags < 0)
		return -errno;
	if ((flags & O_ACCMODE) == O_RDONLY || flags & O_PATH)
		return -EBADF;
	r = file_type_of(fd, &type);
	if (r < 0)
		return r;
	*ret_regular = type == S_IFREG;
	if (type != S_IFREG && type != S_IFIFO && type != S_IFSOCK && type != S_IFCHR)
		return -EINVAL;
	return 0;
}

/* Here and not where the store is made, since the file system has to be asked. */
static int fd_begin(struct store *store, const struct store_moment *at)
{
	struct store_fd *s = (struct store_fd *)store;

	(void)at;
	if (s->regular && !s->looked_at && file_kernel_filesystem(s->fd))
		return STORE_OF_KERNEL;
	s->looked_at = true;
	return 0;
}

static int fd_end(struct store *store, const struct store_moment *at)
{
	(void)store;
	(void)at;
	return 0;
}

static void fd_cancel(struct store *store)
{
	thread_signal(((struct store_fd *)store)->cancel_fd);
}

static void fd_free(struct store *store)
{
	struct store_fd *s = (struct store_fd *)store;

	close_fd(s->fd);
	close_fd(s->cancel_fd);
	free(s);
}

static const struct store_ops fd_ops = {
	.begin = fd_begin,
	.write = fd_write,
	.end = fd_end,
	.cancel = fd_cancel,
	.free = fd_free,
};

int store_fd_new(int fd, struct store **ret)
{
	bool regular = false;
	struct store_fd *s;
	int r;

	r = check_fd(fd, &regular);
	if (r < 0)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = (struct store_fd){ .store = { &fd_ops },
				.fd = -1,
				.regular = regular,
				.cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	if (s->cancel_fd < 0) {
		r = -errno;
		fd_free(&s->store);
		return r;
	}
	s->fd = fd;
	*ret = &s->store;
	return 0;
}

const char *store_strerror(int error)
{
	return error == STORE_OF_KERNEL ? "it is a file of the kernel's (procfs, sysfs or the like)"
					: strerror(-error);
}
