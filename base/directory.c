/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define DEFAULT_CACHE "/var/cache/kymo"

DIR *directory_list(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir)
		close_fd(fd);
	return dir;
}

static int directory_open_at(int dir_fd, const char *path)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/*
 * Opens the directory NAME below the first of DIRECTORIES, or below OTHERWISE if DIRECTORIES is
 * empty.
 */
static int directory_open_own(const char *directories, const char *otherwise, const char *name)
{
	_cleanup_free_ char *directory = NULL;
	_cleanup_close_ int parent_fd = -1, fd = -1;
	struct stat st;

	/* DIRECTORIES can contain several, separated by colons. */
	directory = directories && *directories ? strndup(directories, strcspn(directories, ":"))
						: strdup(otherwise);
	if (!directory)
		return -ENOMEM;
	if (mkdir(directory, 0755) < 0 && errno != EEXIST)
		return -errno;
	parent_fd = directory_open_at(AT_FDCWD, directory);
	if (parent_fd < 0)
		return parent_fd;
	if (mkdirat(parent_fd, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = directory_open_at(parent_fd, name);
	if (fd < 0)
		return fd;
	/* kymo trusts the files in this directory, so no other user may be able to write to it. */
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || st.st_mode & 022)
		return -EPERM;
	return TAKE_FD(fd);
}

int directory_open_runtime(const char *name)
{
	return directory_open_own(getenv("RUNTIME_DIRECTORY"), DIRECTORY_MACHINE, name);
}

int directory_open_below(const char *parent, const char *name)
{
	return directory_open_own(NULL, parent, name);
}

int directory_open_cache(const char *name)
{
	return directory_open_own(getenv("CACHE_DIRECTORY"), DEFAULT_CACHE, name);
}
