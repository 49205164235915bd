/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pipes and sockets are written without waiting, after a poll(), so that the thread can be
 * cancelled at any moment. The caller shares the open file, so the flags of the file are not
 * changed. Instead, each write has a flag: MSG_DONTWAIT for sockets, RWF_NOWAIT for pipes if the
 * kernel supports it. If the kernel does not support RWF_NOWAIT, at most PIPE_BUF bytes are written
 * to a pipe at a time. That many bytes fit when poll() reports room, unless another process writes
 * to the same pipe.
 *
 * This does not protect against a malicious client, which can make the thread wait for a lock in
 * the kernel. Such a thread is abandoned (capture/sandbox/user-counts.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/file-kind.h"
#include "base/foreign-fds.h"
#include "capture/store/store.h"
#include "capture/sandbox/thread.h"

struct store_fd {
	struct store store;
	int fd;
	bool regular, inspected;
	bool is_socket;
	bool may_wait; /* RWF_NOWAIT is not supported for this file */
	int cancel_fd; /* readable after cancel() */
};

/*
 * poll() can report room that is too small for a write. The write is then repeated after this time.
 */
enum { NO_ROOM_MS = 20 };

/*
 * Waits until the descriptor is writable. HAD_NO_ROOM: the last write found no room although poll()
 * had reported room, so this waits a while first. Returns 0, -ECANCELED if cancelled, or another
 * negative errno.
 */
static int fd_wait_writable(struct store_fd *s, bool had_no_room)
{
	struct pollfd fds[] = {
		{ .fd = s->fd, .events = POLLOUT },
		{ .fd = s->cancel_fd, .events = POLLIN },
	};

	if (had_no_room && poll(&fds[1], 1, NO_ROOM_MS) < 0 && errno != EINTR)
		return -errno;

	for (;;) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (fds[1].revents)
			return -ECANCELED;
		if (fds[0].revents)
			return 0; /* errors are reported by write() */
	}
}

/* Like write(), but does not wait if possible. Fails with EAGAIN if there is no room at all. */
static ssize_t fd_write_now(struct store_fd *s, const uint8_t *data, size_t size)
{
	struct iovec piece = { (void *)(uintptr_t)data, size };
	ssize_t n;

	if (s->regular)
		return write(s->fd, data, size);
	if (s->is_socket)
		return send(s->fd, data, size < PIPE_BUF ? size : PIPE_BUF,
			    MSG_DONTWAIT | MSG_NOSIGNAL);
	if (!s->may_wait) {
		n = pwritev2(s->fd, &piece, 1, -1, RWF_NOWAIT);
		if (n >= 0 || errno != EOPNOTSUPP)
			return n;
		s->may_wait = true;
	}
	return write(s->fd, data, size < PIPE_BUF ? size : PIPE_BUF);
}

/* Writes SIZE bytes. *RET_WRITTEN is the number of bytes written, also on failure. */
static int store_fd_write_all(struct store_fd *s, const uint8_t *data, size_t size,
			      size_t *ret_written)
{
	bool had_no_room = false;

	*ret_written = 0;
	while (*ret_written < size) {
		ssize_t n;
		int r = s->regular ? 0 : fd_wait_writable(s, had_no_room);

		if (r < 0)
			return r;
		n = fd_write_now(s, data + *ret_written, size - *ret_written);
		had_no_room = n < 0 && errno == EAGAIN;
		/* For a regular file, EAGAIN is an error: no event would end the wait. */
		if (n < 0 && errno != EINTR && (s->regular || errno != EAGAIN))
			return -errno;
		*ret_written += n < 0 ? 0 : (size_t)n;
	}
	return 0;
}

static int fd_write(struct store *store, enum store_part part, const uint8_t *data, size_t size,
		    store_whole_fn whole_fn, size_t *ret_kept)
{
	struct store_fd *s = (struct store_fd *)store;
	int r = store_fd_write_all(s, data, size, ret_kept);
	off_t end = s->regular ? lseek(s->fd, 0, SEEK_CUR) : -1;
	size_t whole;
	struct stat st;

	if (r == 0)
		return 0;
	whole = whole_fn(data, *ret_kept);
	/* The bytes after the last whole record or block are truncated, but only if these bytes are
	 * the end of the file. Otherwise the incomplete record or block stays, and readers drop
	 * it. */
	if (end >= 0 && fstat(s->fd, &st) == 0 && st.st_size == end &&
	    ftruncate(s->fd, end - (off_t)(*ret_kept - whole)) == 0) {
		lseek(s->fd, end - (off_t)(*ret_kept - whole), SEEK_SET);
		*ret_kept = whole;
	}
	return r;
}

static int fd_check_fd(int fd, mode_t *ret_type)
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
	*ret_type = type;
	if (type != S_IFREG && type != S_IFIFO && type != S_IFSOCK && type != S_IFCHR)
		return -EINVAL;
	return 0;
}

/*
 * Begins a chunk. Whether FD is a file that controls the kernel is checked here and not in
 * store_fd_new(), because this asks the file system.
 */
static int fd_begin(struct store *store, const struct store_moment *at)
{
	struct store_fd *s = (struct store_fd *)store;

	if (s->regular && !s->inspected && file_kernel_filesystem(s->fd))
		return STORE_OF_KERNEL;
	s->inspected = true;
	return 0;
}

static int fd_end(struct store *store, const struct store_moment *at)
{
	return 0;
}

static void fd_cancel(struct store *store)
{
	thread_signal(((struct store_fd *)store)->cancel_fd);
}

static void fd_free(struct store *store)
{
	struct store_fd *s = (struct store_fd *)store;

	close_passed_fd(s->fd);
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
	struct store_fd *s;
	mode_t type = 0;
	int r = fd_check_fd(fd, &type);

	if (r < 0)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = (struct store_fd){ .store = { &fd_ops },
				.fd = -1,
				.regular = type == S_IFREG,
				.is_socket = type == S_IFSOCK,
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
	return error == STORE_OF_KERNEL ? "it is a file of the kernel (procfs, sysfs or the "
					  "like)"
					: strerror(-error);
}
