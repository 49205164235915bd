/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/output-path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/cleanup.h"

#define OUTPUT_PATH_LINKS_MAX 40 /* the kernel's limit */

int output_path_open_directory(const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *directory = NULL;
	int fd;

	*ret_name = slash ? slash + 1 : path;
	directory = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
	if (!directory)
		return -ENOMEM;
	fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Returns true if the owner of LINK, in directory FD, can be trusted: the rule of
 * fs.protected_symlinks.
 */
static bool output_path_is_trusted(int fd, const struct stat *link)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	return (st.st_mode & (S_ISVTX | S_IWOTH)) != (S_ISVTX | S_IWOTH) ||
	       link->st_uid == geteuid() || link->st_uid == st.st_uid;
}

/*
 * Follows one link. Returns STEP_ON and the next path; STEP_FILE for a file; STEP_PROC for a link
 * whose text is not a path; or a negative errno: -EPERM = the link belongs to another user.
 */
enum { STEP_FILE, STEP_PROC, STEP_ON };

static int output_path_step(const char *path, char **ret_next)
{
	const char *name;
	_cleanup_close_ int directory = output_path_open_directory(path, &name), link = -1;
	char text[PATH_MAX];
	struct statfs fs;
	struct stat st;
	ssize_t n;

	if (directory < 0)
		return directory;
	/*
	 * (owner and text must be read from the same link, since another user can replace the link)
	 */
	link = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (link < 0 || fstat(link, &st) < 0)
		return -errno;
	if (!S_ISLNK(st.st_mode))
		return STEP_FILE;
	if (!output_path_is_trusted(directory, &st))
		return -EPERM;
	if (fstatfs(link, &fs) < 0)
		return -errno;
	if (fs.f_type == PROC_SUPER_MAGIC)
		return STEP_PROC;
	n = readlinkat(link, "", text, sizeof(text));
	if (n < 0 || n == sizeof(text))
		return n < 0 ? -errno : -ENAMETOOLONG;
	if (asprintf(ret_next, "%.*s%.*s", *text == '/' ? 0 : (int)(name - path), path, (int)n,
		     text) < 0)
		return -ENOMEM;
	return STEP_ON;
}

int output_path_follow(const char *path, char **ret_place)
{
	_cleanup_free_ char *place = strdup(path);
	int r = place ? STEP_ON : -ENOMEM;

	for (unsigned i = 0; r == STEP_ON; i++) {
		char *next = NULL;

		r = i < OUTPUT_PATH_LINKS_MAX ? output_path_step(place, &next) : -ELOOP;
		if (r == STEP_ON) {
			free(place);
			place = next;
		}
	}
	if (r >= 0 || r == -EPERM)
		*ret_place = TAKE_PTR(place);
	return r == STEP_PROC ? 1 : r;
}
