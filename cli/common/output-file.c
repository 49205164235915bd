/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/output-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "cli/common/verb.h"

/* A device that discards its input and that every user can write to. */
static bool output_file_is_null_device(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

static int output_file_open_stdout(struct output_file *o)
{
	struct stat st;

	if (isatty(STDOUT_FILENO)) {
		cli_error("cannot write an archive to a terminal: use -o FILE, or '-o -' with a "
			  "pipe");
		return -EINVAL;
	}
	/* (main() replaces a closed standard output by the null device, opened for reading) */
	if (fstat(STDOUT_FILENO, &st) < 0 ||
	    !(S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) ||
	      (output_file_is_null_device(&st) &&
	       (fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) != O_RDONLY))) {
		cli_error("standard output is not a file, a pipe or a socket");
		return -EINVAL;
	}
	o->standard = true;
	o->path = strdup("standard output");
	o->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return o->path && o->fd >= 0 ? 0 : -ENOMEM;
}

static char *output_file_default_path(const char *suffix)
{
	time_t now = time(NULL);
	char name[64], *path;
	struct tm tm;

	strftime(name, sizeof(name), "kymo-%Y%m%d-%H%M%S.fxt", localtime_r(&now, &tm));
	return asprintf(&path, "%s%s", name, suffix) < 0 ? NULL : path;
}

/* Opens an existing file without waiting for a reader. Returns a descriptor, or -1 with errno. */
static int output_file_open_existing(const char *path)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int flags;

	if (fd < 0)
		return -1;
	flags = fcntl(fd, F_GETFL);
	return flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0 ? -1 : TAKE_FD(fd);
}

/* Explains why PATH cannot be opened, from the errno E. Returns -E. */
static int output_file_explain_error(const char *path, int e)
{
	struct stat st;
	bool there = stat(path, &st) == 0, missing = !there && errno == ENOENT;

	if (e == EEXIST && there && S_ISDIR(st.st_mode))
		e = EISDIR;
	if (!*path)
		cli_error("empty file name; '-' is standard output");
	else if (e == ENXIO && there && S_ISFIFO(st.st_mode))
		cli_error("cannot write %s: it is a pipe without a reader", path);
	else if (e == EISDIR)
		cli_error("%s is a directory", path);
	else if (missing && lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		cli_error("cannot write %s: it is a symbolic link to a missing file", path);
	else if (e == EEXIST)
		cli_error("%s exists already; --force replaces it", path);
	else
		cli_error("cannot write %s: %s", path, strerror(e));
	return -e;
}

static int output_file_open_path(struct output_file *o, bool force)
{
	struct stat st;
	int e;

	o->fd = open(o->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);
	o->created = o->fd >= 0;
	e = errno;
	if (o->fd < 0 && e == EEXIST &&
	    (force || (stat(o->path, &st) == 0 && output_file_is_null_device(&st)))) {
		o->fd = output_file_open_existing(o->path);
		e = errno;
	}
	if (o->fd < 0)
		return output_file_explain_error(o->path, e);
	if (o->created && fstat(o->fd, &st) == 0) {
		o->device = st.st_dev;
		o->inode = st.st_ino;
	}
	return 0;
}

int output_file_open(const char *path, const char *suffix, bool force, struct output_file *ret)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;
	int r;

	if (path && strcmp(path, "-") == 0) {
		r = output_file_open_stdout(&o);
	} else {
		o.path = path ? strdup(path) : output_file_default_path(suffix);
		r = o.path ? output_file_open_path(&o, force) : -ENOMEM;
	}
	if (r < 0)
		return r;
	*ret = o;
	o = OUTPUT_FILE_NULL;
	return 0;
}

int output_file_begin(struct output_file *o)
{
	struct stat st;

	/* The shell has set the position of standard output, which can be open for appending. */
	if (o->created || o->standard)
		return 0;
	if (fstat(o->fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(o->fd, 0) < 0) {
		cli_error("cannot empty %s: %m", o->path);
		return -EIO;
	}
	return 0;
}

void output_file_discard(struct output_file *o)
{
	struct stat st;

	/* Removes the file only if another file has not replaced it. */
	if (o->created && lstat(o->path, &st) == 0 && st.st_dev == o->device &&
	    st.st_ino == o->inode)
		unlink(o->path);
	o->created = false;
}

void output_file_discard_empty(struct output_file *o)
{
	struct stat st;

	if (fstat(o->fd, &st) == 0 && st.st_size == 0)
		output_file_discard(o);
}

void output_file_deinit(struct output_file *o)
{
	o->fd = close_fd(o->fd);
	o->path = free_ptr(o->path);
}
