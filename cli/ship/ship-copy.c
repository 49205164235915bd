/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/ship/ship-copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/directory.h"

enum {
	SHIP_COPY_BYTES = 1 << 20,
	SHIP_COPY_DEPTH_MAX = 16, /* of directories that are removed */
};

/* Some file systems, such as those of object stores, cannot sync; this is no error. */
static int ship_copy_sync(int fd)
{
	return fsync(fd) == 0 || errno == EINVAL || errno == ENOSYS || errno == ENOTSUP ? 0
											: -errno;
}

static bool ship_copy_is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* ---- removal ---- */

static int ship_copy_remove_below(int dir_fd, const char *name, unsigned depth);

static int ship_copy_remove_directory(int dir_fd, const char *name, unsigned depth)
{
	_cleanup_close_ int fd =
		openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct dirent *entry;
	DIR *dir = fd < 0 ? NULL : directory_list(fd);

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		if (!ship_copy_is_dot(entry->d_name))
			ship_copy_remove_below(fd, entry->d_name, depth + 1);
	closedir(dir);
	return unlinkat(dir_fd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

static int ship_copy_remove_below(int dir_fd, const char *name, unsigned depth)
{
	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	return depth < SHIP_COPY_DEPTH_MAX ? ship_copy_remove_directory(dir_fd, name, depth)
					   : -ENOTEMPTY;
}

int ship_copy_remove(int dir_fd, const char *name)
{
	return ship_copy_remove_below(dir_fd, name, 0);
}

/* ---- files ---- */

static int ship_copy_write(int fd, const uint8_t *data, size_t n)
{
	while (n > 0) {
		ssize_t written = write(fd, data, n);

		if (written < 0 && errno != EINTR)
			return -errno;
		if (written > 0) {
			data += written;
			n -= (size_t)written;
		}
	}
	return 0;
}

static int ship_copy_bytes(const struct ship_copy *c, int from, int to)
{
	_cleanup_free_ uint8_t *buffer = malloc(SHIP_COPY_BYTES);
	off_t at = 0;
	ssize_t n;
	int r = buffer ? 0 : -ENOMEM;

	while (r == 0 && (n = pread(from, buffer, SHIP_COPY_BYTES, at)) != 0) {
		if (n < 0)
			return -errno;
		at += n;
		r = ship_copy_write(to, buffer, (size_t)n);
		if (r == 0 && c->goes_on && !c->goes_on(c->userdata))
			r = -ECANCELED;
	}
	return r ?: ship_copy_sync(to);
}

/*
 * Opens a file of a result. A converter has made the file, so it can be a link, which leads
 * elsewhere, or a FIFO, which blocks. Such files are refused.
 */
static int ship_copy_open(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	return errno == ELOOP || errno == ENXIO ? -EMEDIUMTYPE : -errno;
}

/* Writes a new file. A file system can report an error when the file is closed. */
static int ship_copy_file(const struct ship_copy *c, int from, int to_dir, const char *name)
{
	struct stat st;
	int fd, r;

	if (fstat(from, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EMEDIUMTYPE;
	fd = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	r = ship_copy_bytes(c, from, fd);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r;
}

static int ship_copy_files(const struct ship_copy *c, int from_dir, int to_dir)
{
	DIR *dir = directory_list(from_dir);
	const struct dirent *entry;
	int r = 0;

	if (!dir)
		return -errno;
	while (r == 0 && (errno = 0, entry = readdir(dir))) {
		_cleanup_close_ int from = -1;

		if (ship_copy_is_dot(entry->d_name))
			continue;
		from = ship_copy_open(from_dir, entry->d_name);
		r = from < 0 ? from : ship_copy_file(c, from, to_dir, entry->d_name);
	}
	/* (a result without all of its files must not get its name) */
	if (r == 0 && errno != 0)
		r = -errno;
	closedir(dir);
	return r ?: ship_copy_sync(to_dir);
}

static int ship_copy_directory(const struct ship_copy *c, int from_dir, const char *name)
{
	_cleanup_close_ int to_dir = -1;

	if (mkdirat(c->to_fd, name, 0777) < 0)
		return -errno;
	to_dir = openat(c->to_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return to_dir < 0 ? -errno : ship_copy_files(c, from_dir, to_dir);
}

/* ---- names ---- */

static int ship_copy_rename(int dir_fd, const char *from, const char *to)
{
	if (renameat2(dir_fd, from, dir_fd, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/*
	 * The file system does not support the flag. Checking first is enough, since no other
	 * process writes this name.
	 */
	if (faccessat(dir_fd, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(dir_fd, from, dir_fd, to) < 0 ? -errno : 0;
}

static int ship_copy_write_hidden(const struct ship_copy *c, const char *hidden)
{
	_cleanup_close_ int opened = -1;
	int from = c->from_fd;
	struct stat st;

	if (c->from) {
		from = opened = ship_copy_open(c->from_fd, c->from);
		if (from < 0)
			return from;
	}
	if (fstat(from, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? ship_copy_directory(c, from, hidden)
				   : ship_copy_file(c, from, c->to_fd, hidden);
}

int ship_copy_run(const struct ship_copy *c)
{
	char hidden[NAME_MAX + 1];
	int r;

	if (faccessat(c->to_fd, c->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	if (errno != ENOENT)
		return -errno;
	snprintf(hidden, sizeof(hidden), ".kymo-%s", c->name);
	r = ship_copy_remove(c->to_fd, hidden);
	r = r ?: ship_copy_write_hidden(c, hidden) ?: ship_copy_rename(c->to_fd, hidden, c->name);
	if (r < 0)
		ship_copy_remove(c->to_fd, hidden);
	else
		ship_copy_sync(c->to_fd); /* if this fails, the name exists all the same */
	return r;
}

int ship_copy_put(int dir_fd, const char *name, const struct outbuf *data, mode_t mode)
{
	char hidden[NAME_MAX + 1];
	int fd, r;

	snprintf(hidden, sizeof(hidden), ".%s.new", name);
	fd = openat(dir_fd, hidden, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	r = ship_copy_write(fd, data->data, data->size) ?: ship_copy_sync(fd);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && renameat(dir_fd, hidden, dir_fd, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dir_fd, hidden, 0);
	return r ?: ship_copy_sync(dir_fd);
}

int ship_copy_make_directory(int dir_fd, const char *path)
{
	_cleanup_close_ int at = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *copy = strdup(path);
	char *rest = copy, *name;

	if (!copy)
		return -ENOMEM;
	if (at < 0)
		return -errno;
	while ((name = strsep(&rest, "/"))) {
		int next;

		if (!*name)
			continue;
		if (mkdirat(at, name, 0777) == 0)
			ship_copy_sync(at);
		else if (errno != EEXIST)
			return -errno;
		next = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			return -errno;
		close(at);
		at = next;
	}
	return TAKE_FD(at);
}
