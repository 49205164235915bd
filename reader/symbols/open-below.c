/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/symbols/open-below.h"

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

enum { LINKS_MAX = 40, DEPTH_MAX = 128 };

/*
 * Returns false if reading a file of FD's file system can block or have side effects, as in /proc.
 */
static bool open_below_is_real_file_system(int fd)
{
	struct statfs st;

	if (fstatfs(fd, &st) < 0)
		return false;
	switch ((unsigned long)st.f_type) {
	case PROC_SUPER_MAGIC:
	case SYSFS_MAGIC:
	case DEBUGFS_MAGIC:
	case TRACEFS_MAGIC:
	case SECURITYFS_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case BPF_FS_MAGIC:
		return false;
	default:
		return true;
	}
}

int open_regular(int fd)
{
	char name[64];
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || !open_below_is_real_file_system(fd))
		return -EINVAL;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	r = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return r < 0 ? -errno : r;
}

/*
 * A path that is being resolved: the directories entered so far, and the rest of the path.
 */
struct walk {
	int root_fd;
	int directories[DEPTH_MAX];
	size_t ends[DEPTH_MAX]; /* for each directory, the length of `path` before it */
	size_t n;
	char path[PATH_MAX]; /* without links: of the last directory, or of the file */
	size_t n_path;
	char rest[PATH_MAX];
	unsigned int n_links;
};

static void open_below_leave(struct walk *w, size_t n)
{
	while (w->n > n) {
		close(w->directories[--w->n]);
		w->n_path = w->ends[w->n];
	}
}

/* Takes the next component from the rest of the path into NAME. Returns false if there is none. */
static bool open_below_next_name(struct walk *w, char *name)
{
	size_t skip = strspn(w->rest, "/");
	size_t n = strcspn(w->rest + skip, "/");

	if (n == 0)
		return false;
	/* Of a longer name, NAME_MAX + 1 bytes are copied: enough for the kernel to reject it. */
	memcpy(name, w->rest + skip, n <= NAME_MAX ? n : NAME_MAX + 1);
	name[n <= NAME_MAX ? n : NAME_MAX + 1] = '\0';
	memmove(w->rest, w->rest + skip + n, strlen(w->rest + skip + n) + 1);
	return true;
}

/* Appends NAME to the path without links. */
static int open_below_append(struct walk *w, const char *name)
{
	size_t n = strlen(name);

	if (w->n_path + n + 2 > sizeof(w->path))
		return -ENAMETOOLONG;
	w->path[w->n_path] = '/';
	memcpy(w->path + w->n_path + 1, name, n + 1);
	w->n_path += n + 1;
	return 0;
}

/* Inserts the target of the link FD before the rest of the path. If the target is absolute, goes
 * back to the root. */
static int open_below_follow(struct walk *w, int fd)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(fd, "", target, sizeof(target));
	size_t n_rest = strlen(w->rest);

	if (n < 0)
		return -errno;
	if (++w->n_links > LINKS_MAX)
		return -ELOOP;
	if ((size_t)n + n_rest >= sizeof(w->rest))
		return -ENAMETOOLONG;
	/* The rest is empty or begins with a slash, so it can follow the target. */
	memmove(w->rest + n, w->rest, n_rest + 1);
	memcpy(w->rest, target, (size_t)n);
	if (n > 0 && target[0] == '/')
		open_below_leave(w, 0);
	return 0;
}

/*
 * Enters NAME. Returns 0 for a directory or a link, an O_PATH descriptor for a file of any other
 * type, or a negative errno.
 */
static int open_below_enter(struct walk *w, const char *name)
{
	_cleanup_close_ int fd = -1;
	size_t before = w->n_path;
	struct stat st;

	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0) {
		open_below_leave(w, w->n > 0 ? w->n - 1 : 0);
		return 0;
	}
	fd = openat(w->n > 0 ? w->directories[w->n - 1] : w->root_fd, name,
		    O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode))
		return open_below_follow(w, fd);
	if (open_below_append(w, name) < 0 || (S_ISDIR(st.st_mode) && w->n == DEPTH_MAX))
		return -ENAMETOOLONG;
	if (!S_ISDIR(st.st_mode))
		return TAKE_FD(fd);
	w->ends[w->n] = before;
	w->directories[w->n++] = TAKE_FD(fd);
	return 0;
}

int open_below_find(int root_fd, const char *path, char ret[static PATH_MAX])
{
	struct walk w = { .root_fd = root_fd };
	char name[NAME_MAX + 2];
	int r = -EISDIR;

	if (strlen(path) >= sizeof(w.rest))
		return -ENAMETOOLONG;
	strcpy(w.rest, path);
	while (open_below_next_name(&w, name)) {
		r = open_below_enter(&w, name);
		if (r != 0)
			break;
		r = -EISDIR;
	}
	open_below_leave(&w, 0);
	if (r > 0) {
		_cleanup_close_ int fd = r;

		/* (something remains after a file, but only a directory can contain it) */
		r = w.rest[0] == '\0' ? open_regular(fd) : -ENOTDIR;
	}
	if (r >= 0)
		memcpy(ret, w.path, sizeof(w.path));
	return r;
}

int open_below(int root_fd, const char *path)
{
	char found[PATH_MAX];

	return open_below_find(root_fd, path, found);
}
