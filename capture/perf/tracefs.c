/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/perf/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

enum { TRACEFS_NAMES_MAX = 16384 };

/* Returns FD if it is a directory of tracefs. Otherwise closes FD and returns -ENOENT. */
static int tracefs_check(int fd)
{
	struct statfs fs;

	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &fs) == 0 && fs.f_type == TRACEFS_MAGIC)
		return fd;
	close(fd);
	return -ENOENT;
}

/* Mounts tracefs without a place in the file system: it disappears with the last descriptor. */
static int tracefs_mount(void)
{
	_cleanup_close_ int fs = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC), mount = -1;

	if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	mount = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
			     MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (mount < 0)
		return -errno;
	return tracefs_check(openat(mount, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

int tracefs_open(void)
{
	static const char *const places[] = { "/sys/kernel/tracing/events",
					      "/sys/kernel/debug/tracing/events" };
	int fd = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(places) && fd < 0 && fd != -EACCES; i++)
		fd = tracefs_check(open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (fd >= 0 || fd == -EACCES)
		return fd;
	fd = tracefs_mount();
	return fd == -EPERM || fd == -ENODEV || fd == -ENOSYS ? -ENOENT : fd;
}

void tracefs_names_deinit(struct tracefs_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->list[i]);
	free(names->list);
	*names = (struct tracefs_names){ 0 };
}

static int tracefs_names_add(struct tracefs_names *names, const char *name)
{
	char **longer;

	if (names->n == TRACEFS_NAMES_MAX)
		return -E2BIG;
	longer = realloc(names->list, (names->n + 1) * sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	names->list = longer;
	longer[names->n] = strdup(name);
	if (!longer[names->n])
		return -ENOMEM;
	names->n++;
	return 0;
}

DEFINE_ORDER_OF_POINTERS(tracefs_by_name, char, strcmp(x, y))

static void tracefs_close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

int tracefs_list(int dir, const char *name, struct tracefs_names *ret)
{
	_cleanup_(tracefs_names_deinit) struct tracefs_names names = { 0 };
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r = 0;
	_cleanup_(tracefs_close_dir) DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!d) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (r == 0 && (e = readdir(d))) {
		struct stat st;

		if (e->d_name[0] == '.' ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISDIR(st.st_mode))
			continue;
		r = tracefs_names_add(&names, e->d_name);
	}
	if (r < 0)
		return r;
	SORT(names.list, names.n, tracefs_by_name);
	*ret = names;
	names = (struct tracefs_names){ 0 };
	return 0;
}

bool tracefs_has(int dir, const char *name)
{
	_cleanup_(tracefs_names_deinit) struct tracefs_names names = { 0 };
	const char *rest = strchr(name, ':') + 1;
	_cleanup_free_ char *system = strndup(name, (size_t)(rest - 1 - name));
	bool has = false;

	if (!system || tracefs_list(dir, system, &names) < 0)
		return false;
	for (size_t i = 0; i < names.n && !has; i++)
		has = strcmp(names.list[i], rest) == 0;
	return has;
}

ssize_t tracefs_read_format(int dir, const char *system, const char *name, char *to, size_t room)
{
	char path[2 * NAME_MAX + sizeof("//format")];
	_cleanup_close_ int fd = -1;
	size_t size = 0;
	ssize_t n = 1;

	snprintf(path, sizeof(path), "%s/%s/format", system, name);
	fd = openat(dir, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (size < room && n > 0) {
		n = read(fd, to + size, room - size);
		if (n < 0)
			return -errno;
		size += (size_t)n;
	}
	return (ssize_t)size;
}
